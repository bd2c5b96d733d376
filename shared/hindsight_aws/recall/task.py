"""What one recall works with, once the bank is found and the query checked.  Made by recall/recall.py."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hindsight_aws.access import Sight
from hindsight_aws.banks.config import BankConfig
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.recall import Census
from hindsight_aws.recall.request import RecallQuery
from hindsight_aws.recall.trace import Trace
from hindsight_aws.recall.when.window import Window
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class Task:
    """A question to a bank with all that answers depend on; `windows` is the time it is about, empty for none."""

    query: RecallQuery
    text: str
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

    @property
    def fact_types(self) -> tuple[str, ...]:
        """The types asked for that the caller may see, in the order that breaks ties."""
        return tuple(fact_type for fact_type in self.query.fact_types if fact_type in self.sight.fact_types)
