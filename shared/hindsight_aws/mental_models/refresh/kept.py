"""What a refresh settled when it began and wants to know again at its end, and its JSON form.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from hindsight_aws.mental_models.refresh.document import PageDocument, from_json, to_json
from hindsight_aws.model.trigger import Mode
from hindsight_aws.ports.mental_models import Vanished
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Kept:
    """A refresh between its beginning and its end.

    `operation_id` None: a dry run.  `version` is of the text that `content` and `document` are.  `newest`, `snapshot`
    and `cutoff` are what it is taken to have seen, `after` what it did not look before.
    """

    page_id: UUID
    operation_id: UUID | None
    fence: int
    requested: Mode
    effective: Mode
    fallback: str | None
    version: int
    query: str
    content: str
    document: PageDocument
    gone: tuple[Vanished, ...]
    retracts: bool
    deferred: str | None
    is_emptied: bool
    wants_structure: bool
    keeps_trace: bool
    after: datetime | None
    cutoff: datetime
    newest: datetime | None
    snapshot: str


def kept_to_json(kept: Kept) -> JsonObject:
    """The JSON form; `kept_from_json` gives back an equal one."""
    plain: JsonObject = {name: _plain(value) for name, value in asdict(kept).items() if name not in _APART}
    gone: list[JsonValue] = [{"id": str(one.id), "kind": one.kind, "text": one.text} for one in kept.gone]
    return {**plain, "document": to_json(kept.document), "gone": gone}


def kept_from_json(document: Mapping[str, object]) -> Kept:
    """Reads what `kept_to_json` wrote."""
    structure, gone = document["document"], document["gone"]
    assert isinstance(structure, dict)  # noqa: S101 - our own row
    assert isinstance(gone, list)  # noqa: S101 - our own row
    operation_id, effective = document["operation_id"], document["effective"]
    return Kept(
        page_id=UUID(str(document["page_id"])),
        operation_id=None if operation_id is None else UUID(str(operation_id)),
        fence=int(str(document["fence"])),
        requested="delta" if document["requested"] == "delta" else "full",
        effective="delta" if effective == "delta" else "full",
        fallback=_text(document["fallback"]),
        version=int(str(document["version"])),
        query=str(document["query"]),
        content=str(document["content"]),
        document=from_json(structure),
        gone=tuple(Vanished(UUID(one["id"]), one["kind"], one["text"]) for one in gone),
        retracts=document["retracts"] is True,
        deferred=_text(document["deferred"]),
        is_emptied=document["is_emptied"] is True,
        wants_structure=document["wants_structure"] is True,
        keeps_trace=document["keeps_trace"] is True,
        after=_moment(document["after"]),
        cutoff=datetime.fromisoformat(str(document["cutoff"])),
        newest=_moment(document["newest"]),
        snapshot=str(document["snapshot"]),
    )


_APART = frozenset({"document", "gone"})


def _plain(value: object) -> str | int | bool | None:
    if value is None or isinstance(value, str | int):
        return value
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _moment(value: object) -> datetime | None:
    return None if value is None else datetime.fromisoformat(str(value))
