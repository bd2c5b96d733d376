"""Names that are one entity, as a run of resolve finds them: the bank's entities, and those that come with new facts.

Pure; used by resolve.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hindsight_aws.entities.company import LEAST_SCORE, Company
from hindsight_aws.entities.likeness import likeness
from hindsight_aws.entities.spelling import Spelling, lookup_keys, spelling_of
from hindsight_aws.model.entity import EntityKind
from hindsight_aws.ports.entities import KnownEntity
from hindsight_aws.text.trigrams import similarity


@dataclass(slots=True)
class Name:
    """A name as the facts of a retain give it, in its first spelling; literal if one fact says so.

    `place` is where it comes among the names, first come first.
    """

    place: int
    text: str
    kind: EntityKind
    is_literal: bool
    spelling: Spelling
    keys: tuple[int, ...]
    facts: int = 0

    @property
    def is_fixed(self) -> bool:
        """Whether it means the entity of exactly this name."""
        return self.is_literal or self.kind == "label"

    @property
    def rank(self) -> tuple[int, int, str]:
        """The order in which names are looked at: the most mentioned first, then the shortest."""
        return -self.facts, len(self.spelling.key), self.spelling.key


@dataclass(slots=True, eq=False)
class Group:
    """Names that are one entity; `trigrams` is what the database has measured, by the key of the name asked for.

    A group that turned out to be another points `into` it, by its `score`.
    """

    name: str
    kind: EntityKind
    mentions: int
    spellings: list[Spelling]
    known: KnownEntity | None = None
    trigrams: dict[str, float] = field(default_factory=dict)
    into: Group | None = None
    score: float = 1.0

    @property
    def key(self) -> str:
        """The name key of the entity, or of the new one's name that was looked at first."""
        return self.spellings[0].key

    @property
    def last(self) -> Group:
        """The group it turned out to be."""
        return self if self.into is None else self.into.last

    @property
    def sureness(self) -> float:
        """The least score by which it came to be that group."""
        return 1.0 if self.into is None else min(self.score, self.into.sureness)

    def is_alike(self, other: Group, floor: float) -> float | None:
        """How alike the names of two groups are, or None where a spelling of one speaks against one of the other."""
        for ours in self.spellings:
            if any(likeness(ours, theirs) is None for theirs in other.spellings):
                return None
        measured = self.trigrams.get(other.key)
        trigrams = similarity(self.spellings[0].text, other.spellings[0].text) if measured is None else measured
        return likeness(self.spellings[0], other.spellings[0]) if round(trigrams, 6) >= floor else None


class Groups:
    """The groups of one run, by entity and by lookup key."""

    def __init__(self, floor: float) -> None:
        self._floor = floor
        self._by_name: dict[str, Group] = {}
        self._by_key: dict[int, list[Group]] = defaultdict(list)

    def take(self, entity: KnownEntity) -> Group:
        """An entity of the bank."""
        group = self._by_name.get(entity.name_key)
        if group is None:
            written = [spelling_of(spelling) for spelling in (entity.name, *entity.spellings)]
            group = Group(entity.name, entity.kind, entity.mentions, written, entity)
            self._add(group, (key for spelling in written for key in lookup_keys(spelling)))
        return group

    def open(self, name: Name) -> Group:
        """A new entity of this name."""
        group = Group(name.text, name.kind, name.facts, [name.spelling])
        self._add(group, name.keys)
        return group

    def named(self, key: str) -> Group | None:
        """The entity whose own name this is."""
        return self._by_name.get(key)

    def of_the_same_words(self, name: Name) -> Group | None:
        """The most mentioned entity that is written with the same words in the same order."""
        words = name.spelling.words
        same = [g for g in self._near(name.keys) if words and any(s.words == words for s in g.spellings)]
        return min(same, key=lambda group: (-group.mentions, group.key), default=None)

    def near(self, group: Group) -> list[tuple[Group, float]]:
        """Groups that are like the group, whatever their company, and how much."""
        others = self._near(lookup_keys(group.spellings[0]))
        measured = [(other, other.is_alike(group, self._floor)) for other in others if other is not group]
        return [(other, alike) for other, alike in measured if alike is not None]

    def settle(self, new: Sequence[Group], company: Company) -> None:
        """Joins new groups to those that they are most surely the same as: the bank's, or new ones before them.

        A join brings company together, so it goes on until nothing joins: two pairs that stand in each other's company
        come out alike, whichever is looked at first.
        """
        places = {group.key: place for place, group in enumerate(new)}
        likely = [group for group in new if self.near(group)]
        while True:
            joined = [group for group in likely if group.into is None and self._join(group, places, company)]
            if not joined:
                return

    def _join(self, group: Group, places: Mapping[str, int], company: Company) -> bool:
        best: tuple[float, int, str] | None = None
        for other, alike in self.near(group):
            score = company.score(group.key, other.key, alike)
            if score >= LEAST_SCORE and places.get(other.key, -1) < places[group.key]:
                rank = (-score, -other.mentions, other.key)
                best = rank if best is None else min(best, rank)
        if best is None:
            return False
        target = self._by_name[best[2]]
        group.into, group.score = target, -best[0]
        target.spellings += group.spellings
        target.mentions += group.mentions
        company.join(group.key, target.key)
        return True

    def _add(self, group: Group, keys: Iterable[int]) -> None:
        self._by_name[group.key] = group
        if group.kind == "regular":
            for key in set(keys):
                self._by_key[key].append(group)

    def _near(self, keys: Iterable[int]) -> list[Group]:
        return list(dict.fromkeys(group for key in keys for group in self._by_key.get(key, ()) if group.into is None))
