"""A fact as extraction found it, before it has an id, a vector or labels.

And its form as JSON, which is what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, cast

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.retain.extraction.wording import says_something

RetainedType = Literal["world", "experience"]


@dataclass(frozen=True, slots=True)
class FoundFact:
    """`causes` are places, within the same extraction, of earlier facts this one follows from.

    `where` is in the text already.  `labels` are entities of a controlled vocabulary, as `key:value`, never merged with
    names; `label_tags` are those of them that become tags of the fact as well.
    """

    text: str
    fact_type: RetainedType = "world"
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    entities: tuple[str, ...] = ()
    causes: tuple[int, ...] = ()
    where: str | None = None
    labels: tuple[str, ...] = ()
    label_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one chunk gave: its facts in order, and a sentence for each part that was lost, or kept as it stands."""

    facts: tuple[FoundFact, ...]
    problems: tuple[str, ...] = ()

    def followed_by(self, later: Extraction) -> Extraction:
        """Both as one; the later one's causes move with its facts, so they never point into the earlier one."""
        shift = len(self.facts)
        moved = tuple(replace(fact, causes=tuple(cause + shift for cause in fact.causes)) for fact in later.facts)
        return Extraction(self.facts + moved, self.problems + later.problems)


def as_it_stands(text: str, *problems: str) -> Extraction:
    """The extraction of a text that is its own fact; a text that says nothing to a reader gives none."""
    return Extraction((FoundFact(text),) if says_something(text) else (), problems)


def as_one(extraction: Extraction, text: str) -> Extraction:
    """One fact whose text is `text` word for word, with what was found of it.

    Of several the first counts, for type and dates; entities and labels are gathered.
    """
    if not extraction.facts:
        return as_it_stands(text, *extraction.problems)
    whole = replace(
        extraction.facts[0],
        text=text,
        causes=(),
        entities=tuple(dict.fromkeys(name for fact in extraction.facts for name in fact.entities)),
        labels=tuple(dict.fromkeys(label for fact in extraction.facts for label in fact.labels)),
        label_tags=tuple(dict.fromkeys(tag for fact in extraction.facts for tag in fact.label_tags)),
    )
    return Extraction((whole,), extraction.problems)


def to_json(extraction: Extraction) -> JsonObject:
    """The extraction as rows keep it."""
    return {"facts": [_fact_to_json(fact) for fact in extraction.facts], "problems": list(extraction.problems)}


def from_json(kept: Mapping[str, object]) -> Extraction:
    """What `to_json` wrote; what a former version did not keep is empty."""
    facts = tuple(_fact_from_json(fact) for fact in cast("Sequence[JsonObject]", kept["facts"]))
    return Extraction(facts, tuple(cast("list[str]", kept["problems"])))


def _fact_to_json(fact: FoundFact) -> JsonObject:
    return {
        "text": fact.text,
        "fact_type": fact.fact_type,
        "occurred_start": _iso(fact.occurred_start),
        "occurred_end": _iso(fact.occurred_end),
        "entities": list(fact.entities),
        "causes": list(fact.causes),
        "where": fact.where,
        "labels": list(fact.labels),
        "label_tags": list(fact.label_tags),
    }


def _fact_from_json(fact: JsonObject) -> FoundFact:
    return FoundFact(
        text=cast("str", fact["text"]),
        fact_type=cast("RetainedType", fact["fact_type"]),
        occurred_start=_moment(fact["occurred_start"]),
        occurred_end=_moment(fact["occurred_end"]),
        entities=tuple(cast("list[str]", fact["entities"])),
        causes=tuple(cast("list[int]", fact["causes"])),
        where=cast("str | None", fact.get("where")),
        labels=tuple(cast("list[str]", fact.get("labels", []))),
        label_tags=tuple(cast("list[str]", fact.get("label_tags", []))),
    )


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: object) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None
