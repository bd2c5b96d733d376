"""What every reader of an export makes: records, each one document of the bank, and what was not understood.  Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, cast

from hindsight_aws.errors import InvalidField, InvalidRequest
from hindsight_aws.importing.fitting import fitted
from hindsight_aws.retain.intake.timestamps import check_timestamp
from hindsight_aws.text.sanitise import clean

Json = Mapping[str, object]

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MOST_METADATA_BYTES: Final = 15_000
"""Less than a retain takes of one item; what is more goes into the text."""
_MOST_METADATA_KEYS: Final = 90
_LONGEST_ID: Final = 400
_SECONDS_UNTIL_5138: Final = 100_000_000_000
"""A number past this counts milliseconds."""


class NotUnderstood(InvalidRequest):
    """The file is no export of the kind; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class Record:
    """One document: its id follows from the export, so that importing again replaces it by itself."""

    document_id: str
    content: str
    timestamp: str | None = None
    context: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def as_item(self) -> dict[str, object]:
        """The record as an item of a retain."""
        item: dict[str, object] = {"content": self.content, "document_id": self.document_id}
        if self.timestamp is not None:
            item["timestamp"] = self.timestamp
        if self.context is not None:
            item["context"] = self.context
        if self.tags:
            item["tags"] = list(self.tags)
        if self.metadata:
            item["metadata"] = dict(self.metadata)
        return item


@dataclass(slots=True)
class Reading:
    """What was read: records by kind, fields that nothing is known of (kept as metadata), and what was left out."""

    records: list[Record] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    skipped: list[str] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    def add(self, kind: str, record: Record) -> None:
        """Adds a record of a kind, as a retain takes it; one that is there already under its id is counted alone.

        One that no retain would take is left out, and told.
        """
        if record.document_id in self._ids:
            self.counts[f"{kind} (there twice)"] += 1
            return
        fit = fitted(record.content, record.tags, record.metadata)
        if fit.problem is not None:
            self.skipped.append(f"{record.document_id} {fit.problem}: left out")
            return
        self.records.append(replace(record, content=fit.content, tags=fit.tags, metadata=fit.metadata or {}))
        self._ids.add(record.document_id)
        self.counts[kind] += 1


def documents_in(text: str) -> list[object]:
    """The JSON documents of a text: one, or one a line, with halves of characters replaced.  Raises NotUnderstood."""
    try:
        return [_whole(json.loads(text))]
    except (ValueError, RecursionError) as wrong:
        # Not `splitlines`: a text in JSON may hold the other characters that end a line.
        lines = [line for line in text.split("\n") if line.strip()]
        try:
            return [_whole(json.loads(line)) for line in lines]
        except (ValueError, RecursionError):
            raise NotUnderstood(f"the file is neither JSON nor JSON lines: {wrong}") from None


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(each) for name, each in value.items()}
    return value


def objects(value: object) -> list[Json]:
    """Those of a list that are objects; of an object that wraps one nothing."""
    return [cast(Json, each) for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str | None:
    """A text with something in it, or None."""
    return value.strip() if isinstance(value, str) and value.strip() else None


def moment(*values: object) -> str | None:
    """The first of these that is a time, as ISO 8601: a text in that form, or seconds or milliseconds since 1970.

    One that a retain would refuse is none: exports write the year 1 where nothing is known.
    """
    for value in values:
        if isinstance(value, str) and value.strip():
            try:
                return check_timestamp(datetime.fromisoformat(value.strip()), "timestamp").isoformat()
            except (ValueError, InvalidField):
                continue
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            try:
                seconds = value / 1_000 if value > _SECONDS_UNTIL_5138 else value
                return check_timestamp(datetime.fromtimestamp(seconds, UTC), "timestamp").isoformat()
            except (ValueError, OverflowError, OSError, InvalidField):
                continue
    return None


def document_id(source: str, kind: str, given: object, content: str) -> str:
    """An id that is the same each time: the export's own, or a digest of the content where it gives none."""
    own = clean(str(given)).strip() if is_word(given) else ""
    if not own or len(own.encode()) > _LONGEST_ID:
        own = hashlib.sha256(f"{own}\x00{content}".encode()).hexdigest()[:32]
    return f"{source}:{kind}:{own}"


def tags_of(named: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Tags `name:value`, each once; a value that is a list gives one for each."""
    found: dict[str, None] = {}
    for name, value in named:
        for each in value if isinstance(value, list) else [value]:
            if is_word(each) and (word := clean(str(each)).strip()):
                found[f"{name}:{word}"] = None
    return tuple(found)


def is_word(value: object) -> bool:
    """Whether a value can be the end of a tag: a text or a whole number."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def untagged(value: object) -> bool:
    """Whether a value that ought to be a tag holds something that cannot be one, and has to be kept elsewhere."""
    return value is not None and not all(is_word(each) for each in (value if isinstance(value, list) else [value]))


def kept(source: str, fields: Mapping[str, object], taken: Collection[str] = ()) -> tuple[dict[str, str], str]:
    """Fields as metadata, and what there is no room for as a text to be added to the content: nothing is lost.

    Nor is a field whose name comes to be one that another has, or that is `taken` by other metadata of the record.
    """
    metadata: dict[str, str] = {}
    rest: list[str] = []
    size = 0
    for name, value in fields.items():
        if value in (None, "", [], {}):
            continue
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        key = clean(f"{source}_{name}" if not name.startswith(source) else name)
        size += len(key.encode()) + len(said.encode()) + 8
        is_taken = key in metadata or key in taken
        if is_taken or size > _MOST_METADATA_BYTES or len(metadata) >= _MOST_METADATA_KEYS:
            rest.append(f"{name}: {said}")
            size -= len(key.encode()) + len(said.encode()) + 8
        else:
            metadata[key] = said
    return metadata, "".join(f"\n\n{line}" for line in rest)


def own_metadata(value: object) -> dict[str, object]:
    """What an export's record says of itself: an object; what is none has the name that it came under."""
    if isinstance(value, dict):
        return dict(cast(Json, value))
    return {"metadata": value} if value not in (None, "", []) else {}
