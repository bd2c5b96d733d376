"""Finds the entity that each name of new facts stands for, by one rule for names of one retain and of two.

Called by retain and by edits of a fact's entities; calls the Entities port, for reading only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hindsight_aws.entities.company import Company
from hindsight_aws.entities.groups import Group, Groups, Name
from hindsight_aws.entities.spelling import lookup_keys, spelling_of, whole_key
from hindsight_aws.model.entity import EntityKind, EntityName, MatchRule, ResolvedEntity, name_key, tidy_name
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.entities import Entities, NameProbe
from hindsight_aws.text.trigrams import is_measured_alike

MOST_COMPANIONS: Final = 256
"""Companions of an entity that are looked at: with so many, each alone weighs 1/16 at most."""


@dataclass(frozen=True, slots=True)
class FactNames:
    """The names of one fact, and when it happened."""

    names: tuple[EntityName, ...]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Naming:
    """What the names of a retain stand for, by the key of the name."""

    entities: Mapping[str, ResolvedEntity] = field(default_factory=dict)

    def of(self, names: Iterable[EntityName]) -> tuple[ResolvedEntity, ...]:
        """What a fact's names stand for, in their order; two of them may be one entity in two spellings."""
        return tuple(self.entities[name_key(name.text)] for name in names)


@dataclass(frozen=True, slots=True)
class _Match:
    group: Group
    rule: MatchRule


def merged(names: Iterable[EntityName]) -> tuple[EntityName, ...]:
    """A fact's names, each once in its first spelling; the stricter reading wins.  What is no name is left out."""
    first: dict[str, EntityName] = {}
    for given in names:
        text = tidy_name(given.text)
        if text is None:
            continue
        known = first.get(name_key(text), EntityName(text, given.kind, given.is_literal))
        kind: EntityKind = "label" if "label" in (known.kind, given.kind) else "regular"
        first[name_key(text)] = EntityName(known.text, kind, known.is_literal or given.is_literal)
    return tuple(first.values())


def resolve(entities: Entities, bank_id: BankId, facts: Sequence[FactNames], floor: float) -> Naming:
    """What each name of these facts (as `merged` gives them) stands for.

    `floor` is the least trigram similarity of names that may be one.

    Guarantees: writes nothing; the order of the facts does not matter; a name that stands for an entity goes on to
    stand for it as long as the entity is there.
    """
    names = sorted(_gathered(facts), key=lambda name: name.rank)
    if not names:
        return Naming()
    groups = Groups(floor)
    known_as = _take_known(entities, bank_id, groups, names)
    matches = _exact(groups, known_as, names)
    new: list[Group] = []
    for name in names:
        if name.spelling.key not in matches:
            same = groups.of_the_same_words(name)
            matches[name.spelling.key] = _Match(same, "words") if same else _Match(groups.open(name), "exact")
            new += [] if same else [matches[name.spelling.key].group]
    _settle(entities, bank_id, groups, new, _company(facts, matches))
    leading = _leading(names, matches)
    return Naming({name.spelling.key: _resolved(name, matches, leading) for name in names})


def _gathered(facts: Sequence[FactNames]) -> Iterable[Name]:
    names: dict[str, Name] = {}
    for fact in facts:
        for given in fact.names:
            spelling = spelling_of(given.text)
            name = names.get(spelling.key)
            if name is None:
                name = Name(len(names), given.text, given.kind, given.is_literal, spelling, lookup_keys(spelling))
                names[spelling.key] = name
            name.kind = given.kind if given.kind == "label" else name.kind
            name.is_literal |= given.is_literal
            name.facts += 1
    return names.values()


def _take_known(entities: Entities, bank_id: BankId, groups: Groups, names: Sequence[Name]) -> dict[str, Group]:
    """Takes the bank's entities that may be meant; returns those that are known by a spelling other than their name."""
    probes = [_probe(name) for name in names]
    known_as: dict[str, Group] = {}
    for found in entities.known(bank_id, probes):
        group = groups.take(found.entity)
        if found.similarity is not None:
            group.trigrams[found.asked] = found.similarity
        if found.is_spelling:
            known_as[found.asked] = group
    return known_as


def _probe(name: Name) -> NameProbe:
    text = name.spelling.text
    words = text if is_measured_alike(text) else None
    return NameProbe(name.spelling.key, words, () if name.is_fixed else name.keys)


def _exact(groups: Groups, known_as: Mapping[str, Group], names: Sequence[Name]) -> dict[str, _Match]:
    """Names that are an entity's own, or a spelling it is known by; those that mean just themselves are opened."""
    matches: dict[str, _Match] = {}
    for name in names:
        key = name.spelling.key
        own = groups.named(key)
        if own is None and name.is_fixed:
            own = groups.open(name)
        if own is not None:
            matches[key] = _Match(own, "exact")
        elif key in known_as:
            matches[key] = _Match(known_as[key], "spelling")
    return matches


def _company(facts: Sequence[FactNames], matches: Mapping[str, _Match]) -> Company:
    company = Company()
    for fact in facts:
        company.fact((matches[name_key(name.text)].group.key for name in fact.names), fact.at)
    return company


def _settle(entities: Entities, bank_id: BankId, groups: Groups, new: Sequence[Group], company: Company) -> None:
    """Joins new groups to those that they are alike to and whose company they keep."""
    near = {group.key: [other for other, _ in groups.near(group)] for group in new}
    stored = {other.key: other.known for others in near.values() for other in others if other.known is not None}
    if stored:
        beside = {other for key, others in near.items() if others for other in company.of(key)}
        for key in beside:
            group = groups.named(key)
            if group is not None and group.known is not None:
                stored[key] = group.known
        ids = [entity.entity_id for entity in stored.values()]
        for key, others in entities.companions(bank_id, ids, MOST_COMPANIONS).items():
            company.stored(key, others)
        for key, entity in stored.items():
            company.seen(key, entity.last_dated)
    groups.settle(new, company)


def _leading(names: Sequence[Name], matches: Mapping[str, _Match]) -> dict[str, Name]:
    """The name that each new entity gets, by its group: a literal one, else the most mentioned, else the first come."""
    leading: dict[str, Name] = {}
    for name in sorted(names, key=lambda name: (not name.is_fixed, -name.facts, name.place)):
        group = matches[name.spelling.key].group.last
        if group.known is None:
            leading.setdefault(group.key, name)
    return leading


def _resolved(name: Name, matches: Mapping[str, _Match], leading: Mapping[str, Name]) -> ResolvedEntity:
    match = matches[name.spelling.key]
    group = match.group.last
    leader = leading.get(group.key)
    own, text = (leader.spelling, leader.text) if leader else (group.spellings[0], group.name)
    rule, score = match.rule, match.group.sureness
    if leader is not None:
        score = min(score, matches[leader.spelling.key].group.sureness)
        rule = "exact" if leader is name else "words" if leader.spelling.words == name.spelling.words else "likeness"
    elif match.group is not group:
        rule = "likeness"
    keys = {*lookup_keys(own), *whole_key(name.spelling)} if group.kind == "regular" else set[int]()
    exact = rule in {"exact", "words", "spelling"}
    return ResolvedEntity(text, group.kind, name.text, rule, 1.0 if exact else score, own.text, tuple(sorted(keys)))
