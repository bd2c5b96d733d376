"""What a caller may ask of retain and what it is answered.

Made by the API; read by the rest of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from hindsight_aws.model.document import SourceFile
from hindsight_aws.model.ids import OperationId
from hindsight_aws.model.scope import ObservationScopes

USUAL_ENTITY_TYPE: Final = "CONCEPT"
UpdateMode = Literal["replace", "append"]
Undated = Literal["unset"]


@dataclass(frozen=True, slots=True)
class EntityHint:
    """An entity the caller names for an item; a blank name is ignored.  `type` is kept with the document, no more."""

    text: str
    type: str = USUAL_ENTITY_TYPE


@dataclass(frozen=True, slots=True)
class RetainItem:
    """One piece of text to remember.

    `timestamp`: None is the moment of submission; "unset" leaves the facts undated; a naive datetime is UTC, an aware
    one keeps its offset for the model to see.  A metadata value of None drops its key.  `resolve_entities` False: the
    caller's names mean entities of exactly these names, in whatever case.
    """

    content: str
    timestamp: datetime | Undated | None = None
    context: str | None = None
    metadata: Mapping[str, str | None] = field(default_factory=dict)
    document_id: str | None = None
    entities: tuple[EntityHint, ...] = ()
    resolve_entities: bool = True
    tags: tuple[str, ...] = ()
    observation_scopes: ObservationScopes | None = None
    strategy: str | None = None
    update_mode: UpdateMode = "replace"
    file: SourceFile | None = None


@dataclass(frozen=True, slots=True)
class RetainRequest:
    """The items of one call.  `operation_id` is the caller's idempotency key: work under one id is done once."""

    items: tuple[RetainItem, ...]
    document_tags: tuple[str, ...] = ()
    operation_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class RetainTotals:
    """Tokens of the text model's calls for one retain, failed calls included; embeddings stand in the ledger only."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input (cached included) and output."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of the item at `index` of the request.

    `memories_count` counts the memories that were stored anew: none where nothing had changed.  `memory_ids` is None
    when the operation stored too many to name.
    """

    index: int
    document_id: str
    memories_count: int
    memory_ids: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class RetainResult:
    """The answer: `is_async` says that the work goes on behind `operation_id`.

    A sync retain that ran out of time is answered so too.
    `operation_ids` is set only when a request became several operations; `usage` and `items` only when the work is
    done.  `watermark` is the token of the write.
    `superseded_by` names the later operation that writes the documents instead of this one, which stored nothing.
    `screening`: what was redacted, and which items are not stored, as `Screening.as_json` writes it.  `warnings`:
    what was taken otherwise than the caller may have meant, a sentence each.
    """

    bank_id: str
    items_count: int
    is_async: bool
    operation_id: OperationId | None = None
    operation_ids: tuple[OperationId, ...] | None = None
    usage: RetainTotals | None = None
    watermark: str | None = None
    items: tuple[ItemOutcome, ...] | None = None
    superseded_by: OperationId | None = None
    screening: Mapping[str, object] | None = None
    warnings: tuple[str, ...] = ()
