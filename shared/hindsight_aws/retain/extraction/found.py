"""A fact as extraction found it, before it has an id, a vector or labels.

And its form as JSON, which is what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, cast

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

RetainedType = Literal["world", "experience"]


@dataclass(frozen=True, slots=True)
class FoundFact:
    """`causes` are places, within the same extraction, of earlier facts this one follows from."""

    text: str
    fact_type: RetainedType = "world"
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    entities: tuple[str, ...] = ()
    causes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one chunk gave: its facts in order, and one sentence for each that was lost because it was malformed."""

    facts: tuple[FoundFact, ...]
    problems: tuple[str, ...] = ()

    def followed_by(self, later: Extraction) -> Extraction:
        """Both as one; the later one's causes move with its facts, so they never point into the earlier one."""
        shift = len(self.facts)
        moved = tuple(replace(fact, causes=tuple(cause + shift for cause in fact.causes)) for fact in later.facts)
        return Extraction(self.facts + moved, self.problems + later.problems)


def to_json(extraction: Extraction) -> JsonObject:
    """The extraction as rows keep it."""
    facts: list[JsonValue] = [
        {
            "text": fact.text,
            "fact_type": fact.fact_type,
            "occurred_start": _iso(fact.occurred_start),
            "occurred_end": _iso(fact.occurred_end),
            "entities": list(fact.entities),
            "causes": list(fact.causes),
        }
        for fact in extraction.facts
    ]
    return {"facts": facts, "problems": list(extraction.problems)}


def from_json(kept: Mapping[str, object]) -> Extraction:
    """What `to_json` wrote."""
    facts = tuple(
        FoundFact(
            text=cast("str", fact["text"]),
            fact_type=cast("RetainedType", fact["fact_type"]),
            occurred_start=_moment(fact["occurred_start"]),
            occurred_end=_moment(fact["occurred_end"]),
            entities=tuple(cast("list[str]", fact["entities"])),
            causes=tuple(cast("list[int]", fact["causes"])),
        )
        for fact in cast("Sequence[JsonObject]", kept["facts"])
    )
    return Extraction(facts, tuple(cast("list[str]", kept["problems"])))


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: object) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None
