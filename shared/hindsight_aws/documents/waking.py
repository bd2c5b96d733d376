"""Wakes the scopes that have work after a change.  Called by the use cases beside it, after their commit."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.configuration.config import resolve
from hindsight_aws.documents.ports import DocumentPorts
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import ScopeId
from hindsight_aws.model.principal import Principal


def wake_scopes(ports: DocumentPorts, principal: Principal, bank: Bank, scopes: Sequence[ScopeId]) -> None:
    """Wakes the scopes, where the bank consolidates by itself."""
    if scopes and resolve(ports.settings, bank.overrides).consolidates_by_itself:
        ports.wakeups.wake_scopes(principal.tenant_id, bank.bank_id, scopes)
