"""What a principal may do and see: the single module that decides it, for every route, tool and worker.

A bank or a thing outside a caller's sight is answered exactly as one that does not exist.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from hindsight_aws.errors import AccessDenied, NotFound
from hindsight_aws.model.principal import FACT_TYPES, Permission, Principal
from hindsight_aws.model.tags import AnyOf, TagFilter, TagGroup, TagLeaf, TagsMatch

OBSERVATIONS = frozenset({"observation"})
RAW_TYPES = frozenset({"world", "experience"})


@dataclass(frozen=True, slots=True)
class Sight:
    """What one read may return: memories of these types that pass the tag filter.

    `sees_beneath` False: nothing that lies under an observation may be shown (quotes, sources, chunks, documents,
    wording of its history), only counted.  A source that is shown is of `source_types`, whatever types were asked for,
    and passes the tag filter.
    """

    fact_types: frozenset[str]
    tags: TagFilter
    sees_beneath: bool = True
    source_types: frozenset[str] = frozenset()

    def sees(self, fact_type: str, tags: Collection[str]) -> bool:
        """Whether a memory of this type with these tags may be returned."""
        return fact_type in self.fact_types and self.tags.matches(tags)


def require(principal: Principal, permission: Permission) -> None:
    """Lets a caller with the permission pass.  Raises AccessDenied."""
    if permission not in principal.permissions:
        raise AccessDenied(f"This key does not have the {permission.value} permission")


def reads(principal: Principal) -> bool:
    """Whether the answer to a change may tell the caller what else is there: to `write` alone it tells no text."""
    return Permission.READ in principal.permissions


def sees_bank(principal: Principal, external_id: str) -> bool:
    """Whether the caller's key covers a bank of this id, there or not."""
    return any(fnmatchcase(external_id, pattern) for pattern in principal.bank_patterns)


def bank_patterns(principal: Principal) -> tuple[str, ...] | None:
    """The globs that say for a list which banks `sees_bank` covers; None when it covers every bank."""
    return None if "*" in principal.bank_patterns else principal.bank_patterns


def require_bank(principal: Principal, external_id: str) -> None:
    """Lets a caller pass whose key covers a bank of this id.  Raises NotFound, as for a bank that is not there."""
    if not sees_bank(principal, external_id):
        raise bank_not_found(external_id)


def bank_not_found(external_id: str) -> NotFound:
    """The error for a bank that is not there, or not there for this caller."""
    return NotFound(f"Bank '{external_id}' not found")


def is_limited(principal: Principal) -> bool:
    """Whether the caller sees only part of a bank: by tags, by type or by scope."""
    return (
        principal.forced_tags is not None
        or principal.exact_scopes is not None
        or (principal.fact_types is not None and not principal.fact_types >= FACT_TYPES)
    )


def require_whole_bank(principal: Principal) -> None:
    """Lets a caller pass who sees all of a bank, for what cannot be done to a part.  Raises AccessDenied."""
    if is_limited(principal):
        raise AccessDenied("This key is limited to part of a bank and may not act on the whole")


def sight(principal: Principal, fact_types: Iterable[str] | None = None, tags: TagFilter | None = None) -> Sight:
    """What a read may return when it asks for these types and tags (None: all that the caller may see)."""
    wanted = FACT_TYPES if fact_types is None else frozenset(fact_types)
    allowed = FACT_TYPES if principal.fact_types is None else principal.fact_types
    filtered = (tags or TagFilter()).narrowed(principal.forced_tags)
    if principal.exact_scopes is not None:
        return Sight(wanted & allowed & OBSERVATIONS, filtered.narrowed(_exactly(principal.exact_scopes)), False)
    return Sight(wanted & allowed, filtered, source_types=allowed & RAW_TYPES)


def sees_documents(principal: Principal) -> bool:
    """Whether the caller may see documents at all: they hold the raw text beneath facts of both types."""
    return principal.exact_scopes is None and (principal.fact_types is None or principal.fact_types >= RAW_TYPES)


@dataclass(frozen=True, slots=True)
class DocumentSight:
    """What reads of documents may return: those that pass the filter, and all of whose items pass `own`.

    A document holds the text of all its items: one that has some of somebody else's is not there for a limited key.
    """

    tags: TagFilter
    own: TagGroup | None = None


def document_sight(principal: Principal, tags: TagFilter | None = None) -> DocumentSight:
    """What a read of documents may return when it asks for these tags (None: all that the caller may see)."""
    return DocumentSight((tags or TagFilter()).narrowed(principal.forced_tags), principal.forced_tags)


@dataclass(frozen=True, slots=True)
class PageSight:
    """Which mental models a read may return: those whose own tags pass, written under limits no wider than these.

    None: no such limit.  A page holds what its creator could see: a key that sees fewer types or scopes is shown none
    of it.  `asked_types` leaves out pages that are written from others than the types asked for.
    """

    tags: TagFilter
    fact_types: frozenset[str] | None = None
    exact_scopes: frozenset[frozenset[str]] | None = None
    asked_types: frozenset[str] | None = None


def page_sight(
    principal: Principal, tags: TagFilter | None = None, fact_types: Iterable[str] | None = None
) -> PageSight:
    """What a read of mental models may return when it asks for these tags and types (None: all that may be seen)."""
    limited = principal.fact_types is not None and not principal.fact_types >= FACT_TYPES
    filtered = (tags or TagFilter()).narrowed(principal.forced_tags)
    asked = None if fact_types is None else frozenset(fact_types)
    return PageSight(filtered, principal.fact_types if limited else None, principal.exact_scopes, asked)


def sees_beneath_page(principal: Principal, made_under: TagGroup | None) -> bool:
    """Whether all that a page of a creator with these forced tags was written from is in the caller's sight.

    For a page that is itself in sight: its text may be shown to a key that sees less than its creator, not what lies
    beneath it.
    """
    return principal.forced_tags is None or principal.forced_tags == made_under


def require_page(principal: Principal, made_under: TagGroup | None) -> None:
    """Lets a caller pass who may say what such a page is written from.  Raises AccessDenied.

    A page is written with its creator's sight: a narrower key that changes its question would read with it.
    """
    if not sees_beneath_page(principal, made_under):
        raise AccessDenied("This key sees less than the one that made this mental model")


def sees_folder(principal: Principal, named_by: Principal) -> bool:
    """Whether the caller may see, rename, move and delete a folder of the knowledge base by its name alone.

    A folder has no tags.  Its name may tell what is in it: a limited key knows it from a page in its sight below, or
    because a key of the same limits gave it.
    """
    return not is_limited(principal) or _limits(principal) == _limits(named_by)


def require_folder(principal: Principal, named_by: Principal) -> None:
    """Lets a caller pass who may rename, move and delete such a folder.  Raises AccessDenied."""
    if not sees_folder(principal, named_by):
        raise AccessDenied("This key sees less than the one that named this folder")


def operations_subject(principal: Principal) -> str | None:
    """Whose operations the caller may see: their own when their key is limited, else everybody's (None)."""
    return principal.subject if is_limited(principal) else None


def require_tags(principal: Principal, tags: Collection[str]) -> None:
    """Lets a write with these tags pass.  Raises AccessDenied when the forced tags would hide it from its writer."""
    if principal.forced_tags is not None and not principal.forced_tags.matches(tags):
        raise AccessDenied("This key may only write memories with its own tags")


def require_scopes(principal: Principal, scopes: Iterable[Collection[str]]) -> None:
    """Lets a write pass that is consolidated in these scopes.

    Raises AccessDenied when the caller could not read an observation of one of them.
    """
    for scope in scopes:
        require_tags(principal, scope)
        if principal.exact_scopes is not None and frozenset(scope) not in principal.exact_scopes:
            raise AccessDenied("This key may only write memories that are consolidated in its own scopes")


def _limits(principal: Principal) -> tuple[object, ...]:
    return principal.forced_tags, principal.fact_types, principal.exact_scopes


def _exactly(scopes: Iterable[frozenset[str]]) -> TagGroup:
    return AnyOf(tuple(TagLeaf(scope, TagsMatch.EXACT) for scope in sorted(scopes, key=sorted)))
