"""What recall finds: memories with their scores, and what was asked for beneath them.

Made by recall/ and store/recall.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hindsight_aws.model.ids import DocumentId, EntityId, ScopeId, UnitId
from hindsight_aws.model.watermark import WriteState


@dataclass(frozen=True, slots=True)
class RecalledUnit:
    """A memory as recall reads it; `document` is the caller's id of the document, `document_id` ours.

    `ordinal` is its place among those of its chunk.
    """

    id: UnitId
    fact_type: str
    text: str
    context: str | None
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    metadata: Mapping[str, str]
    tags: tuple[str, ...]
    proof_count: int
    document_id: DocumentId | None
    document: str | None
    chunk_index: int | None
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class Scores:
    """Why a memory stands where it stands; None: that arm, or the rerank model, did not judge it."""

    final: float
    reranker: float | None = None
    semantic: float | None = None
    keyword: float | None = None


@dataclass(frozen=True, slots=True)
class RankedUnit:
    """A memory with its scores, in its place of the ranking."""

    unit: RecalledUnit
    scores: Scores


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity by its canonical name."""

    entity_id: EntityId
    name: str


@dataclass(frozen=True, slots=True)
class RecalledChunk:
    """The stored text a memory was drawn from; `is_truncated` when the budget cut it."""

    chunk_id: str
    text: str
    chunk_index: int
    is_truncated: bool = False


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far an observation's scope is behind: its facts that wait, and those given up; counted up to a bound."""

    scope_id: ScopeId
    pending: int
    failed: int

    @property
    def is_stale(self) -> bool:
        """Whether the scope has a fact that no observation can know yet."""
        return self.pending + self.failed > 0


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a fact that an observation rests on; `origin`: the model chose them, or they are all of the fact."""

    fact_id: UnitId
    text: str
    origin: str


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The facts under the observations of an answer.

    `ids_of` lists every visible source of each observation; `facts` holds those that fit the budget, `is_truncated`
    says some did not.
    """

    ids_of: Mapping[UnitId, tuple[UnitId, ...]]
    facts: tuple[RecalledUnit, ...]
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class Believed:
    """The past moment that an answer is about; not `is_complete` when more wordings of then were left than are read."""

    at: datetime
    is_complete: bool


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """The answer of a recall, best first.

    `entities`, `chunks` and `sources` are None when they were not asked for or may not be shown; `withheld` counts
    the source facts that lie beneath the results and that this caller may not see, None for a caller without such
    limits. `fresh_of` tells of each observation how far its scope is behind; `quotes_of` holds the visible quotes each
    rests on, None when they were not asked for or may not be shown. `trace` is JSON-ready.

    `cut` names what was left out for the sake of a deadline, None where there was none.  `written` is what became of
    the write that the caller asked about.  `believed` says of what time an answer about the past is.
    """

    results: tuple[RankedUnit, ...]
    entities_of: Mapping[UnitId, tuple[NamedEntity, ...]] | None = None
    chunks: tuple[RecalledChunk, ...] | None = None
    sources: SourceFacts | None = None
    withheld: int | None = None
    trace: Mapping[str, object] | None = None
    fresh_of: Mapping[UnitId, Freshness] = field(default_factory=dict)
    quotes_of: Mapping[UnitId, tuple[Quote, ...]] | None = None
    bank: str = field(default="")
    cut: tuple[str, ...] | None = None
    written: WriteState | None = None
    believed: Believed | None = None
