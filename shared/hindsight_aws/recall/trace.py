"""What a recall did, step by step, for who asks with `trace: true`.

Filled by recall/recall.py; JSON-ready; without vectors, for size.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import Freshness, RankedUnit, RecalledUnit
from hindsight_aws.ports.recall import Hits
from hindsight_aws.recall.fusion import Fused
from hindsight_aws.recall.request import RecallQuery
from hindsight_aws.recall.when.window import Window, hull

_METHODS = {
    "semantic": ("semantic", "similarity"),
    "keyword": ("bm25", "bm25_score"),
    "graph": ("graph", "activation"),
    "temporal": ("temporal", "temporal_score"),
}
_ENTRY_POINTS = 10


class Found(Protocol):
    """What was found, as recall/retrieval.py gathers it."""

    @property
    def arms(self) -> Mapping[str, Mapping[str, Hits]]:
        """Each arm's hits by fact type."""
        ...

    @property
    def fused(self) -> Sequence[Fused]:
        """The candidates in their fused order."""
        ...

    @property
    def units(self) -> Mapping[UnitId, RecalledUnit]:
        """The rows behind them."""
        ...

    @property
    def seconds(self) -> Mapping[tuple[str, str], float]:
        """How long the database took, by arm and fact type."""
        ...


class Trace:
    """Collects phases and their durations; cheap when nobody asked, for only durations are kept then."""

    def __init__(self) -> None:
        self.phases: list[dict[str, object]] = []
        self.degraded: list[str] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times what happens inside as a phase of this name."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.phases.append({"phase_name": name, "duration_seconds": round(time.perf_counter() - began, 6)})

    def shown(
        self,
        query: RecallQuery,
        windows: Sequence[Window],
        found: Found,
        results: Sequence[RankedUnit],
        *,
        shows_keyword: bool = True,
    ) -> dict[str, object]:
        """Everything as the answer's `trace`; without `shows_keyword` hits by words have ranks and no scores."""
        return {
            "query": {
                "query_text": query.query,
                "query_embedding": None,
                "timestamp": None if query.now is None else query.now.isoformat(),
                "budget": query.budget.value,
                "max_tokens": query.max_tokens,
                "temporal_constraint": _constraint(windows),
                "temporal_windows": [_window(window) for window in windows],
            },
            "retrieval_results": _arms(found, shows_keyword=shows_keyword),
            "entry_points": _entry_points(found),
            "rrf_merged": [_merged(candidate, found.units) for candidate in found.fused if candidate.id in found.units],
            "reranked": [_result(rank, result) for rank, result in enumerate(results, 1)],
            "summary": {
                "phase_metrics": self.phases,
                "results_returned": len(results),
                "total_nodes_considered": len(found.fused),
                "degraded": self.degraded,
            },
        }


def freshness(found: Iterable[Freshness]) -> dict[str, int]:
    """How many of these observations are stale, and the facts that their scopes, each counted once, do not know yet."""
    of_results = list(found)
    scopes = {each.scope_id: each for each in of_results}.values()
    return {
        "stale_results": sum(each.is_stale for each in of_results),
        "pending": sum(each.pending for each in scopes),
        "failed": sum(each.failed for each in scopes),
    }


def _constraint(windows: Sequence[Window]) -> dict[str, object] | None:
    """The time asked about as one stretch, which is what the answer's schema has room for."""
    whole = hull(windows)
    return None if whole is None else {"start": whole[0].isoformat(), "end": whole[1].isoformat()}


def _window(window: Window) -> dict[str, object]:
    return {
        "start": window.start.isoformat(),
        "end": window.end.isoformat(),
        "text": window.text,
        "confidence": window.confidence,
    }


def _arms(found: Found, *, shows_keyword: bool) -> list[dict[str, object]]:
    return [
        {
            "method": _METHODS[arm][0],
            "fact_type": fact_type,
            "candidates": len(hits),
            "duration_seconds": round(found.seconds.get((arm, fact_type), 0.0), 6),
            "results": [
                {
                    "rank": rank,
                    "node_id": str(id_),
                    "text": found.units[id_].text,
                    "score": score if shows_keyword or arm != "keyword" else None,
                    "score_name": _METHODS[arm][1],
                }
                for rank, (id_, score) in enumerate(hits, 1)
                if id_ in found.units
            ],
        }
        for arm, by_type in found.arms.items()
        for fact_type, hits in by_type.items()
    ]


def _entry_points(found: Found) -> list[dict[str, object]]:
    semantic = found.arms.get("semantic", {})
    hits = sorted((hit for hits in semantic.values() for hit in hits), key=lambda hit: (-hit[1], hit[0]))
    seen = [hit for hit in hits if hit[0] in found.units][:_ENTRY_POINTS]
    return [
        {"rank": rank, "node_id": str(id_), "text": found.units[id_].text, "similarity_score": score}
        for rank, (id_, score) in enumerate(seen, 1)
    ]


def _merged(candidate: Fused, units: Mapping[UnitId, RecalledUnit]) -> dict[str, object]:
    return {
        "node_id": str(candidate.id),
        "text": units[candidate.id].text,
        "score": candidate.score,
        "rrf_score": candidate.reciprocal_rank,
        "source_ranks": dict(candidate.ranks),
        "temporal_proximity": candidate.proximity,
    }


def _result(rank: int, result: RankedUnit) -> dict[str, object]:
    return {
        "rerank_rank": rank,
        "node_id": str(result.unit.id),
        "text": result.unit.text,
        "rerank_score": result.scores.final,
        "score_components": {
            "reranker": result.scores.reranker,
            "semantic": result.scores.semantic,
            "keyword": result.scores.keyword,
        },
    }
