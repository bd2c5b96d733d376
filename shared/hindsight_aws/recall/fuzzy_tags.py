"""Resolves the fuzzy leaves of a tag filter against the tags that a bank uses, once for a request.

Called by recall and reflect before they filter; calls ports/tags.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

from hindsight_aws.access import sight
from hindsight_aws.errors import InvalidField
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import AllOf, AnyOf, Not, TagFilter, TagGroup, TagLeaf, TagsMatch
from hindsight_aws.ports.store import Transaction
from hindsight_aws.text.trigrams import similarity

LEAST_ALIKE: Final = 0.45
"""How alike a tag must be to what was asked for: `typescropt` finds `typescript` (0.57), `mango` no `mongo` (0.33)."""
MOST_TAGS: Final = 5_000
MOST_COMBINATIONS: Final = 32
MOST_RESOLVED: Final = 1_000
"""Tags that a filter may name once it is resolved: each is looked for in every memory that an arm reads."""


def resolve_fuzzy(tx: Transaction, bank_id: BankId, tags: TagFilter, principal: Principal) -> TagFilter:
    """The filter with every fuzzy leaf in the bank's own tags; a filter without such leaves as it is.

    Only tags of memories that the principal may see are looked at: what a key cannot see is not named to it either.

    Raises: InvalidField for a bank of more than 5,000 such tags or 50,000 in all, for a leaf of `exact` that could mean
    more than 32 sets, for a filter that names more than 1,000 tags once it is resolved, and for a leaf below `not` with
    a tag that is like none: to exclude nothing would widen the answer by what was meant to be left out.
    """
    if not tags.is_fuzzy:
        return tags
    used = tx.tags.names(bank_id, sight(principal), MOST_TAGS)
    if used is None:
        raise InvalidField("tag_groups", f"cannot be resolved: fuzzy needs a bank of at most {MOST_TAGS:,} tags")
    return resolved(tags, used)


def resolved(tags: TagFilter, used: Iterable[str]) -> TagFilter:
    """The filter with every fuzzy leaf in tags of these, or in its own words where none is like them.

    Raises: InvalidField as `resolve_fuzzy`.
    """
    vocabulary = _Vocabulary(used)
    return TagFilter(
        tuple(_resolved(group, vocabulary, f"tag_groups[{index}]") for index, group in enumerate(tags.groups))
    )


class _Vocabulary:
    """The tags of a bank, by namespace (the part up to the first colon) and as they are read without regard to case."""

    def __init__(self, used: Iterable[str]) -> None:
        self._same: defaultdict[str, list[str]] = defaultdict(list)
        self._values: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self._found: dict[str, frozenset[str]] = {}
        self._named = 0
        for tag in used:
            namespace, value = _parts(tag)
            self._same[tag.casefold()].append(tag)
            self._values[namespace].append((value, tag))

    def tags_like(self, asked: str) -> frozenset[str]:
        """The same tag but for case if there is one, else those alike, of which there may be none.

        Raises: InvalidField when all that was asked for came to too many tags.
        """
        if asked not in self._found:
            namespace, wanted = _parts(asked)
            alike = (tag for value, tag in self._values[namespace] if similarity(wanted, value) >= LEAST_ALIKE)
            self._found[asked] = frozenset(self._same.get(asked.casefold()) or alike)
            self._named += len(self._found[asked]) or 1
            if self._named > MOST_RESOLVED:
                raise InvalidField("tag_groups", f"resolves to more than {MOST_RESOLVED:,} tags")
        return self._found[asked]


def _parts(tag: str) -> tuple[str, str]:
    namespace, colon, value = tag.partition(":")
    return (f"{namespace.casefold()}:", value) if colon else ("", tag)


def _resolved(group: TagGroup, vocabulary: _Vocabulary, at: str, *, excludes: bool = False) -> TagGroup:
    """The group in tags of the vocabulary; `excludes`: what it holds for is left out.  Raises: InvalidField."""
    match group:
        case TagLeaf(resolve="fuzzy"):
            return _leaf(group, [_meant(tag, vocabulary, at, excludes) for tag in sorted(group.tags)])
        case TagLeaf():
            return group
        case AllOf():
            return AllOf(_each(group.groups, vocabulary, f"{at}.and", excludes))
        case AnyOf():
            return AnyOf(_each(group.groups, vocabulary, f"{at}.or", excludes))
        case Not():
            return Not(_resolved(group.group, vocabulary, f"{at}.not", excludes=not excludes))


def _each(groups: Sequence[TagGroup], vocabulary: _Vocabulary, at: str, excludes: bool) -> tuple[TagGroup, ...]:
    return tuple(
        _resolved(group, vocabulary, f"{at}[{index}]", excludes=excludes) for index, group in enumerate(groups)
    )


def _meant(tag: str, vocabulary: _Vocabulary, at: str, excludes: bool) -> frozenset[str]:
    found = vocabulary.tags_like(tag)
    if excludes and not found:
        raise InvalidField(
            f"{at}.tags", f"excludes {tag[:100]!r}, which is like no tag in use: it would exclude nothing"
        )
    return found or frozenset({tag})


_ONE_OF: Final[Mapping[TagsMatch, TagsMatch]] = {
    TagsMatch.ALL: TagsMatch.ANY,
    TagsMatch.ALL_STRICT: TagsMatch.ANY_STRICT,
}


def _leaf(leaf: TagLeaf, meant: Sequence[frozenset[str]]) -> TagGroup:
    """What a leaf says when each of its tags may mean any of several."""
    match leaf.match:
        case TagsMatch.ANY | TagsMatch.ANY_STRICT:
            return TagLeaf(frozenset[str]().union(*meant), leaf.match)
        case TagsMatch.ALL | TagsMatch.ALL_STRICT:
            return AllOf(tuple(TagLeaf(tags, _ONE_OF[leaf.match]) for tags in meant))
        case TagsMatch.EXACT:
            return AnyOf(tuple(TagLeaf(tags, TagsMatch.EXACT) for tags in _combinations(meant)))


def _combinations(meant: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The sets that a set of tags may mean; two of its tags never mean the same one.

    Raises: InvalidField for too many of them.
    """
    if prod(map(len, meant)) > MOST_COMBINATIONS:
        raise InvalidField(
            "tag_groups", f"resolves to more than {MOST_COMBINATIONS} combinations of tags in an exact leaf"
        )
    chosen = (frozenset(tags) for tags in product(*map(sorted, meant)))
    return list(dict.fromkeys(tags for tags in chosen if len(tags) == len(meant)))
