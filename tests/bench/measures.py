"""How well a ranking finds what answers a question.  Used by tests/bench/locomo.py; pure."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import astuple, dataclass, fields
from math import log2

_GAIN_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares of the evidence among the first so many, 1 over the first hit's rank, gain at ten, and all that came."""

    recall_5: float
    recall_10: float
    recall_20: float
    mrr: float
    ndcg_10: float
    in_budget: float


NAMES = ("recall@5", "recall@10", "recall@20", "MRR", "nDCG@10", "recall@budget")


def quality(ranked: Sequence[str], evidence: Set[str]) -> Quality:
    """The measures of one ranking, best first; what is there twice counts at its first place."""
    hits = [place for place, found in enumerate(dict.fromkeys(ranked)) if found in evidence]

    def share(depth: int) -> float:
        return sum(place < depth for place in hits) / len(evidence)

    gain = sum(1 / log2(place + 2) for place in hits if place < _GAIN_DEPTH)
    best = sum(1 / log2(place + 2) for place in range(min(_GAIN_DEPTH, len(evidence))))
    return Quality(
        recall_5=share(5),
        recall_10=share(10),
        recall_20=share(20),
        mrr=1 / (hits[0] + 1) if hits else 0.0,
        ndcg_10=gain / best,
        in_budget=len(hits) / len(evidence),
    )


def mean(found: Sequence[Quality]) -> Quality:
    """Each measure's mean over the questions."""
    return Quality(
        **{each.name: sum(getattr(one, each.name) for one in found) / len(found) for each in fields(Quality)}
    )


def row(title: str, questions: int, of: Quality) -> str:
    """One line of a table in Markdown."""
    return f"| {title} | {questions} | " + " | ".join(f"{value:.3f}" for value in astuple(of)) + " |"


def head(title: str) -> str:
    """The first two lines of such a table."""
    return f"| {title} | questions | " + " | ".join(NAMES) + " |\n" + "|---" * (len(NAMES) + 2) + "|"
