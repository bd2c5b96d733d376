"""Names that are one and names that are two, and a bank of entities in memory that promises what Postgres does."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

from hindsight_aws.access import Sight
from hindsight_aws.entities import FactNames, Naming, merged, resolve
from hindsight_aws.model.entity import EntityName, ResolvedEntity, name_key
from hindsight_aws.model.ids import BankId, EntityId, UnitId
from hindsight_aws.ports.entities import (
    EntityGraph,
    EntityView,
    FoundEntity,
    KnownEntity,
    Mention,
    NameProbe,
)
from hindsight_aws.ports.listing import Page

FLOOR = 0.3
TODAY = datetime(2026, 3, 2, 9, tzinfo=UTC)

SIMILARITIES: list[tuple[str, str, float]] = [
    (left, right, measured)
    for left, right, measured in json.loads(
        (Path(__file__).parent.parent / "fixtures" / "name_similarity.json").read_text("utf-8")
    )
]
"""Pairs of texts with what `similarity` of pg_trgm answered, to six decimals."""

ONE: Mapping[str, tuple[str, str]] = {
    "R070-newline": ("Acme\nCorp", "Acme  Corp"),
    "R072-dotted-i": ("İstanbul", "istanbul"),
    "R073-case": ("Jazz Hour", "JAZZ hour"),
    "R075-hyphen": ("GPT-4", "GPT 4"),
    "R075-together": ("GPT4", "GPT-4"),
    "R075-emoji": ("Wren 🎵", "Wren"),
    "point-nought": ("GPT-4.0", "GPT-4"),
    "leading-zero": ("Gate 07", "Gate 7"),
    "initials": ("I.B.M.", "IBM"),
    "apostrophe": ("O’Brien", "OBrien"),
    "full-width": ("ＩＢＭ", "IBM"),
    "accents-left-out": ("São Paulo", "Sao Paulo"),
    "typo-left-out": ("Kubernetes", "Kubernets"),
    "typo-changed": ("Christopher Reyes", "Christofher Reyes"),
    "words-turned": ("Smith, John", "John Smith"),
}
"""Names of one thing, when facts of one day name them."""

TWO: Mapping[str, tuple[str, str]] = {
    "R074-first-name": ("John Smith", "Jane Smith"),
    "R075-room": ("Room 101", "Room 102"),
    "R075-version": ("GPT-4", "GPT-5"),
    "R075-flight": ("UA123", "UA124"),
    "R076-google": ("Google", "Googol"),
    "R076-anna": ("Anna", "Hanna"),
    "R077-part-of-a-name": ("Alice", "Alice Chen"),
    "number-on-one-side": ("GPT", "GPT-4"),
    "numbers-turned": ("Python 2.1", "Python 1.2"),
    "minor-version": ("Python 3.1", "Python 3.10"),
    "sign": ("C++", "C#"),
    "sign-on-one-side": ("C++", "C"),
    "zone": ("UTC+2", "UTC-2"),
    "ordinal": ("Elizabeth I", "Elizabeth II"),
    "letter": ("Vitamin A", "Vitamin B"),
    "ending": ("Martin", "Martina"),
    "initial": ("Marcel", "Darcel"),
    "twice": ("Duran", "Duran Duran"),
    "accents-on-both": ("Hạnh", "Hành"),
    "ideograph": ("東京第一病院本部", "東京第二病院本部"),
    "signs-alone": ("🎵", "🎶"),
    "two-typos": ("Elasticsearch", "Elastcserch"),
}
"""Names of two things, even when facts of one day name them in the same company."""


def named(*names: str, at: datetime | None = TODAY) -> FactNames:
    """A fact that gives these names."""
    return FactNames(merged(EntityName(name) for name in names), at)


class BankOfNames:
    """An Entities port in memory, for one bank: it finds by keys and spellings, and measures nothing."""

    def __init__(self) -> None:
        self.bank_id = BankId(uuid4())
        self._known: dict[str, KnownEntity] = {}
        self._keys: dict[int, set[str]] = defaultdict(set)
        self._spellings: dict[str, str] = {}
        self._unlike: dict[str, list[str]] = defaultdict(list)
        self._together: Counter[tuple[str, str]] = Counter()

    def retain(self, *facts: FactNames) -> Naming:
        """Resolves and mentions the names of these facts as one retain does."""
        naming = resolve(self, self.bank_id, facts, FLOOR)
        mentions = [
            Mention(unit_id, entity, fact.at)
            for fact in facts
            for unit_id in [UnitId(uuid4())]
            for entity in naming.of(fact.names)
        ]
        self.mention(self.bank_id, mentions)
        return naming

    def forget(self, name: str) -> None:
        """A pruner takes the entity."""
        del self._known[name_key(name)]

    def parts(self) -> set[frozenset[str]]:
        """The names of each entity, by their keys."""
        found = {key: {key} for key in self._known}
        for spelling, key in self._spellings.items():
            found[key].add(spelling)
        return {frozenset(names) for names in found.values()}

    def known(self, bank_id: BankId, probes: Sequence[NameProbe]) -> list[FoundEntity]:
        found = []
        for probe in probes:
            names = {probe.key, self._spellings.get(probe.key, probe.key)}
            names.update(name for key in probe.keys for name in self._keys.get(key, ()))
            spelt = self._spellings.get(probe.key)
            found += [
                FoundEntity(probe.key, self._known[name], None, name == spelt)
                for name in sorted(names & self._known.keys())
            ]
        return found

    def companions(self, bank_id: BankId, entity_ids: Sequence[EntityId], most: int) -> Mapping[str, Sequence[str]]:
        asked = {entity.name_key for entity in self._known.values() if entity.entity_id in set(entity_ids)}
        found: dict[str, list[str]] = defaultdict(list)
        for one, other in self._together:
            if one in asked:
                found[one].append(other)
        return found

    def claim(self, bank_id: BankId, coming: Sequence[ResolvedEntity], leaving: Sequence[UnitId]) -> None:
        """Nobody else is here to be kept out."""

    def mention(self, bank_id: BankId, mentions: Sequence[Mention]) -> None:
        of_fact: dict[UUID, set[str]] = defaultdict(set)
        for mention in mentions:
            entity = mention.entity
            before = self._known.get(entity.key)
            is_new = entity.key not in of_fact[mention.unit_id]
            of_fact[mention.unit_id].add(entity.key)
            if entity.rule in {"words", "likeness"}:
                self._spellings.setdefault(name_key(entity.spelling), entity.key)
            if entity.rule == "likeness":
                self._unlike[entity.key].append(entity.spelling)
            times = [time for time in (mention.at, before.last_dated if before else None) if time is not None]
            self._known[entity.key] = KnownEntity(
                before.entity_id if before else EntityId(uuid4()),
                before.name if before else entity.name,
                entity.key,
                entity.kind,
                (before.mentions if before else 0) + is_new,
                max(times, default=None),
                tuple(self._unlike[entity.key]),
            )
            for key in entity.keys:
                self._keys[key].add(entity.key)
        for names in of_fact.values():
            self._together.update((one, other) for one in names for other in names if one != other)

    def page(self, bank_id: BankId, sight: Sight | None, limit: int, offset: int) -> Page[EntityView]:
        raise NotImplementedError

    def view(self, bank_id: BankId, sight: Sight | None, entity_id: UUID) -> EntityView | None:
        raise NotImplementedError

    def graph(self, bank_id: BankId, sight: Sight, limit: int, least: int) -> EntityGraph:
        raise NotImplementedError
