"""Tag filters: which memories a request, or a key, may see by their tags.  Pure; one meaning everywhere.

Used by recall, browse, reflect, access.py and the keys' forced tags; store/tag_predicate.py gives the same meaning to
Postgres.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

from hindsight_aws.errors import InvalidField

DEEPEST_GROUP = 8
MOST_LEAVES = 50
MOST_TAGS = 200

Resolve = Literal["exact", "fuzzy"]


class TagsMatch(StrEnum):
    """How a memory's tags must relate to the wanted ones; strict modes leave untagged memories out."""

    ANY = "any"
    ALL = "all"
    ANY_STRICT = "any_strict"
    ALL_STRICT = "all_strict"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class TagLeaf:
    """One condition.

    Without tags, `any_strict` holds for nothing, `all_strict` for the tagged, `any` and `exact` for the untagged.
    """

    tags: frozenset[str]
    match: TagsMatch = TagsMatch.ANY_STRICT
    resolve: Resolve = "exact"

    def matches(self, tags: Collection[str]) -> bool:
        """Whether a memory with these tags meets the condition; a fuzzy leaf is taken as it stands."""
        present = frozenset(tags)
        match self.match:
            case TagsMatch.EXACT:
                return present == self.tags
            case TagsMatch.ANY_STRICT:
                return not present.isdisjoint(self.tags)
            case TagsMatch.ALL_STRICT:
                return bool(present) and present >= self.tags
            case TagsMatch.ANY:
                return not present or not present.isdisjoint(self.tags)
            case TagsMatch.ALL:
                return not present or present >= self.tags


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every group must hold; none given: always holds."""

    groups: tuple[TagGroup, ...]

    def matches(self, tags: Collection[str]) -> bool:
        """Whether all the groups hold for these tags."""
        return all(group.matches(tags) for group in self.groups)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one group must hold; none given: never holds."""

    groups: tuple[TagGroup, ...]

    def matches(self, tags: Collection[str]) -> bool:
        """Whether one of the groups holds for these tags."""
        return any(group.matches(tags) for group in self.groups)


@dataclass(frozen=True, slots=True)
class Not:
    """The group must not hold."""

    group: TagGroup

    def matches(self, tags: Collection[str]) -> bool:
        """Whether the group fails for these tags."""
        return not self.group.matches(tags)


TagGroup: TypeAlias = TagLeaf | AllOf | AnyOf | Not


@dataclass(frozen=True, slots=True)
class TagFilter:
    """Groups that must all hold; without groups everything passes."""

    groups: tuple[TagGroup, ...] = field(default=())

    @classmethod
    def flat(cls, tags: Iterable[str] | None, match: TagsMatch = TagsMatch.ANY) -> TagFilter:
        """The filter of a request's `tags` and `tags_match`.

        No tags means no filter, but with `exact` the untagged.
        """
        wanted = frozenset(tags or ())
        return cls((TagLeaf(wanted, match),)) if wanted or match is TagsMatch.EXACT else cls()

    def narrowed(self, group: TagGroup | None) -> TagFilter:
        """This filter with one more group that must hold: a key's forced tags."""
        return self if group is None else TagFilter((*self.groups, group))

    def matches(self, tags: Collection[str]) -> bool:
        """Whether a memory with these tags passes."""
        return all(group.matches(tags) for group in self.groups)

    def __bool__(self) -> bool:
        """Whether anything is filtered at all."""
        return bool(self.groups)

    @property
    def is_fuzzy(self) -> bool:
        """Whether some leaf still has to be resolved against the bank's tags."""
        return any(_is_fuzzy(group) for group in self.groups)


def parse_groups(value: object, at: str = "tag_groups") -> tuple[TagGroup, ...]:
    """The groups of a request's JSON list.  Raises InvalidField naming the place, as `parse_group`."""
    if not isinstance(value, list):
        raise InvalidField(at, "must be a list of tag groups")
    groups = tuple(_parse(item, f"{at}[{index}]", 1) for index, item in enumerate(value))
    _check(groups, at, stored=False)
    return groups


def accepted_groups(value: object) -> tuple[TagGroup, ...]:
    """The groups of a filter that was accepted, as `group_to_json` wrote them: no limit counts again.

    A flat list of tags is larger than groups in a request may be; resolving fuzzy leaves makes a filter larger and
    deeper, and an `or` of nothing where no tags in use are meant.

    Raises: InvalidField for what `group_to_json` never wrote.
    """
    if not isinstance(value, list):
        raise InvalidField("tags", "must be a list of tag groups")
    return tuple(map(_accepted, value))


def parse_group(value: object, at: str = "tag_group", *, stored: bool = False) -> TagGroup:
    """The group in JSON form: a leaf `{tags, match, resolve}`, `{and: […]}`, `{or: […]}` or `{not: …}`.

    One that is `stored`, to be used again and again, means the same each time: none of its leaves may be fuzzy.

    Raises: InvalidField naming the place, for another shape, an empty list, a leaf without tags that is not `exact`,
    a tree deeper than 8, more than 50 leaves, or more than 200 tags.
    """
    group = _parse(value, at, 1)
    _check((group,), at, stored=stored)
    return group


def group_to_json(group: TagGroup) -> dict[str, object]:
    """The JSON form of a group; `parse_group` gives back an equal one."""
    match group:
        case TagLeaf():
            return {"tags": sorted(group.tags), "match": group.match.value, "resolve": group.resolve}
        case AllOf():
            return {"and": [group_to_json(child) for child in group.groups]}
        case AnyOf():
            return {"or": [group_to_json(child) for child in group.groups]}
        case Not():
            return {"not": group_to_json(group.group)}


def _parse(value: object, at: str, depth: int) -> TagGroup:
    if depth > DEEPEST_GROUP:
        raise InvalidField(at, f"is nested deeper than {DEEPEST_GROUP} groups")
    if not isinstance(value, Mapping):
        raise InvalidField(at, "must be an object")
    kinds = [kind for kind in ("tags", "and", "or", "not") if kind in value]
    if len(kinds) != 1:
        raise InvalidField(at, "must have exactly one of `tags`, `and`, `or`, `not`")
    match kinds[0]:
        case "tags":
            return _parse_leaf(value, at)
        case "not":
            return Not(_parse(value["not"], f"{at}.not", depth + 1))
        case kind:
            children = value[kind]
            if not isinstance(children, list) or not children:
                raise InvalidField(f"{at}.{kind}", "must be a list of at least one group")
            parsed = tuple(_parse(child, f"{at}.{kind}[{index}]", depth + 1) for index, child in enumerate(children))
            return AllOf(parsed) if kind == "and" else AnyOf(parsed)


def _accepted(value: object) -> TagGroup:
    match value:
        case {"and": [*children]}:
            return AllOf(tuple(map(_accepted, children)))
        case {"or": [*children]}:
            return AnyOf(tuple(map(_accepted, children)))
        case {"not": child}:
            return Not(_accepted(child))
        case Mapping() if "tags" in value:
            return _parse_leaf(value, "tags")
        case _:
            raise InvalidField("tags", "must be a tag group")


def _parse_leaf(value: Mapping[object, object], at: str) -> TagLeaf:
    tags = value["tags"]
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise InvalidField(f"{at}.tags", "must be a list of strings")
    mode = value.get("match", TagsMatch.ANY_STRICT)
    if not isinstance(mode, str) or mode not in list(TagsMatch):
        raise InvalidField(f"{at}.match", f"must be one of {', '.join(TagsMatch)}")
    resolve = value.get("resolve", "exact")
    if not tags and mode != TagsMatch.EXACT:
        raise InvalidField(f"{at}.tags", "must name a tag unless match is `exact`")
    match resolve:
        case "exact" | "fuzzy":
            return TagLeaf(frozenset(str(tag) for tag in tags), TagsMatch(mode), resolve)
        case _:
            raise InvalidField(f"{at}.resolve", "must be `exact` or `fuzzy`")


def _check(groups: Sequence[TagGroup], at: str, *, stored: bool) -> None:
    leaves = [leaf for group in groups for leaf in leaves_of(group)]
    if len(leaves) > MOST_LEAVES:
        raise InvalidField(at, f"has more than {MOST_LEAVES} leaves")
    if sum(len(leaf.tags) for leaf in leaves) > MOST_TAGS:
        raise InvalidField(at, f"names more than {MOST_TAGS} tags")
    if stored and any(leaf.resolve == "fuzzy" for leaf in leaves):
        raise InvalidField(at, "is stored, so none of its leaves may be `fuzzy`")


def leaves_of(group: TagGroup) -> list[TagLeaf]:
    """Every leaf of a group, in order."""
    match group:
        case TagLeaf():
            return [group]
        case Not():
            return leaves_of(group.group)
        case AllOf() | AnyOf():
            return [leaf for child in group.groups for leaf in leaves_of(child)]


def _is_fuzzy(group: TagGroup) -> bool:
    return any(leaf.resolve == "fuzzy" for leaf in leaves_of(group))
