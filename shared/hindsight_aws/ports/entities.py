"""Entities: names that facts mention, as retain writes them and as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.ports.page import Page


@dataclass(frozen=True, slots=True)
class Mention:
    """A fact names an entity; `at` is the fact's own time where it has one."""

    unit_id: UnitId
    name: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity, with mentions and dates over the memories in sight."""

    id: UUID
    name: str
    mentions: int
    first_seen: datetime | None
    last_seen: datetime | None


class Entities(Protocol):
    """The entities of the transaction's tenant."""

    def mention(self, bank_id: BankId, mentions: Sequence[Mention]) -> None:
        """Joins facts to the entities of these names, made where missing, and counts mentions and co-occurrences.

        Two names are one entity when they are equal without regard to case; the first spelling stays.
        """
        ...

    def page(self, bank_id: BankId, sight: Sight | None, limit: int, offset: int) -> Page[EntityView]:
        """Entities by mentions; sight None is the whole bank."""
        ...

    def view(self, bank_id: BankId, sight: Sight | None, entity_id: UUID) -> EntityView | None:
        """One entity that some memory in sight mentions, or None."""
        ...
