"""A conversation's messages as turns, in their order, as many at once as a document takes.  Pure; called by zep.py."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from hindsight_aws.importing.records import Json, moment

_MOST_MESSAGES: Final = 200
_MOST_BYTES: Final = 1_000_000
"""As JSON: far less than a document takes, since what is told beside a text is escaped once more."""
_UNDATED: Final = datetime.min.replace(tzinfo=UTC)
_SAID: Final = ("content", "role", "role_type", "name", "created_at", "uuid", "metadata", "token_count", "processed")


def parts(messages: Sequence[Json]) -> Iterator[Sequence[Json]]:
    """The messages by their time, whatever zone each tells it in, those without one first; cut into documents."""
    some: list[Json] = []
    size = 0
    for message in sorted(messages, key=_when):
        length = len(json.dumps(message, ensure_ascii=False).encode())
        if some and (len(some) >= _MOST_MESSAGES or size + length > _MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(message)
        size += length
    if some:
        yield some


def turn(message: Json, tagged: Collection[str]) -> dict[str, object]:
    """A message as a turn; what is `tagged` stands in the tags of its document."""
    told = {
        "role": message.get("role_type") or message.get("role") or "user",
        "name": message.get("name") or message.get("role"),
        "content": message.get("content"),
        "timestamp": moment(message.get("created_at")),
    }
    rest = {name: given for name, given in message.items() if name not in _SAID and name not in tagged}
    return {name: given for name, given in (told | rest).items() if given not in (None, "", [], {})}


def _when(message: Json) -> datetime:
    said = moment(message.get("created_at"))
    return _UNDATED if said is None else datetime.fromisoformat(said)
