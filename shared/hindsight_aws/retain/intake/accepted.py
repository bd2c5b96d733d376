"""A request that was accepted: cleaned, checked, dated, grouped into documents; and its form as JSON.

Made by intake; read by the job, in another process and maybe days later.  The JSON is what rows hold: its keys are
read as well by store/document_rows.py (`parts`), store/document_removal.py and sql/documents.sql (`documents`, `id`,
`mode`, `place`, `is_again`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast
from uuid import UUID

from hindsight_aws.model.document import SourceFile
from hindsight_aws.model.scope import ObservationScopes
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.retain.intake.requests import UpdateMode


@dataclass(frozen=True, slots=True)
class Part:
    """An item within its document, with a date, context and labels of its own.

    `position` is the item's place in the request.  `happened` keeps the caller's offset; it is None for undated items.
    `is_dated` tells a date the caller gave from the moment of submission.
    """

    position: int
    content: str
    happened: datetime | None
    is_dated: bool
    context: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    observation_scopes: ObservationScopes | None = None
    strategy: str | None = None
    resolve_entities: bool = True
    entity_types: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """How messages name the item."""
        return f"items[{self.position}]"


@dataclass(frozen=True, slots=True)
class DocumentTask:
    """The parts that make one document.

    `external_id` None: one is generated from the operation and `place`, the first item's position in the request, so
    that every attempt finds the same document.  `is_again`: the document is made anew from its own stored text, which
    the attempt reads; there are no parts before.
    """

    external_id: str | None
    mode: UpdateMode
    parts: tuple[Part, ...]
    place: int = 0
    file: SourceFile | None = None
    is_again: bool = False


def to_json(documents: Sequence[DocumentTask]) -> JsonObject:
    """The documents as the operation's row keeps them."""
    return {"documents": [_document_to_json(document) for document in documents]}


def from_json(payload: Mapping[str, object]) -> tuple[DocumentTask, ...]:
    """What `to_json` wrote.  Raises KeyError or TypeError for anything else."""
    return tuple(_document_from_json(document) for document in cast("list[JsonObject]", payload["documents"]))


def scopes_to_json(scopes: ObservationScopes | None) -> JsonValue:
    """The scopes as sent: a mode word, a list of tag lists, or null."""
    return [list(tags) for tags in scopes] if isinstance(scopes, tuple) else scopes


def scopes_from_json(value: object) -> ObservationScopes | None:
    """The inverse of `scopes_to_json`, of values that were checked when they came in."""
    if isinstance(value, list | tuple):
        return tuple(tuple(tags) for tags in cast("Sequence[Sequence[str]]", value))
    return cast("ObservationScopes | None", value)


def _document_to_json(document: DocumentTask) -> JsonObject:
    return {
        "id": document.external_id,
        "mode": document.mode,
        "place": document.place,
        "file": None if document.file is None else [document.file.name, document.file.content_type],
        **_kept_to_json(document.file),
        "is_again": document.is_again,
        "parts": [] if document.is_again else [part_to_json(part) for part in document.parts],
    }


def _kept_to_json(file: SourceFile | None) -> JsonObject:
    """Beside the file, so that whoever knows nothing of kept files can read it."""
    return {} if file is None or file.kept is None else {"kept": str(file.kept)}


def _document_from_json(document: JsonObject) -> DocumentTask:
    parts = tuple(part_from_json(part) for part in cast("list[JsonObject]", document["parts"]))
    external_id, mode = cast("str | None", document["id"]), cast("UpdateMode", document["mode"])
    file = cast("list[str] | None", document.get("file"))
    kept = cast("str | None", document.get("kept"))
    return DocumentTask(
        external_id=external_id,
        mode=mode,
        parts=parts,
        place=cast("int", document["place"]),
        file=None if file is None else SourceFile(file[0], file[1], None if kept is None else UUID(kept)),
        is_again=cast("bool", document.get("is_again", False)),
    )


def part_to_json(part: Part) -> JsonObject:
    """A part as rows keep it."""
    unusual: JsonObject = {} if part.resolve_entities else {"resolve_entities": False}
    if part.entity_types:
        unusual["entity_types"] = dict(part.entity_types)
    return {
        "position": part.position,
        "content": part.content,
        "happened": None if part.happened is None else part.happened.isoformat(),
        "is_dated": part.is_dated,
        "context": part.context,
        "metadata": dict(part.metadata),
        "entities": list(part.entities),
        "tags": list(part.tags),
        "observation_scopes": scopes_to_json(part.observation_scopes),
        "strategy": part.strategy,
        **unusual,
    }


def part_from_json(part: JsonObject) -> Part:
    """What `part_to_json` wrote."""
    happened = cast("str | None", part["happened"])
    return Part(
        position=cast("int", part["position"]),
        content=cast("str", part["content"]),
        happened=None if happened is None else datetime.fromisoformat(happened),
        is_dated=cast("bool", part["is_dated"]),
        context=cast("str | None", part["context"]),
        metadata=cast("dict[str, str]", part["metadata"]),
        entities=tuple(cast("list[str]", part["entities"])),
        tags=tuple(cast("list[str]", part["tags"])),
        observation_scopes=scopes_from_json(part["observation_scopes"]),
        strategy=cast("str | None", part["strategy"]),
        resolve_entities=cast("bool", part.get("resolve_entities", True)),
        entity_types=cast("dict[str, str]", part.get("entity_types", {})),
    )
