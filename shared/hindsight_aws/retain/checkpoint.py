"""The keep-points of an attempt: what was extracted is kept, the lease renewed, and progress told, in one transaction.

Called by the job while extraction goes on; calls the store ports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Lease, Progress
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.extraction.extract_all import Wanted, asked_about, asked_at_most
from hindsight_aws.retain.extraction.found import Extraction, to_json
from hindsight_aws.retain.ports import RetainPorts


class Checkpoint:
    """Of one attempt with `total` chunks, of which some were `known` before it began."""

    def __init__(
        self,
        ports: RetainPorts,
        tenant_id: TenantId,
        lease: Lease,
        account: Account,
        *,
        total: int,
        known: int,
        is_bounded: bool,
    ) -> None:
        self._ports, self._tenant_id, self._lease, self._account = ports, tenant_id, lease, account
        self._total, self._done = total, known
        self._facts = 0
        self._is_asked = is_bounded

    def keep(self, found: Mapping[str, Extraction]) -> None:
        """Makes extractions durable.

        Raises: WorkSuperseded when the operation was cancelled, or taken over; what the store raises.
        """
        facts = self._facts + sum(len(each.facts) for each in found.values())
        progress = Progress("extracting", self._done + len(found), self._total, {"facts_found": facts})
        with self._account.unrecorded() as lines, self._ports.store.transaction(self._tenant_id) as tx:
            tx.operations.renew(self._lease, self._ports.settings.hindsight_retain_lease_seconds, progress)
            tx.operations.keep_extractions(self._lease, {key: to_json(each) for key, each in found.items()})
            tx.usage.record(lines)
            self._account.allowance.settle(tx, found)
        self._done, self._facts = progress.processed, facts

    def may_ask(self, chunks: Sequence[Wanted]) -> int:
        """How many of these chunks the model may be asked about now, from the first on; one at least.

        Raises: WorkSuperseded when the operation was cancelled, or taken over; LimitReached and ModelThrottled when the
        tenant may not spend what even one call may cost; what the store raises.
        """
        if not self._is_asked:
            self._is_asked = True  # leased a moment ago, by a tenant without limits
            return len(chunks)
        with self._ports.store.transaction(self._tenant_id) as tx:
            tx.operations.require_held(self._lease)
            granted = self._account.allowance.ask(tx, lambda: asked_about(chunks), each=asked_at_most(chunks))
        if granted.refusal is not None:
            raise granted.refusal
        return granted.calls
