"""What one recall works with, once the bank is found and the query checked.  Made by recall/recall.py."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hindsight_aws.access import Sight
from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.recalled import Believed
from hindsight_aws.ports.recall import Census
from hindsight_aws.recall.deadline import Deadline
from hindsight_aws.recall.request import RecallQuery
from hindsight_aws.recall.trace import Trace
from hindsight_aws.recall.when.window import Window
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """A question before any bank is known: who asks what, at what moment, and until when an answer is of use."""

    settings: Settings
    principal: Principal
    query: RecallQuery
    present: datetime
    deadline: Deadline | None = None

    @property
    def nothing_believed(self) -> Believed | None:
        """What an answer without anything says of the past, where it was asked about."""
        as_of = self.query.times.as_of
        return None if as_of is None else Believed(as_of, self.deadline is None or not self.deadline.cut)

    @property
    def cut(self) -> tuple[str, ...] | None:
        """What was left out for the sake of the deadline; None where there is none."""
        return None if self.deadline is None else tuple(self.deadline.cut)


@dataclass(frozen=True, slots=True)
class Task:
    """A question to a bank with all that answers depend on.

    `terms` are the index terms of its text that are looked for, none where the bank is not searched by words;
    `windows` is the time it is about, empty for none.  `is_parked`: the tenant's model work waits, so that no model is
    asked for this either.
    """

    query: RecallQuery
    text: str
    terms: tuple[str, ...]
    principal: Principal
    bank: Bank
    config: BankConfig
    settings: Settings
    sight: Sight
    census: Census
    limit: int
    now: datetime
    windows: tuple[Window, ...]
    trace: Trace
    deadline: Deadline | None = None
    is_parked: bool = False

    def cut(self, asked: Asked) -> tuple[str, ...] | None:
        """What was left out for the sake of a deadline, or because no model was to be asked; None: nothing can be."""
        if not self.is_parked:
            return asked.cut
        return tuple(dict.fromkeys((*(asked.cut or ()), *self.trace.degraded)))

    @property
    def fact_types(self) -> tuple[str, ...]:
        """The types asked for that the caller may see, in the order that breaks ties."""
        return tuple(fact_type for fact_type in self.query.fact_types if fact_type in self.sight.fact_types)
