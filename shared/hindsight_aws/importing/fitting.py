"""Makes a record such as a retain takes, so that one odd record does not stop an import.  Pure; called by records.py.

What there is no room for goes into the text: it is kept, and read like the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.retain.intake.limits import LONGEST_CONTENT_BYTES, LONGEST_METADATA_BYTES, MOST_METADATA_KEYS
from hindsight_aws.text.sanitise import clean, is_blank
from hindsight_aws.text.tags import LONGEST_TAG_BYTES, MOST_TAGS


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is sent of a record; `problem` says why nothing is."""

    content: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] | None = None
    problem: str | None = None


def fitted(content: str, tags: Sequence[str], metadata: Mapping[str, str]) -> Fitted:
    """The parts of a record within the limits of a retain.

    A tag that is too long cannot be left out alone: what it kept apart would be everybody's.
    """
    if is_blank(clean(content)):
        return Fitted(problem="has no text that can be seen")
    if any(len(tag.encode()) > LONGEST_TAG_BYTES for tag in tags):
        return Fitted(problem=f"has a tag of more than {LONGEST_TAG_BYTES} bytes")
    held, rest = _room_for(metadata)
    rest = [*(f"tag: {tag}" for tag in tags[MOST_TAGS:]), *rest]
    whole = content + "".join(f"\n\n{line}" for line in rest)
    if len(whole.encode()) > LONGEST_CONTENT_BYTES:
        return Fitted(problem=f"is longer than the {LONGEST_CONTENT_BYTES:,} bytes of one text")
    return Fitted(whole, tuple(tags[:MOST_TAGS]), held)


def _room_for(metadata: Mapping[str, str]) -> tuple[dict[str, str], Iterable[str]]:
    """What there is room for, and the others as lines of text."""
    held: dict[str, str] = {}
    rest: list[str] = []
    size = 0
    for name, value in metadata.items():
        length = len(name.encode()) + len(value.encode())
        if size + length > LONGEST_METADATA_BYTES or len(held) >= MOST_METADATA_KEYS:
            rest.append(f"{name}: {value}")
        else:
            held[name] = value
            size += length
    return held, rest
