"""Zep: users, sessions or threads with their messages, facts, and a graph's edges, episodes and nodes.  Pure.

After the public API pages at help.getzep.com.  An export is an object with any of these lists, nested as one likes, or
one of the lists by itself; the names of all versions of the API are taken.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from hindsight_aws.importing.records import (
    Json,
    NotUnderstood,
    Reading,
    Record,
    document_id,
    is_word,
    kept,
    moment,
    own_metadata,
    tags_of,
    text_of,
)
from hindsight_aws.importing.turns import parts, turn

_LISTS: Final = {
    "users": "user",
    "sessions": "session",
    "threads": "session",
    "messages": "message",
    "facts": "fact",
    "relevant_facts": "fact",
    "edges": "edge",
    "episodes": "episode",
    "nodes": "node",
    "graphs": "graph",
    "groups": "graph",
}
_PAGED: Final = frozenset({"total_count", "row_count", "next_cursor", "items", "response_count", "page_number"})
_TAGGED: Final = {
    "user_id": "user",
    "session_id": "session",
    "thread_id": "session",
    "graph_id": "graph",
    "group_id": "graph",
}


@dataclass(slots=True)
class _Read:
    """What is read so far; messages wait until all of their session are there."""

    reading: Reading = field(default_factory=Reading)
    messages: dict[tuple[tuple[str, object], ...], list[Json]] = field(default_factory=lambda: defaultdict(list))
    told: set[str] = field(default_factory=set)


def read_zep(documents: list[object]) -> Reading:
    """The records of an export.  Raises NotUnderstood where nothing in it is known."""
    read = _Read()
    for document in documents:
        _read(document, "", {}, read)
    for place, messages in read.messages.items():
        _conversation(dict(place), messages, read)
    if not read.reading.records and not read.reading.skipped:
        raise NotUnderstood(f"nothing of Zep's was found: an object with any of {', '.join(_LISTS)}")
    return read.reading


def _read(document: object, at: str, around: Json, read: _Read) -> None:
    if isinstance(document, list):
        for place, each in enumerate(document):
            _one(_kind_of(each), each, f"{at}[{place}]", around, read)
    elif isinstance(document, dict):
        kind = _kind_of(document)
        if kind is not None:
            _one(kind, document, at or "the file", around, read)
            return
        if isinstance(document.get("items"), list):
            _read(document["items"], f"{at}items", around, read)
        _lists(document, at, around, read)
        for name in sorted(document.keys() - _LISTS.keys() - _PAGED):
            read.reading.unknown[name] += 1
            read.reading.skipped.append(f"{at}{name} is no list that is known: left out")
    else:
        read.reading.skipped.append(f"{at or 'the file'} is neither an object nor a list: left out")


def _lists(document: Json, at: str, around: Json, read: _Read) -> None:
    for name, kind in _LISTS.items():
        listed = document.get(name)
        if listed is not None and not isinstance(listed, list):
            read.reading.skipped.append(f"{at}{name} is no list: left out")
            continue
        for place, each in enumerate(listed or []):
            _one(kind, each, f"{at}{name}[{place}]", around, read)


def _kind_of(value: object) -> str | None:
    """What an object is by its fields; None for one that only holds lists."""
    if not isinstance(value, dict):
        return None
    if "source_node_uuid" in value or ("fact" in value and "target_node_uuid" in value):
        return "edge"
    if "fact" in value:
        return "fact"
    if "role_type" in value or ("role" in value and "content" in value):
        return "episode" if "source" in value else "message"
    if "content" in value:
        return "episode"
    if "summary" in value and "name" in value:
        return "node"
    if value.keys() & {"session_id", "thread_id"}:
        return "session"
    return "user" if "user_id" in value else "graph" if value.keys() & {"graph_id", "group_id"} else None


def _one(kind: str | None, value: object, at: str, around: Json, read: _Read) -> None:
    if kind == "fact" and isinstance(value, str):
        value = {"fact": value}
    if kind is None or not isinstance(value, dict):
        read.reading.skipped.append(f"{at} is nothing that is known: left out")
        return
    here = dict(around) | {name: value[name] for name in _TAGGED if value.get(name) and is_word(value[name])}
    if kind in ("user", "session", "graph"):
        _lists(value, f"{at}.", here, read)
        _holder(kind, value, here, read)
    elif kind == "message":
        if text_of(value.get("content")) is None:
            read.reading.skipped.append(f"{at} has no content: left out")
            return
        where = {name: given for name, given in here.items() if name in _TAGGED}
        read.messages[tuple(sorted(where.items(), key=str))].append(value)
        read.told |= {uuid} if (uuid := text_of(value.get("uuid"))) else set()
    else:
        _text(kind, value, at, here, read)


def _holder(kind: str, value: Json, here: Json, read: _Read) -> None:
    """What a user, a session or a graph says of itself."""
    summary = value.get("summary")
    said = text_of(summary.get("content")) if isinstance(summary, dict) else text_of(summary)
    if kind == "user":
        names = [text_of(value.get(name)) for name in ("first_name", "last_name", "email")]
        said = ", ".join([*(name for name in names if name), *([said] if said else [])]) or None
    if said is None and not own_metadata(value.get("metadata")):
        return
    name = next((str(value[each]) for each in _TAGGED if value.get(each) and _TAGGED[each] == kind), "")
    content = f"{kind.capitalize()} {name}: {said or 'no more is told'}"
    _add(kind, name or value.get("uuid"), content, value, here, read)


def _conversation(place: Json, messages: list[Json], read: _Read) -> None:
    """A session's messages in their order, as conversations of so many turns each."""
    session = place.get("session_id") or place.get("thread_id")
    for number, some in enumerate(parts(messages)):
        turns = [turn(message, _TAGGED) for message in some]
        content = _as_json(turns)
        given = None if session is None else f"{session}:{number}"
        told = {"message_metadata": [own_metadata(each.get("metadata")) or None for each in some]}
        metadata, rest = kept("zep", told if any(told["message_metadata"]) else {})
        used = {"content", "role", "role_type", "name", "created_at", "uuid", "metadata", "token_count", "processed"}
        for message in some:
            read.reading.unknown.update(message.keys() - used - _TAGGED.keys())
        record = Record(
            document_id=document_id("zep", "session", given, content),
            content=content if not rest else _as_json([*turns, {"role": "system", "content": rest.strip()}]),
            timestamp=moment(*(message.get("created_at") for message in some)),
            tags=tags_of((tag, place.get(name)) for name, tag in _TAGGED.items()),
            metadata=metadata,
        )
        read.reading.add("conversations", record)
        read.reading.counts["messages"] += len(some)


def _as_json(turns: list[dict[str, object]]) -> str:
    return json.dumps(turns, ensure_ascii=False)


def _text(kind: str, value: Json, at: str, here: Json, read: _Read) -> None:
    if kind == "episode" and text_of(value.get("uuid")) in read.told:
        read.reading.counts["episodes (their message is there)"] += 1
        return
    said = text_of(value.get("fact") if kind in ("fact", "edge") else value.get("content"))
    if kind == "node" and text_of(value.get("summary")) is None:
        read.reading.counts["nodes (without a summary, named in edges)"] += 1
        return
    if kind == "node":
        said = ": ".join(text for each in ("name", "summary") if (text := text_of(value.get(each))))
    if kind == "fact" and said is None:
        said = text_of(value.get("content"))
    if said is None:
        read.reading.skipped.append(f"{at} has no text: left out")
        return
    content = said + _until(value) if kind in ("fact", "edge") else said
    _add(kind, value.get("uuid"), content, value, here, read)


def _until(value: Json) -> str:
    """What is no longer true says so in its text, or it would be taken for true."""
    ended = moment(value.get("invalid_at"))
    return "" if ended is None else f" (true until {ended[:10]}, and no longer)"


def _add(kind: str, given: object, content: str, value: Json, here: Json, read: _Read) -> None:
    used = _SAID_ELSEWHERE | (_LISTS.keys() if kind in ("user", "session", "graph") else set())
    known = _KNOWN | used
    read.reading.unknown.update(name for name in value if name not in known)
    plain: dict[str, object] = {"uuid": value.get("uuid")}
    plain |= {name: said for name, said in value.items() if name not in used}
    metadata, rest = kept("zep", plain)
    own, more = kept("", own_metadata(value.get("metadata")), taken=metadata)
    read.reading.add(
        f"{kind}s",
        Record(
            document_id=document_id("zep", kind, given, content),
            content=content + rest + more,
            timestamp=moment(value.get("valid_at"), value.get("created_at")),
            tags=tags_of((tag, here.get(name)) for name, tag in _TAGGED.items()),
            metadata=metadata | own,
        ),
    )


_SAID_ELSEWHERE: Final = frozenset(
    {
        *_TAGGED,
        "content",
        "created_at",
        "email",
        "fact",
        "first_name",
        "last_name",
        "metadata",
        "summary",
        "uuid",
    }
)
"""What stands in the text, the tags or the date of a record."""
_KNOWN: Final = frozenset(
    {
        "attributes",
        "classifications",
        "episodes",
        "expired_at",
        "group_id",
        "id",
        "invalid_at",
        "labels",
        "name",
        "processed",
        "project_uuid",
        "rating",
        "relevance",
        "role",
        "role_type",
        "score",
        "source",
        "source_description",
        "source_node_name",
        "source_node_uuid",
        "target_node_name",
        "target_node_uuid",
        "updated_at",
        "valid_at",
        "deleted_at",
        "ended_at",
    }
)
"""What is understood and kept as metadata, under `zep_…`."""
