"""A directive, a standing rule for a bank's answers, and which of them apply to a request.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from hindsight_aws.model.tags import AllOf, AnyOf, TagFilter, TagLeaf, TagsMatch

UNTAGGED = TagLeaf(frozenset(), TagsMatch.EXACT)


@dataclass(frozen=True, slots=True)
class Directive:
    """A rule; of several the one of higher `priority` comes first, then the newer one."""

    id: UUID
    name: str
    content: str
    priority: int
    is_active: bool
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


def selection(asked: TagFilter, apply_all: bool, limits: TagFilter | None = None) -> TagFilter:
    """Which active directives apply to a request, as a filter of their tags.

    Untagged ones always do, whatever the caller may see.  Tagged ones do when the request asks for tags and theirs pass
    its filter, or all of them with `apply_all`; in either case within the `limits` of the caller's key, which count as
    asked for.
    """
    groups = (*(() if apply_all else asked.groups), *(limits.groups if limits else ()))
    if not groups and not apply_all:
        return TagFilter((UNTAGGED,))
    return TagFilter((AnyOf((UNTAGGED, AllOf(groups))),))
