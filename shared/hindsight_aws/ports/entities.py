"""Entities: names that facts mention, as retain finds and writes them and as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.entity import EntityKind, ResolvedEntity
from hindsight_aws.model.ids import BankId, EntityId, UnitId
from hindsight_aws.ports.listing import Page


@dataclass(frozen=True, slots=True)
class NameProbe:
    """A name to look for: `key` as name_key makes it, and the keys of names that may be like it.

    `words` is what its similarity to them is measured by, None where the caller does so itself.
    """

    key: str
    words: str | None
    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity of the bank; `last_dated` is the latest time of its facts.

    `spellings` are names of other words that were taken for it: some of them, where there are very many.
    """

    entity_id: EntityId
    name: str
    name_key: str
    kind: EntityKind
    mentions: int
    last_dated: datetime | None
    spellings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity that a probe of key `asked` found.

    `similarity` is that of their trigrams, None where it was not measured; `is_spelling`: the entity is known by it.
    """

    asked: str
    entity: KnownEntity
    similarity: float | None
    is_spelling: bool


@dataclass(frozen=True, slots=True)
class Mention:
    """A fact names an entity; `at` is the fact's own time where it has one."""

    unit_id: UnitId
    entity: ResolvedEntity
    at: datetime | None


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity, with mentions and dates over the memories in sight.

    `spellings` are other names it is known by; to whom not all of the bank is in sight they are not shown.
    """

    id: UUID
    name: str
    mentions: int
    first_seen: datetime | None
    last_seen: datetime | None
    spellings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityPair:
    """Two entities that memories in sight name together: how many, and when last."""

    one: UUID
    other: UUID
    weight: int
    last: datetime | None


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """Pairs by weight, the entities they join by mentions, and how many of each there are in sight."""

    nodes: Sequence[EntityView]
    edges: Sequence[EntityPair]
    total_nodes: int
    total_edges: int


class Entities(Protocol):
    """The entities of the transaction's tenant."""

    def known(self, bank_id: BankId, probes: Sequence[NameProbe]) -> list[FoundEntity]:
        """Entities of these names, or spelled so, or that share a key with one; labels are found by name alone."""
        ...

    def companions(self, bank_id: BankId, entity_ids: Sequence[EntityId], most: int) -> Mapping[str, Sequence[str]]:
        """Name keys of those named together with each entity, by its name key; about `most` of each at most."""
        ...

    def claim(self, bank_id: BankId, coming: Sequence[ResolvedEntity], leaving: Sequence[UnitId]) -> None:
        """Keeps entities from change: those to be mentioned, made where missing, and those that leaving facts name.

        Called before either where facts take the place of others, so that all are locked in the order of their names.
        """
        ...

    def mention(self, bank_id: BankId, mentions: Sequence[Mention]) -> None:
        """Joins facts to entities, made where missing, and counts mentions and co-occurrences.

        What an entity is found by, and the spelling it was mentioned by, is kept with it.  The first spelling of its
        own name stays.
        """
        ...

    def page(self, bank_id: BankId, sight: Sight | None, limit: int, offset: int) -> Page[EntityView]:
        """Entities by mentions; sight None is the whole bank."""
        ...

    def view(self, bank_id: BankId, sight: Sight | None, entity_id: UUID) -> EntityView | None:
        """One entity that some memory in sight mentions, or None."""
        ...

    def graph(self, bank_id: BankId, sight: Sight, limit: int, least: int) -> EntityGraph:
        """The heaviest pairs of weight `least` or more, `limit` at most, counted over memories in sight alone."""
        ...
