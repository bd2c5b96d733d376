"""What a recall is asked: the query with its limits, checked.  Made by the API's route; read by all of recall/."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from hindsight_aws.errors import InvalidField
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.model.watermark import Watermark
from hindsight_aws.ports.model_gateway import QueryVector
from hindsight_aws.ports.recall import Period, TimeFilter

FACT_TYPES = ("world", "experience", "observation")
LEAST_DEADLINE_MS, MOST_DEADLINE_MS = 10, 25_000
"""The gateway stops waiting after 30 s: a recall that may take longer would answer nobody."""
MOST_WAIT_MS = 20_000
_RETIRED = "opinion"
_WORD_CHARACTER = re.compile(r"\w")
_SURROGATES = re.compile("[\ud800-\udfff]")


class Budget(StrEnum):
    """How many candidates each arm may bring."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class MinScores:
    """Inclusive floors: `semantic` and `keyword` bound their own arm only, `reranker` and `final` the results."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None


@dataclass(frozen=True, slots=True)
class After:
    """A write that the caller knows by its token; up to `wait_ms` is waited until it is `visible` or `consolidated`.

    Raises: InvalidField for a wait below 0 or of more than 20 s.
    """

    watermark: Watermark
    wait_ms: int = 0
    wait_for: Literal["visible", "consolidated"] = "visible"

    def __post_init__(self) -> None:
        if not 0 <= self.wait_ms <= MOST_WAIT_MS:
            raise InvalidField("wait_ms", f"must be from 0 to {MOST_WAIT_MS:,}")


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to a bank.

    `fact_types` is a selection of world, experience and observation, in the order that breaks ties (see
    `fact_types_of`). `max_tokens` bounds the facts' texts alone; 0 or less: no facts.  `now` is the instant that ages
    are counted to; None: the clock's.  `chunk_tokens`, `source_tokens`: None leaves that part out; `source_tokens` -1
    is without limit, and so is `tokens_per_observation`, which when 0 or more takes the place of the total.
    `temporal_window` is the time that the question is about, in place of what its words say: it ranks, while `times`
    leaves everything else out.  `deadline_ms` bounds how long is looked, from now on; `after` asks about a write, and
    may wait for it.  `vector` is that of the query where the caller had it made already: no wire brings one.

    Raises: InvalidField for a query without a word character, a period that ends before it begins, a deadline that is
    too short or too long, and a moment of the past with what has no meaning then.
    """

    query: str
    fact_types: tuple[str, ...] = FACT_TYPES
    budget: Budget = Budget.MID
    max_tokens: int = 4096
    tags: TagFilter = field(default_factory=TagFilter)
    now: datetime | None = None
    prefer_observations: bool | None = None
    min_scores: MinScores = field(default_factory=MinScores)
    with_entities: bool = True
    chunk_tokens: int | None = None
    source_tokens: int | None = None
    tokens_per_observation: int = -1
    with_quotes: bool = False
    with_trace: bool = False
    temporal_window: Period | None = None
    times: TimeFilter = field(default_factory=TimeFilter)
    deadline_ms: int | None = None
    after: After | None = None
    vector: QueryVector | None = None

    def __post_init__(self) -> None:
        if not _WORD_CHARACTER.search(self.query):
            raise InvalidField("query", "must contain at least one word character")
        if self.deadline_ms is not None and not LEAST_DEADLINE_MS <= self.deadline_ms <= MOST_DEADLINE_MS:
            raise InvalidField("deadline_ms", f"must be from {LEAST_DEADLINE_MS} to {MOST_DEADLINE_MS:,}")
        if self.times.as_of is not None and self.after is not None:
            raise InvalidField("as_of", "cannot be combined with `after`: no later write was known then")
        if self.times.as_of is not None and (self.times.updated_after or self.times.updated_before):
            raise InvalidField("as_of", "cannot be combined with `created_after` or `created_before`")
        _check_runs_forward("temporal_window", self.temporal_window)
        _check_runs_forward("only_between", self.times.only_between)

    @property
    def sound_query(self) -> str:
        """The query without lone surrogates and NUL, which no model or database takes."""
        return _SURROGATES.sub("", self.query).replace("\0", " ")


def _check_runs_forward(name: str, period: Period | None) -> None:
    if period is not None and period[1] < period[0]:
        raise InvalidField(name, "must not end before it starts")


def fact_types_of(names: Iterable[str] | None) -> tuple[str, ...]:
    """The types a request names, each once, in its order.

    None or an empty list means all; the retired `opinion` is dropped.

    Raises: InvalidField naming the unknown ones.
    """
    asked = list(dict.fromkeys(names or ()))
    unknown = [name for name in asked if name not in FACT_TYPES and name != _RETIRED]
    if unknown:
        raise InvalidField(
            "types", f"holds unknown fact types: {', '.join(unknown)[:200]}; valid ones are {', '.join(FACT_TYPES)}"
        )
    return tuple(name for name in asked if name != _RETIRED) if asked else FACT_TYPES
