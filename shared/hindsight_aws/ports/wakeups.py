"""Wake-ups: messages that say "look at these rows", and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol
from uuid import UUID

from hindsight_aws.model.erasure import ErasureId
from hindsight_aws.model.ids import BankId, OperationId, ScopeId, TenantId

LONGEST_DELAY_S: Final = 900
"""As long as SQS holds a message back; what is to wait longer is found by the sweep."""


class Wakeups(Protocol):
    """Sends ids to workers, after the commit that wrote the rows.

    Never raises for a send that failed: it logs the ids, and the sweep wakes the rows later.  A delay is
    at most LONGEST_DELAY_S; one that lies in the past is none.
    """

    def wake_operations(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        """Asks workers to look at these operations, not before `delay_s` seconds have passed."""
        ...

    def wake_conversions(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        """Asks workers to convert these operations' files, not before `delay_s` seconds have passed.

        Does nothing where no queue for conversions is configured.
        """
        ...

    def wake_transfers(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        """Asks workers to do these transfers, not before `delay_s` seconds have passed.

        Does nothing where no queue for transfers is configured.
        """
        ...

    def wake_scopes(self, tenant_id: TenantId, bank_id: BankId, scope_ids: Sequence[ScopeId], delay_s: int = 0) -> None:
        """Asks workers to drain these scopes, not before `delay_s` seconds have passed.

        Does nothing where no consolidation queue is configured.
        """
        ...

    def wake_refreshes(self, tenant_id: TenantId, bank_id: BankId) -> None:
        """Asks a worker to start the refreshes of the bank's mental models that are due.

        Does nothing where no consolidation queue is configured.
        """
        ...

    def wake_links(self, tenant_id: TenantId, bank_id: BankId, delay_s: int = 0) -> None:
        """Asks a worker to tend the bank's links, not before `delay_s` seconds have passed.

        Sent after whatever removed or changed facts, whether something was queued or not.
        """
        ...

    def wake_erasure(self, tenant_id: TenantId, erasure_id: ErasureId, delay_s: int = 0) -> None:
        """Asks a worker to carry an erasure on, not before `delay_s` seconds have passed."""
        ...

    def wake_webhooks(self, tenant_id: TenantId, bank_id: BankId) -> None:
        """Asks a worker to have the bank's hooks told of its events.

        Does nothing where no queue for deliveries is configured.
        """
        ...

    def wake_deliveries(
        self, tenant_id: TenantId, bank_id: BankId, delivery_ids: Sequence[UUID], delay_s: int = 0
    ) -> None:
        """Asks workers to try these deliveries, not before `delay_s` seconds have passed."""
        ...
