"""Scopes: the exact sets of tags within which facts become observations.

Pure; called by retain, consolidation and the API.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Final, Literal, TypeAlias, get_args
from uuid import UUID

from hindsight_aws.model.ids import BankId, TenantId

ScopeMode: TypeAlias = Literal["combined", "per_tag", "all_combinations", "shared"]
ObservationScopes: TypeAlias = ScopeMode | tuple[tuple[str, ...], ...]
"""What a caller may ask for: a mode, or a list of tag lists in which an entry with `*` is a pattern over the fact's
own tags.
"""

SCOPE_MODES: Final[tuple[str, ...]] = get_args(ScopeMode)
MOST_COMBINED_TAGS: Final = 5
"""`all_combinations` of n tags makes 2^n - 1 scopes, each a model call of its own: 31 at most."""
VOLATILE_TAGS: Final[tuple[str, ...]] = ("session:*",)


class TooManyScopes(ValueError):
    """`all_combinations` was asked for more tags than MOST_COMBINED_TAGS."""


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """A set of tags, held sorted and distinct; two scopes are the same exactly when their tags are."""

    tags: tuple[str, ...]

    @classmethod
    def of(cls, tags: Iterable[str]) -> Scope:
        """The scope of these tags, whatever their order and repeats."""
        return cls(tuple(sorted(set(tags))))

    @property
    def key(self) -> str:
        """SHA-256 (hex) of the tags as JSON: what the database compares.  No tag can imitate two."""
        return hashlib.sha256(json.dumps(self.tags, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ScopeAddress:
    """Which scope of which bank of which tenant."""

    tenant_id: TenantId
    bank_id: BankId
    scope_id: UUID


def resolve_scopes(
    tags: Sequence[str], asked: ObservationScopes | None, volatile: Sequence[str] = VOLATILE_TAGS
) -> tuple[Scope, ...]:
    """The scopes a fact with these tags belongs to: distinct, in the order asked for; empty when it belongs to none.

    A literal list is taken as it stands, whether or not the fact bears its tags.  A list whose patterns all miss and
    which names nothing else is left out.  When that leaves nothing, the scope is the fact's tags without the volatile
    ones, and when those are none either there is no scope: a pattern that missed never becomes the untagged scope.

    Raises: TooManyScopes.
    """
    if isinstance(asked, tuple) and asked:
        found = _distinct(scope for entry in asked if (scope := _explicit(entry, tags)) is not None)
        if found:
            return found
        lasting = [tag for tag in tags if not any(fnmatchcase(tag, pattern) for pattern in volatile)]
        return (Scope.of(lasting),) if lasting else ()
    if asked == "shared" or not tags:
        return (Scope(()),)
    if asked == "per_tag":
        return _distinct(Scope((tag,)) for tag in tags)
    if asked == "all_combinations":
        return _distinct(_subsets(tags))
    return (Scope.of(tags),)


def _explicit(entry: Sequence[str], tags: Sequence[str]) -> Scope | None:
    """The scope one list asks for, or None when all it held were patterns and none matched."""
    if not any("*" in part for part in entry):
        return Scope.of(entry)
    matched = [tag for part in entry if "*" in part for tag in tags if fnmatchcase(tag, part)]
    literal = [part for part in entry if "*" not in part]
    return Scope.of(matched + literal) if matched or literal else None


def _subsets(tags: Sequence[str]) -> Iterator[Scope]:
    distinct = list(dict.fromkeys(tags))
    if len(distinct) > MOST_COMBINED_TAGS:
        raise TooManyScopes(f"all_combinations takes at most {MOST_COMBINED_TAGS} tags, not {len(distinct)}")
    for size in range(1, len(distinct) + 1):
        yield from (Scope.of(chosen) for chosen in combinations(distinct, size))


def _distinct(scopes: Iterable[Scope]) -> tuple[Scope, ...]:
    return tuple(dict.fromkeys(scopes))
