"""What follows every correction, after its commit: whoever has work is woken.

Called by the use cases of this package.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.configuration.config import resolve
from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import ScopeId, TenantId


def wake(ports: CurationPorts, tenant_id: TenantId, bank: Bank, scopes: Sequence[ScopeId]) -> None:
    """Wakes consolidation where the bank wants that by itself, and the tending of links; after the commit."""
    if scopes and resolve(ports.settings, bank.overrides).consolidates_by_itself:
        ports.wakeups.wake_scopes(tenant_id, bank.bank_id, scopes)
    ports.wakeups.wake_links(tenant_id, bank.bank_id)
