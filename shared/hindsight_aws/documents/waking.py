"""Wakes the scopes that have work after a change.  Called by the use cases beside it, after their commit."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.banks.config import resolve
from hindsight_aws.documents.ports import DocumentPorts
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.principal import Principal


def wake_scopes(ports: DocumentPorts, principal: Principal, bank: Bank, scopes: Sequence[ScopeId]) -> None:
    """Wakes the scopes, where the bank consolidates by itself."""
    config = resolve(ports.settings, bank.overrides)
    if scopes and config.enable_observations and config.enable_auto_consolidation:
        ports.wakeups.wake_scopes(principal.tenant_id, bank.bank_id, scopes)
