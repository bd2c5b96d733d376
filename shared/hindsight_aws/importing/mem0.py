"""Mem0: what its `get_all`, `search` and paged lists answer, as JSON or JSON lines, read into records.  Pure.

After the public API pages at docs.mem0.ai: `results` (or `memories`, or a bare list) of memories, `relations` beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindsight_aws.importing.records import (
    Json,
    NotUnderstood,
    Reading,
    Record,
    document_id,
    kept,
    moment,
    objects,
    own_metadata,
    tags_of,
    text_of,
    untagged,
)

_LISTS: Final = ("results", "memories", "data")
_TEXTS: Final = ("memory", "text", "data", "content")
_TAGGED: Final = {
    "user_id": "user",
    "agent_id": "agent",
    "run_id": "run",
    "session_id": "session",
    "app_id": "app",
    "actor_id": "actor",
    "categories": "category",
    "category": "category",
}
_USED: Final = frozenset({*_TAGGED, *_TEXTS, "id", "metadata", "created_at"})
_KNOWN: Final = frozenset(
    {
        "agent_name",
        "event",
        "expiration_date",
        "hash",
        "immutable",
        "input",
        "messages",
        "name",
        "organization",
        "org_id",
        "owner",
        "project_id",
        "role",
        "score",
        "structured_attributes",
        "type",
        "updated_at",
        "user",
        "version",
    }
)
"""What is understood and kept as metadata, under `mem0_…`."""


def read_mem0(documents: list[object]) -> Reading:
    """The records of an export.  Raises NotUnderstood where nothing in it looks like a memory."""
    reading = Reading()
    for document in documents:
        _read(document, "", reading)
    if not reading.records and not reading.skipped:
        raise NotUnderstood("no memory was found: a list of objects with `memory`, or an object with `results`")
    return reading


def _read(document: object, at: str, reading: Reading) -> None:
    if isinstance(document, list):
        for place, each in enumerate(document):
            _memory(each, f"{at}[{place}]", reading)
        return
    if not isinstance(document, dict):
        reading.skipped.append(f"{at or 'the file'} is neither an object nor a list: left out")
        return
    found = [name for name in _LISTS if isinstance(document.get(name), list)]
    if not found and any(text_of(document.get(name)) for name in _TEXTS):
        _memory(document, at or "the file", reading)
        return
    for name in found:
        _read(document[name], f"{at}{name}", reading)
    for place, relation in enumerate(objects(document.get("relations"))):
        _relation(relation, f"{at}relations[{place}]", reading)
    paged = {*_LISTS, "relations", "count", "next", "previous", "page", "page_size", "total", "total_pages"}
    for name in sorted(document.keys() - paged):
        reading.unknown[name] += 1
        reading.skipped.append(f"{at}{name} is no list of memories: left out")
    if document.get("next"):
        reading.skipped.append("the file is one page of several (`next` is given): export the others as well")


def _memory(value: object, at: str, reading: Reading) -> None:
    if not isinstance(value, dict):
        reading.skipped.append(f"{at} is no object: left out")
        return
    memory: Json = value
    told = next((name for name in _TEXTS if text_of(memory.get(name))), None)
    content = None if told is None else text_of(memory.get(told))
    if content is None:
        reading.skipped.append(f"{at} has no text in {', '.join(_TEXTS)}: left out")
        return
    unknown = {name: given for name, given in memory.items() if name not in _USED | _KNOWN}
    reading.unknown.update(unknown.keys())
    kept_apart = {name for name in _TEXTS if name != told and text_of(memory.get(name)) != content}
    kept_apart |= {name for name in _TAGGED if untagged(memory.get(name))}
    plain = {name: given for name, given in memory.items() if name in _KNOWN or name in unknown or name in kept_apart}
    metadata, rest = kept("mem0", {"id": memory.get("id"), **plain})
    own, more = kept("", own_metadata(memory.get("metadata")), taken=metadata)
    reading.add(
        "memories",
        Record(
            document_id=document_id("mem0", "memory", memory.get("id"), content),
            content=content + rest + more,
            timestamp=moment(memory.get("created_at"), memory.get("updated_at")),
            tags=tags_of((tag, memory.get(name)) for name, tag in _TAGGED.items()),
            metadata=metadata | own,
        ),
    )


def _relation(relation: Mapping[str, object], at: str, reading: Reading) -> None:
    target = relation.get("target") or relation.get("destination")
    said = [text_of(each) for each in (relation.get("source"), relation.get("relationship"), target)]
    if None in said:
        reading.skipped.append(f"{at} has no source, relationship and target: left out")
        return
    content = " ".join(str(each).replace("_", " ") for each in said)
    used = {"source", "relationship", "target", "destination", "id"}
    metadata, rest = kept("mem0", {name: given for name, given in relation.items() if name not in used | {*_TAGGED}})
    reading.add(
        "relations",
        Record(
            document_id=document_id("mem0", "relation", relation.get("id"), content),
            content=content + rest,
            timestamp=moment(relation.get("created_at")),
            tags=tags_of((tag, relation.get(name)) for name, tag in _TAGGED.items()),
            metadata=metadata,
        ),
    )
