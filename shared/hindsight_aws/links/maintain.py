"""Tends the links of one bank: joins anew what lost neighbours, removes entities without facts, while there is time.

Called by jobs/links.py for each wake-up; calls the store and the wake-ups.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final

from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.faults import reached
from hindsight_aws.links.ports import LinkPorts
from hindsight_aws.links.rule import link_rule
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.ports.links import LinkLease

AT_ONCE: Final = 50
"""Facts, and entities, of one transaction."""
LEASE_S: Final = 120.0
"""How long a worker holds a bank between two batches; longer than the statements of one take."""
SECONDS_FOR_A_BATCH: Final = 20.0
"""What must be left to begin another batch."""
RETRY_AFTER_S: Final = 60
"""When an entity that somebody was writing to is looked at again."""


class Maintained(Enum):
    """How it ended."""

    DONE = "nothing is due in the bank"
    HELD = "another worker has the lease and was told to look again"
    GONE = "the bank is no more"
    UNFINISHED = "time is up; the bank was woken again"
    SUPERSEDED = "the lease was lost"


def maintain(ports: LinkPorts, tenant_id: TenantId, bank_id: BankId, seconds_left: Callable[[], float]) -> Maintained:
    """Works off what is queued of the bank, a batch per transaction.

    Guarantees: idempotent; one worker at a time commits for a bank; whatever is not committed stays queued.
    """
    with ports.store.transaction(tenant_id) as tx:
        if tx.banks.by_id(bank_id) is None:
            return Maintained.GONE
        lease = tx.links.take_lease(bank_id, LEASE_S)
    if lease is None:
        return Maintained.HELD
    reached("links.after_lease")
    try:
        return _work_off(ports, tenant_id, lease, seconds_left)
    except WorkSuperseded:
        return Maintained.SUPERSEDED


def _work_off(ports: LinkPorts, tenant_id: TenantId, lease: LinkLease, seconds_left: Callable[[], float]) -> Maintained:
    put_off = 0
    while seconds_left() >= SECONDS_FOR_A_BATCH:
        done, waiting = _batch(ports, tenant_id, lease)
        put_off += waiting
        if done or not _release(ports, tenant_id, lease):
            continue
        if put_off:
            ports.wakeups.wake_links(tenant_id, lease.bank_id, RETRY_AFTER_S)
        return Maintained.DONE
    _release(ports, tenant_id, lease, even_if_woken=True)
    ports.wakeups.wake_links(tenant_id, lease.bank_id)
    return Maintained.UNFINISHED


def _batch(ports: LinkPorts, tenant_id: TenantId, lease: LinkLease) -> tuple[int, int]:
    """How many items were done with and how many put off, in one transaction under the fence."""
    with ports.store.transaction(tenant_id) as tx:
        if not tx.links.lock_lease(lease):
            raise _superseded()
        rule = link_rule(ports.settings, tx.memories.count(lease.bank_id))
        facts = tx.links.relink_due(lease.bank_id, rule, AT_ONCE)
        entities = tx.links.prune_due(lease.bank_id, AT_ONCE, RETRY_AFTER_S)
        if not tx.links.renew_lease(lease, LEASE_S):
            raise _superseded()
        reached("links.before_commit")
    reached("links.after_commit")
    return facts.done + entities.done, entities.put_off


def _release(ports: LinkPorts, tenant_id: TenantId, lease: LinkLease, *, even_if_woken: bool = False) -> bool:
    reached("links.before_release")
    with ports.store.transaction(tenant_id) as tx:
        return tx.links.release_lease(lease, even_if_woken=even_if_woken)


def _superseded() -> WorkSuperseded:
    return WorkSuperseded("another worker tends the bank's links by now, or the bank is gone")
