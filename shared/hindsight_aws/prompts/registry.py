"""Hands out the prompts of this package: one file each, its id and version in the front matter.

Called by the use cases; reads package resources only, once per process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system text with the identity that is stored on every row derived from it."""

    id: str
    version: int
    text: str

    @property
    def ref(self) -> str:
        """`id@version`, as stored and as sent in the request metadata."""
        return f"{self.id}@{self.version}"


@cache
def prompt(prompt_id: str) -> Prompt:
    """The prompt of that id. Raises: KeyError when there is none, ValueError when its front matter is not sound."""
    resource = files("hindsight_aws.prompts").joinpath(prompt_id + _SUFFIX)
    if not prompt_id.isidentifier() or not resource.is_file():
        raise KeyError(prompt_id)
    return _parse(prompt_id, resource.read_text(encoding="utf-8"))


def _parse(prompt_id: str, source: str) -> Prompt:
    opening, _, rest = source.partition("---\n")
    front, closing, body = rest.partition("\n---\n")
    fields = dict(_field(line) for line in front.splitlines())
    if opening or not closing or fields.keys() != {"id", "version"} or fields["id"] != prompt_id:
        raise ValueError(f"prompt {prompt_id!r} must open with front matter holding its id and version, and no more")
    return Prompt(prompt_id, int(fields["version"]), body.strip())


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
