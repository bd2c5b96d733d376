"""What a recall did, step by step, for who asks with `trace: true`.

Filled by recall/recall.py; JSON-ready; without vectors, for size.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from hindsight_aws.model.ids import UnitId
from hindsight_aws.model.recalled import RankedUnit, RecalledUnit
from hindsight_aws.ports.recall import Candidates, Hits
from hindsight_aws.recall.fusion import Fused
from hindsight_aws.recall.request import RecallQuery

_METHODS = (("semantic", "semantic", "similarity"), ("keyword", "bm25", "bm25_score"))
_ENTRY_POINTS = 10


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
        candidates: Candidates,
        fused: Sequence[Fused],
        results: Sequence[RankedUnit],
        units: Mapping[UnitId, RecalledUnit],
    ) -> dict[str, object]:
        """Everything as the answer's `trace`."""
        return {
            "query": {
                "query_text": query.query,
                "query_embedding": None,
                "timestamp": None if query.now is None else query.now.isoformat(),
                "budget": query.budget.value,
                "max_tokens": query.max_tokens,
                "temporal_constraint": None,
            },
            "retrieval_results": _arms(candidates, units),
            "entry_points": _entry_points(candidates, units),
            "rrf_merged": [_merged(candidate, units) for candidate in fused if candidate.id in units],
            "reranked": [_result(rank, result) for rank, result in enumerate(results, 1)],
            "summary": {
                "phase_metrics": self.phases,
                "results_returned": len(results),
                "total_nodes_considered": len(fused),
                "degraded": self.degraded,
            },
        }


def _arms(candidates: Candidates, units: Mapping[UnitId, RecalledUnit]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for arm, method, score_name in _METHODS:
        by_type: Mapping[str, Hits] | None = getattr(candidates, arm)
        for fact_type, hits in (by_type or {}).items():
            found.append(
                {
                    "method": method,
                    "fact_type": fact_type,
                    "candidates": len(hits),
                    "results": [
                        {
                            "rank": rank,
                            "node_id": str(id_),
                            "text": units[id_].text,
                            "score": score,
                            "score_name": score_name,
                        }
                        for rank, (id_, score) in enumerate(hits, 1)
                        if id_ in units
                    ],
                }
            )
    return found


def _entry_points(candidates: Candidates, units: Mapping[UnitId, RecalledUnit]) -> list[dict[str, object]]:
    hits = sorted(
        (hit for hits in (candidates.semantic or {}).values() for hit in hits), key=lambda hit: (-hit[1], hit[0])
    )
    seen = [hit for hit in hits if hit[0] in units][:_ENTRY_POINTS]
    return [
        {"rank": rank, "node_id": str(id_), "text": units[id_].text, "similarity_score": score}
        for rank, (id_, score) in enumerate(seen, 1)
    ]


def _merged(candidate: Fused, units: Mapping[UnitId, RecalledUnit]) -> dict[str, object]:
    return {
        "node_id": str(candidate.id),
        "text": units[candidate.id].text,
        "score": candidate.score,
        "rrf_score": candidate.reciprocal_rank,
        "source_ranks": dict(candidate.ranks),
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
