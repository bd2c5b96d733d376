"""Who is calling, and what they may see: the answer to a key.  access.py alone turns it into decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hindsight_aws.model.ids import TenantId

if TYPE_CHECKING:
    from hindsight_aws.model.tags import TagGroup

FACT_TYPES = frozenset({"world", "experience", "observation"})


class Permission(StrEnum):
    """What a key may do; none implies another."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller of one tenant.

    `subject` is the caller's own and nobody else's, whatever their key is called: operations, answers and costs are
    kept under it, and a limited key sees those of its own subject alone.  For an API key it is `name#key id`.
    `bank_patterns` are case-sensitive globs over bank ids.  `forced_tags` is AND-ed into every read and must hold for
    every write.  `fact_types` None means all.  `exact_scopes` None means no such limit; otherwise the caller sees
    observations of exactly these tag sets, and nothing that lies beneath them.
    """

    tenant_id: TenantId
    subject: str
    permissions: frozenset[Permission] = frozenset(Permission)
    bank_patterns: tuple[str, ...] = ("*",)
    forced_tags: TagGroup | None = None
    fact_types: frozenset[str] | None = None
    exact_scopes: frozenset[frozenset[str]] | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made: whose it is and what its holder may do; `forced_tags` as a tag group in its JSON form."""

    subject: str
    permissions: frozenset[Permission]
    bank_patterns: tuple[str, ...] = ("*",)
    forced_tags: Mapping[str, object] | None = None
    fact_types: frozenset[str] | None = None
    exact_scopes: tuple[tuple[str, ...], ...] | None = None
