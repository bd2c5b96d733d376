"""What follows every correction: the bank is marked as written, cached answers go, and whoever has work is woken.

Called by the use cases of this package.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.banks.config import resolve
from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import ScopeId, TenantId
from hindsight_aws.ports.store import Transaction


def mark_written(tx: Transaction, bank: Bank, embedding_model: str | None = None) -> None:
    """Takes what was answered from before out of reach, and notes the write: the bank's row is locked last."""
    tx.reflect.forget_answers(bank.bank_id)
    tx.memories.touch_bank(bank.bank_id, embedding_model)


def wake(ports: CurationPorts, tenant_id: TenantId, bank: Bank, scopes: Sequence[ScopeId]) -> None:
    """Wakes consolidation where the bank wants that by itself, and the tending of links; after the commit."""
    config = resolve(ports.settings, bank.overrides)
    if scopes and config.enable_observations and config.enable_auto_consolidation:
        ports.wakeups.wake_scopes(tenant_id, bank.bank_id, scopes)
    ports.wakeups.wake_links(tenant_id, bank.bank_id)
