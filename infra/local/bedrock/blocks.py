"""Reads the data blocks of a call, and refuses those that break the model contract.

Called by `converse` and `rules`; calls nothing. The other side of `hindsight_aws.prompts.data_block`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from hindsight_aws.ports.model_gateway import JsonValue

_OPENING, _CLOSING = '<data kind="', "</data>"
_KIND_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz_")
_MUST_BE_ESCAPED = frozenset("<>&")

Documents = dict[str, list[JsonValue]]
"""By kind, in the order in which they stand."""


class BrokenBlock(ValueError):
    """A data block does not hold to the contract; the message says how."""


def read_blocks(texts: Iterable[str]) -> Documents:
    """The documents of all blocks in these texts. Text outside blocks is not read. Raises: BrokenBlock."""
    found: Documents = {}
    for text in texts:
        lines = text.split("\n")
        at = 0
        while at < len(lines):
            if not lines[at].startswith("<data"):
                at += 1
                continue
            kind = _kind_of(lines[at])
            try:
                end = lines.index(_CLOSING, at + 1)
            except ValueError:
                raise BrokenBlock(f"the data block {kind!r} is not closed on a line of its own") from None
            found.setdefault(kind, []).append(_document(kind, "\n".join(lines[at + 1 : end])))
            at = end + 1
    return found


def _kind_of(line: str) -> str:
    kind = line.removeprefix(_OPENING).removesuffix('">')
    if line != f'{_OPENING}{kind}">' or not kind or not _KIND_CHARS.issuperset(kind):
        raise BrokenBlock(f"a data block opens with {line[:60]!r}")
    return kind


def _document(kind: str, body: str) -> JsonValue:
    if _MUST_BE_ESCAPED.intersection(body):
        raise BrokenBlock(f"the data block {kind!r} holds <, > or & that is not escaped")
    try:
        document: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        raise BrokenBlock(f"the data block {kind!r} is not one JSON document") from None
    return document
