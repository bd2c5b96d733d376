"""What recall asks of the store: how large a bank is, candidates of its four arms, and the rows behind them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.model.recalled import Freshness, NamedEntity, Quote, RecalledUnit
from hindsight_aws.model.tags import TagFilter, TagGroup

Hits = Sequence[tuple[UnitId, float]]
"""Memories with the score of one arm, best first; equal scores are ordered by id."""

Period: TypeAlias = tuple[datetime, datetime]
"""From a first to a last moment, both included and aware."""


@dataclass(frozen=True, slots=True)
class TimeFilter:
    """Bounds that a memory must keep to be found at all.

    It was last changed after `updated_after` and before `updated_before`, both excluded, and it happened or was told of
    within `only_between`.  At `as_of` it was believed, in the very words that it has now.
    """

    updated_after: datetime | None = None
    updated_before: datetime | None = None
    only_between: Period | None = None
    as_of: datetime | None = None

    def __bool__(self) -> bool:
        return self != NO_BOUNDS


NO_BOUNDS = TimeFilter()


@dataclass(frozen=True, slots=True)
class Dates:
    """When something happened and when it was told of, as far as known; an endless date counts as unknown."""

    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None


@dataclass(frozen=True, slots=True)
class DatedHit:
    """A memory that happened or was told of in a window, by its similarity to the query."""

    id: UnitId
    similarity: float
    dates: Dates


@dataclass(frozen=True, slots=True)
class LinkedHit:
    """A memory that a link leads to from one found by time."""

    id: UnitId
    link_type: str
    weight: float
    dates: Dates


@dataclass(frozen=True, slots=True)
class TypeSize:
    """How many memories of a type a bank holds, and how many terms they have.

    `indexed` is how many vectors of the type the index holds that all banks share.
    """

    units: int
    terms: int
    indexed: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where rows that pass a filter are found: those with one of the tags and, if `untagged`, those without any tag."""

    tags: frozenset[str]
    untagged: bool


@dataclass(frozen=True, slots=True)
class Census:
    """The size of a bank by fact type; types without memories are missing.

    `anchor` leads to every memory that passes the filter asked about, and to `anchored` memories of the bank in all;
    None when there is no such way, or it leads to too many.
    """

    sizes: Mapping[str, TypeSize]
    anchor: Anchor | None = None
    anchored: int = 0


@dataclass(frozen=True, slots=True)
class Bm25:
    """The constants of the keyword score (Robertson and Zaragoza 2009): saturation of repeats and weight of length.

    These values are the usual ones for passages; on dialogue they beat the textbook's 1.2 and 0.75 (MRR 0.50, 0.48).
    `rarity` is the power of a term's inverse document frequency: 1 in the textbook, 2 where question and passage both
    weigh their terms by it.
    """

    k1: float = 0.9
    b: float = 0.4
    rarity: float = 1.5


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """What to look for: in which types, at most `limit` of each from each arm.

    `vector` None leaves the semantic arm out, and so does not `with_semantic`; no `terms` leave the keyword arm out, no
    `windows` the temporal arm.  `exact_limit`
    bounds the banks whose vectors are read one by one, and the memories that a window is searched through; `most_terms`
    the terms looked up, rarest first.  `is_timed`: each search is to be timed.  `comparable`: the models that the
    bank's vectors must be of, None for a bank that has no model yet; empty: whatever they are of.
    """

    bank_id: BankId
    fact_types: tuple[str, ...]
    tags: TagFilter
    limit: int
    census: Census
    vector: array[float] | None = None
    min_similarity: float = 0.3
    min_keyword: float = 0.0
    terms: tuple[str, ...] = ()
    exact_limit: int = 10_000
    most_terms: int = 16
    bm25: Bm25 = field(default_factory=Bm25)
    times: TimeFilter = field(default_factory=TimeFilter)
    windows: tuple[Period, ...] = ()
    min_dated_similarity: float = 0.1
    most_dated: int = 60
    is_timed: bool = False
    with_semantic: bool = True
    comparable: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """What each arm found, by fact type; an arm that did not run is None.

    `dated` are the nearest memories of the windows, nearest first.  `seconds` says how long the database took, by arm
    and fact type, when that was asked.
    """

    semantic: Mapping[str, Hits] | None
    keyword: Mapping[str, Hits] | None
    dated: Mapping[str, Sequence[DatedHit]] | None = None
    seconds: Mapping[tuple[str, str], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExpansionQuery:
    """Where to go on from what was found: from `seeds` by entity, meaning and cause, from `entries` by time and cause.

    Both are by fact type and lead to memories of the same type, at most `limit` of each that pass the filters.  An
    observation leads on through those facts it rests on that pass `source_types` and `source_tags`.  Each entity brings
    its `per_entity` newest memories and no more.  All of it takes at most `timeout_ms`.
    """

    bank_id: BankId
    tags: TagFilter
    times: TimeFilter
    limit: int
    seeds: Mapping[str, Sequence[UnitId]]
    entries: Mapping[str, Sequence[UnitId]]
    vector: array[float]
    source_types: frozenset[str]
    source_tags: TagFilter
    min_similarity: float = 0.1
    per_entity: int = 200
    timeout_ms: int = 10_000
    is_timed: bool = False


@dataclass(frozen=True, slots=True)
class Expansion:
    """What lies one step further, by fact type; `seconds` as of Candidates.

    `near` holds the activation of what the seeds lead to: at most 1 each for shared entities, meaning and cause.
    """

    near: Mapping[str, Hits]
    linked: Mapping[str, Sequence[LinkedHit]]
    seconds: Mapping[tuple[str, str], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BeneathQuery:
    """What to read beneath an answer: for `units`, in rank order, of which `observations` rest on facts.

    A source fact is visible if its type is in `source_types` and its tags pass `source_tags`; a chunk if its
    document's tags pass them too and all of the document's items pass `chunk_own`.  `chunk_units` and
    `chunk_characters` say whose chunks to read, in order, and how much text is enough.
    """

    bank_id: BankId
    units: Sequence[UnitId]
    source_types: frozenset[str]
    source_tags: TagFilter
    observations: Sequence[UnitId] = ()
    with_entities: bool = False
    with_sources: bool = False
    with_evidence: bool = False
    with_quotes: bool = False
    with_freshness: bool = False
    chunk_units: Sequence[UnitId] = ()
    chunk_characters: int = 0
    chunk_own: TagGroup | None = None


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as stored, by its document's external id."""

    document: str
    chunk_index: int
    text: str


@dataclass(frozen=True, slots=True)
class Beneath:
    """What lies beneath an answer.

    `entities_of` holds each unit's own entities and, for an observation, those of its visible sources, by name.
    `sources_of` holds the visible sources of each observation, oldest first, `hidden` how many distinct sources are
    not visible, and `facts` the visible ones' rows when they were asked for.  `chunks` come in order of their units.
    `fresh_of` tells of each observation how far its scope is behind, `quotes_of` what visible evidence it rests on.
    """

    entities_of: Mapping[UnitId, tuple[NamedEntity, ...]]
    sources_of: Mapping[UnitId, tuple[UnitId, ...]]
    hidden: int
    facts: Mapping[UnitId, RecalledUnit]
    chunks: tuple[StoredChunk, ...]
    fresh_of: Mapping[UnitId, Freshness] = field(default_factory=dict)
    quotes_of: Mapping[UnitId, tuple[Quote, ...]] = field(default_factory=dict)


class RecallReads(Protocol):
    """Reads for recall, all of one bank; every method is one round trip."""

    def census(self, bank_id: BankId, tags: TagFilter, most_anchored: int) -> Census:
        """The bank's size, and the filter's anchor that leads to the fewest memories, if at most `most_anchored`."""
        ...

    def candidates(self, query: CandidateQuery) -> Candidates:
        """What each arm finds; the same for the same rows, except where a large bank's vector index approximates.

        Raises: VectorsReplaced when the bank's vectors are not comparable with the query's any more.
        """
        ...

    def expand(self, query: ExpansionQuery) -> Expansion | None:
        """What lies one step from what was found; None when that took too long, and the transaction goes on."""
        ...

    def units(
        self,
        bank_id: BankId,
        ids: Sequence[UnitId],
        fact_types: frozenset[str],
        tags: TagFilter,
        times: TimeFilter = NO_BOUNDS,
    ) -> Mapping[UnitId, RecalledUnit]:
        """The rows of these memories that still exist and pass: the last gate, whatever an arm let through."""
        ...

    def beneath(self, query: BeneathQuery) -> Beneath:
        """What lies beneath an answer: entities, sources and chunks."""
        ...

    def within(self, timeout_ms: int) -> AbstractContextManager[None]:
        """Bounds each statement that is read inside; afterwards the transaction is as it was before.

        Raises: DatabaseTooSlow for one that took longer.
        """
        ...

    def rarity(self, bank_id: BankId, fact_types: Collection[str], terms: Sequence[str]) -> Mapping[str, int]:
        """In how many memories of these types each term stands, counted up to a bound; terms in none are missing."""
        ...
