"""Pending work over all tenants: what is due, by what settings, and how much of it waits.  Part of ports/store.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from hindsight_aws.model import operation
from hindsight_aws.model.ids import TenantId


@dataclass(frozen=True, slots=True)
class DueBy:
    """What the server's settings say of when work is due; each is about a kind of its own.

    `observations` and `auto_consolidation` are the defaults for banks that do not say.  `server_policy` is a digest of
    the server's consolidation settings: banks looked through under others are told; None: none is.  Banks with
    operations that ended more than `retention_days` ago are told as `expired`; 0: none is.  Scopes whose
    near-duplicates were not looked for since about `compaction_seconds` are told as `compaction`; 0: none is.  Banks
    with reflect runs that ended more than `run_seconds` ago are told as `ended_runs`.  `everywhere`: the server has a
    hook of its own, so that banks without one have somebody who is to be told of their events.  Banks with audit
    entries older than `audit_days` are told as `audit`, deleted ones too; below 0: none is.  `signs`: erasures whose
    receipts are only to be signed are told as well.  Model work of tenants that
    are parked at `moment` is not told; None: the database's present.
    """

    observations: bool
    auto_consolidation: bool
    server_policy: str | None = None
    retention_days: int = 0
    compaction_seconds: float = 0.0
    run_seconds: float = 604_800.0
    everywhere: bool = False
    audit_days: int = -1
    signs: bool = False
    moment: datetime | None = None


class DueKind(StrEnum):
    """The kinds of due work, as `due_work` spells them; one that `operations` has begins with its table's name."""

    RETAIN = f"operation:{operation.RETAIN}"
    FILE_CONVERT_RETAIN = f"operation:{operation.FILE_CONVERT_RETAIN}"
    EXPORT_BANK = f"operation:{operation.EXPORT_BANK}"
    EXPORT_DOCUMENTS = f"operation:{operation.EXPORT_DOCUMENTS}"
    IMPORT_BANK = f"operation:{operation.IMPORT_BANK}"
    IMPORT_DOCUMENTS = f"operation:{operation.IMPORT_DOCUMENTS}"
    CLONE_BANK = f"operation:{operation.CLONE_BANK}"
    REEMBED = f"operation:{operation.REEMBED}"
    REFRESH_MENTAL_MODEL = f"operation:{operation.REFRESH_MENTAL_MODEL}"
    ASKED_CONSOLIDATION = f"operation:{operation.CONSOLIDATION}"
    """A bank with operations whose scopes may all be done."""
    POLICY_REBUILD = f"operation:{operation.POLICY_REBUILD}"
    """A bank with operations whose rebuilds may all be over."""
    CONSOLIDATION = "consolidation"
    """A scope."""
    REVIVAL = "revival"
    """A scope with failed facts whose next try is due."""
    COMPACTION = "compaction"
    """A scope whose near-duplicates are to be looked for."""
    LINKS = "links"
    REFLECT = "reflect"
    """A run that nobody works on any more."""
    ENDED_RUNS = "ended_runs"
    EXPIRED = "expired"
    """A bank with records of operations that are kept no longer."""
    AUDIT = "audit"
    """A bank with audit entries that are kept no longer."""
    POLICY = "policy"
    """A bank whose settings changed."""
    SEAL = "seal"
    """A bank whose sealed generations may go."""
    PAGE_SCHEDULE = "page_schedule"
    """A mental model whose schedule is due."""
    PAGE_DELETION = "page_deletion"
    """A mental model that rests on what is gone."""
    PAGES = "pages"
    """A bank whose mental models consolidation concerns."""
    WEBHOOK = "webhook"
    """A delivery."""
    WEBHOOK_EVENTS = "webhook_events"
    """A bank of whose events hooks are to be told."""
    ERASURE = "erasure"
    """One that is not over."""
    KEPT_FILES = "kept_files"
    """A bank with files that nothing holds."""
    LEFT_VECTORS = "left_vectors"
    """A re-embedding that ended before its vectors served."""
    LIMITS = "limits"
    """A tenant whose day is to be looked at; it stands for the bank as well."""


@dataclass(frozen=True, slots=True)
class DueWork:
    """A piece of pending work that nobody holds.

    `kind` is a DueKind, unless the schema is newer than this code.  `id` is the row's, or the bank's where the kind is
    about a bank.
    """

    tenant_id: TenantId
    kind: str
    bank_id: UUID
    id: UUID


@dataclass(frozen=True, slots=True)
class Backlog:
    """How much waits over all tenants.  Kinds as of DueWork; one that has none is not there.

    `due`: rows that are due and unheld.  `oldest_s`: seconds since the first of those became due.  `failed`: rows that
    are given up until somebody recovers them.  `oldest_fact_s`: seconds since the first fact was retained that no
    observation has taken in yet, deferred ones too; 0: there is none.
    """

    due: Mapping[str, int]
    oldest_s: Mapping[str, float]
    failed: Mapping[str, int]
    oldest_fact_s: float
    parked_tenants: int
