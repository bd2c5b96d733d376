"""Pending work over all tenants: what is due, by what settings, and how much of it waits.  Part of ports/store.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

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


@dataclass(frozen=True, slots=True)
class DueWork:
    """A piece of pending work that nobody holds.

    `kind`: `operation:<kind>`, `consolidation`, `revival`, `links`, `reflect`, `ended_runs`, `expired`, `policy` (a
    bank whose settings changed), `seal` (a bank whose sealed generations may go), `compaction` (a scope),
    `page_schedule` and `page_deletion` (a mental model whose schedule is due, or that rests on what is gone), `pages`
    (a bank whose models consolidation concerns), `webhook` (a delivery), `webhook_events` (a bank of whose events
    hooks are to be told), `erasure` (one that is not over) or `limits` (a tenant whose day is to be looked at; it
    stands for the bank as well).
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
