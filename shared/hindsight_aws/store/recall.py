"""Recall's reads in Postgres: each method pipelines its statements.

Called through ports/recall.py; calls sql/recall.sql and store/expansion.py.
Forced row-level security lets an index serve leakproof operators only, so every search goes by equality on tenant,
bank and type: postings for terms, tag rows for tags, and vectors read one by one or in the order of the shared index.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import psycopg
from pgvector import HalfVector

from hindsight_aws.errors import VectorsReplaced
from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.model.recalled import Freshness, RecalledUnit
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.recall import (
    NO_BOUNDS,
    Anchor,
    Beneath,
    BeneathQuery,
    CandidateQuery,
    Candidates,
    Census,
    Expansion,
    ExpansionQuery,
    Hits,
    StoredChunk,
    TimeFilter,
    TypeSize,
)
from hindsight_aws.store import recall_rows as rows_of
from hindsight_aws.store.expansion import expand
from hindsight_aws.store.queries import queries
from hindsight_aws.store.recall_filters import gates, uuids, windows
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import own_params
from hindsight_aws.store.stopwatch import Stopwatch
from hindsight_aws.store.tag_predicate import predicate_of
from hindsight_aws.store.vector_path import VectorPath, expected_scan, vector_path
from hindsight_aws.store.vectors import half_vector
from hindsight_aws.store.within import within

_SQL = queries("recall")
_Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]

# A term in more memories than this is counted no further: its weight is then small and estimated.
_COUNT_CAP = 10_000
# Postings read for terms in full, rarest first; terms past it only re-order.  With an anchor few postings are kept of
# those read.
_POSTINGS = 10_000
_POSTINGS_OF_ANCHORED = 100_000
_EF_SEARCH = 200
# How many times the expected number of index entries a scan may visit before it gives up, and the least and the most.
_SCAN_SLACK = 4
_LEAST_SCAN, _LONGEST_SCAN = 20_000, 400_000


class PostgresRecallReads:
    """Reads for recall in one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def census(self, bank_id: BankId, tags: TagFilter, most_anchored: int) -> Census:
        anchors = predicate_of(tags).anchors
        with self._session.pipeline():
            sizes = self._session.send(_SQL["sizes"], bank_id=bank_id)
            counts = self._count_anchored(bank_id, anchors, most_anchored)
        by_type = {row[0]: TypeSize(*row[1:]) for row in sizes.fetchall() if row[1] > 0}
        led_to = [(tagged + untagged, option) for option, tagged, untagged in (counts.fetchall() if counts else ())]
        fewest, option = min(led_to, default=(most_anchored + 1, 0))
        return Census(by_type) if fewest > most_anchored else Census(by_type, anchors[option], fewest)

    def candidates(self, query: CandidateQuery) -> Candidates:
        types = [fact_type for fact_type in query.fact_types if fact_type in query.census.sizes]
        vector = None if query.vector is None else half_vector(query.vector)
        is_semantic = vector is not None and query.with_semantic
        paths = {fact_type: vector_path(query, fact_type) for fact_type in types} if is_semantic else {}
        near: dict[str, _Cursor] = {}
        by_words: dict[str, _Cursor] = {}
        by_date: dict[str, _Cursor] = {}
        watch = Stopwatch(self._session, query.is_timed)
        made_by: _Cursor | None = None
        with self._session.pipeline():
            if vector is not None:
                if query.comparable:
                    made_by = self._session.send(_SQL["vectors_of"], bank_id=query.bank_id)
                near = self._semantic(query, paths, vector, watch)
                by_date = self._dated(query, types, vector, watch) if query.windows else {}
            if query.terms:
                self._session.send(_SQL["plan_once"])
                by_words = self._keyword(query, types, watch)
        if made_by is not None and any(row[0] not in query.comparable for row in made_by.fetchall()):
            raise VectorsReplaced("the bank's vectors became another model's")
        semantic = {fact_type: _hits(near[fact_type]) for fact_type in paths}
        cut_short = self._cut_short(query, semantic, paths)
        if vector is not None and cut_short:
            exactly = dict.fromkeys(cut_short, VectorPath.EXACT)
            again = self._semantic(query, exactly, vector, Stopwatch(self._session, False))
            semantic |= {fact_type: _hits(cursor) for fact_type, cursor in again.items()}
        return Candidates(
            semantic if is_semantic else None,
            {fact_type: _hits(cursor) for fact_type, cursor in by_words.items()} if query.terms else None,
            {fact_type: [rows_of.dated(row) for row in cursor.fetchall()] for fact_type, cursor in by_date.items()}
            if query.windows and vector is not None
            else None,
            watch.seconds(),
        )

    def expand(self, query: ExpansionQuery) -> Expansion | None:
        return expand(self._session, query)

    def within(self, timeout_ms: int) -> AbstractContextManager[None]:
        return within(self._session, timeout_ms)

    def rarity(self, bank_id: BankId, fact_types: Collection[str], terms: Sequence[str]) -> Mapping[str, int]:
        asked = {"bank_id": bank_id, "fact_types": sorted(fact_types), "terms": list(terms), "count_cap": _COUNT_CAP}
        return dict(self._session.tuples(_SQL["rarity"], **asked))

    def units(
        self,
        bank_id: BankId,
        ids: Sequence[UnitId],
        fact_types: frozenset[str],
        tags: TagFilter,
        times: TimeFilter = NO_BOUNDS,
    ) -> Mapping[UnitId, RecalledUnit]:
        if not ids:
            return {}
        rows = self._session.tuples(
            _SQL["units"],
            bank_id=bank_id,
            ids=uuids(ids),
            fact_types=sorted(fact_types),
            **gates(predicate_of(tags), times),
        )
        return {row[0]: rows_of.unit(row) for row in rows}

    def beneath(self, query: BeneathQuery) -> Beneath:
        visible = {"fact_types": sorted(query.source_types), **predicate_of(query.source_tags).params()}
        observations = uuids(query.observations)
        of_observations = {"bank_id": query.bank_id, "ids": observations, **visible}
        entities = sources = facts = quotes = chunks = fresh = None
        with self._session.pipeline():
            if query.with_entities and query.units:
                of_units = {**of_observations, "ids": uuids(query.units), "observations": observations}
                entities = self._session.send(_SQL["entities"], **of_units)
            if query.with_evidence and query.observations:
                sources = self._session.send(_SQL["sources"], **of_observations)
            if query.with_sources and query.observations:
                facts = self._session.send(_SQL["source_units"], **of_observations)
            if query.with_quotes and query.observations:
                quotes = self._session.send(_SQL["quotes"], **of_observations)
            if query.with_freshness and query.observations:
                fresh = self._session.send(_SQL["freshness"], bank_id=query.bank_id, ids=observations)
            if query.chunk_units:
                chunks = self._chunks(query, visible)
        sources_of, hidden = rows_of.sources(sources.fetchall() if sources else [])
        return Beneath(
            entities_of=rows_of.entities(entities.fetchall() if entities else [], query.units),
            sources_of=sources_of,
            hidden=hidden,
            facts={row[0]: rows_of.unit(row) for row in (facts.fetchall() if facts else [])},
            chunks=tuple(StoredChunk(*row) for row in (chunks.fetchall() if chunks else [])),
            quotes_of=rows_of.quotes(quotes.fetchall() if quotes else []),
            fresh_of={row[0]: Freshness(*row[1:]) for row in (fresh.fetchall() if fresh else [])},
        )

    @staticmethod
    def _cut_short(query: CandidateQuery, near: Mapping[str, Hits], paths: Mapping[str, VectorPath]) -> list[str]:
        """Types whose index scan may have ended before it met enough rows that pass the filter."""
        if not query.tags and not query.times:
            return []
        return [of for of, hits in near.items() if paths[of] is VectorPath.INDEX and len(hits) < query.limit]

    def _count_anchored(self, bank_id: BankId, anchors: Sequence[Anchor], at_most: int) -> _Cursor | None:
        """Counts where each anchor leads; a null in the list of its tags stands for the untagged."""
        pairs: list[tuple[int, str | None]] = []
        for option, anchor in enumerate(anchors):
            pairs += [(option, tag) for tag in sorted(anchor.tags)]
            if anchor.untagged:
                pairs.append((option, None))
        if not pairs:
            return None
        options, tags = zip(*pairs, strict=True)
        return self._session.send(
            _SQL["count_anchored"], bank_id=bank_id, at_most=at_most, options=list(options), tags=list(tags)
        )

    def _semantic(
        self, query: CandidateQuery, paths: Mapping[str, VectorPath], vector: HalfVector, watch: Stopwatch
    ) -> dict[str, _Cursor]:
        """Starts the search of each type's vectors by its path."""
        params: dict[str, object] = {
            "bank_id": query.bank_id, "embedding": vector, "farthest": 1 - query.min_similarity, "at_most": query.limit,
            **gates(predicate_of(query.tags), query.times),
        }  # fmt: skip
        found: dict[str, _Cursor] = {}
        self._session.send(_SQL["plan_by_size"])
        watch.lap()
        for fact_type, path in paths.items():
            asked = {**params, "fact_type": fact_type}
            if path is VectorPath.EXACT:
                found[fact_type] = self._session.send(_SQL["semantic_exact"], **asked)
            elif path is VectorPath.TAGGED:
                found[fact_type] = self._session.send(_SQL["semantic_tagged"], **_anchor_params(query), **asked)
            else:
                self._bound_index_scan(query, fact_type)
                found[fact_type] = self._session.send(_SQL[f"semantic_index_{fact_type}"], **asked)
            watch.lap("semantic", fact_type)
        return found

    def _dated(
        self, query: CandidateQuery, types: Sequence[str], vector: HalfVector, watch: Stopwatch
    ) -> dict[str, _Cursor]:
        """Starts the search of each type's memories that happened or were told of in the windows."""
        found: dict[str, _Cursor] = {}
        for fact_type in types:
            found[fact_type] = self._session.send(
                _SQL["dated"],
                bank_id=query.bank_id,
                fact_type=fact_type,
                embedding=vector,
                farthest_dated=1 - query.min_dated_similarity,
                most_read=query.exact_limit,
                at_most=query.most_dated,
                **windows(query.windows),
                **gates(predicate_of(query.tags), query.times),
            )
            watch.lap("temporal", fact_type)
        return found

    def _bound_index_scan(self, query: CandidateQuery, fact_type: str) -> None:
        scan = _SCAN_SLACK * expected_scan(query, query.census.sizes[fact_type])
        self._session.send(
            _SQL["bound_index_scan"],
            ef_search=str(_EF_SEARCH),
            max_scan_tuples=str(min(max(scan, _LEAST_SCAN), _LONGEST_SCAN)),
        )

    def _keyword(self, query: CandidateQuery, types: Sequence[str], watch: Stopwatch) -> dict[str, _Cursor]:
        """Starts the keyword search of each type; rarity and length are the bank's, so that types compare."""
        found: dict[str, _Cursor] = {}
        watch.lap()
        params = self._keyword_params(query)
        for fact_type in types:
            found[fact_type] = self._session.send(_SQL["keyword"], fact_type=fact_type, **params)
            watch.lap("keyword", fact_type)
        return found

    @staticmethod
    def _keyword_params(query: CandidateQuery) -> dict[str, object]:
        sizes = {of: size for of, size in query.census.sizes.items() if of in query.fact_types}
        units = sum(size.units for size in sizes.values())
        average = max(sum(size.terms for size in sizes.values()) / units, 1.0)
        return {
            "bank_id": query.bank_id,
            "fact_types": sorted(sizes),
            "terms": list(query.terms),
            "units": units,
            "most_terms": query.most_terms,
            "count_cap": _COUNT_CAP,
            "postings": _POSTINGS if query.census.anchor is None else _POSTINGS_OF_ANCHORED,
            "k1": query.bm25.k1,
            "rarity": query.bm25.rarity,
            "flat": query.bm25.k1 * (1 - query.bm25.b),
            "slope": query.bm25.k1 * query.bm25.b / average,
            "least": query.min_keyword,
            "at_most": query.limit,
            **_anchor_params(query),
            **gates(predicate_of(query.tags), query.times),
        }

    def _chunks(self, query: BeneathQuery, visible: Mapping[str, object]) -> _Cursor:
        return self._session.send(
            _SQL["chunks"],
            bank_id=query.bank_id,
            ids=uuids(query.chunk_units),
            enough=query.chunk_characters,
            **own_params(query.chunk_own),
            **visible,
        )


def _anchor_params(query: CandidateQuery) -> dict[str, object]:
    anchor = query.census.anchor
    if anchor is None:
        return {"anchor": None, "with_untagged": False}
    return {"anchor": sorted(anchor.tags), "with_untagged": anchor.untagged}


def _hits(cursor: _Cursor) -> Hits:
    return cursor.fetchall()
