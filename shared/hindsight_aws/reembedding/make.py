"""Makes the new vectors, batch by batch, each kept before the next.  Called by run.py; calls Embedder and store.

No transaction is open while the model is asked; what a call costs is in the ledger whatever becomes of its vectors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from hindsight_aws.errors import HindsightError
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Lease, Progress
from hindsight_aws.ports.model_gateway import Embedder, Embedding, ModelUsage
from hindsight_aws.ports.reembedding import ITEM_KINDS, Item, ItemKind
from hindsight_aws.reembedding import points
from hindsight_aws.reembedding.ports import ReembeddingPorts
from hindsight_aws.retain.extraction.wording import embedded_text
from hindsight_aws.usage.allowance import look
from hindsight_aws.usage.ledger import ledger_entries

FIRST: Final = UUID(int=0)
_CLOSED_S: Final = 60.0
"""For how long at most nobody writes vectors while the last are made; should the worker die, it ends by itself."""
_SECONDS_EACH: Final = 0.022
_LEAST_S: Final = 30.0
_MOST_S: Final = 780.0
"""To have at hand before vectors are replaced, as measured on a busy machine; no more than an attempt begins with."""


@dataclass(slots=True)
class Making:
    """One attempt at making the vectors of a bank: `total` texts are to be embedded in all, `made` of them are."""

    ports: ReembeddingPorts
    tenant_id: TenantId
    lease: Lease
    embedder: Embedder
    give_up_at: float
    made: int
    total: int
    is_closed: bool = False

    def run(self) -> bool:
        """Makes all there are; False when the time was up before.

        Once little is left nobody else writes vectors, so that what is made here catches up with what they write.
        Raises: LimitReached when the tenant's day is used up; WorkSuperseded; what the Embedder and the store raise.
        """
        while True:
            most, found = self.ports.settings.hindsight_reembed_batch, 0
            for kind in ITEM_KINDS:
                after = FIRST
                while items := self._unmade(kind, after, most):
                    if time.monotonic() > self.give_up_at:
                        return False
                    self._make(kind, items)
                    after, found = items[-1].id, found + len(items)
            if not found and self.is_closed:
                return True
            if found <= most and not self.is_closed:
                needed = min(_LEAST_S + self.total * _SECONDS_EACH, _MOST_S)
                if time.monotonic() + needed > self.give_up_at:
                    return False
                self._close()

    def _unmade(self, kind: ItemKind, after: UUID, at_most: int) -> list[Item]:
        with self.ports.store.transaction(self.tenant_id) as tx:
            return tx.vectors.unmade(self.lease, kind, self.embedder.model, after, at_most)

    def _close(self) -> None:
        with self.ports.store.transaction(self.tenant_id) as tx:
            tx.vectors.hold_alone(self.lease.bank_id)
            tx.operations.renew(self.lease, self.ports.settings.hindsight_reembed_lease_seconds)
            tx.vectors.close(self.lease, _CLOSED_S)
        self.is_closed = True
        reached(points.AFTER_CLOSE)

    def _make(self, kind: ItemKind, items: Sequence[Item]) -> None:
        usages: list[ModelUsage] = []
        try:
            vectors = self.embedder.embed([text_of(item) for item in items], "document", usages.append)
        except HindsightError:
            self._record(usages)
            raise
        reached(points.AFTER_EMBED)
        self._keep(kind, list(zip(items, vectors, strict=True)), usages)
        reached(points.AFTER_BATCH)

    def _keep(self, kind: ItemKind, made: Sequence[tuple[Item, Embedding]], usages: Sequence[ModelUsage]) -> None:
        """Vectors and what they cost, in one commit; then the tenant's day is looked at, which may end the attempt."""
        settings, lease = self.ports.settings, self.lease
        self.made += len(made)
        progress = Progress("embedding", min(self.made, self.total), self.total)
        with self.ports.store.transaction(self.tenant_id) as tx:
            tx.operations.renew(lease, settings.hindsight_reembed_lease_seconds, progress)
            tx.vectors.keep(lease, kind, made)
            tx.usage.record(ledger_entries(usages, lease.subject, lease.bank_id, lease.operation_id))
            limit = look(tx, self.tenant_id, self.ports.clock.now())
        if limit is not None:
            raise limit

    def _record(self, usages: Sequence[ModelUsage]) -> None:
        lease = self.lease
        with self.ports.store.transaction(self.tenant_id) as tx:
            tx.usage.record(ledger_entries(usages, lease.subject, lease.bank_id, lease.operation_id))


def text_of(item: Item) -> str:
    """What is embedded for an item, as it was when its present vector was made."""
    if not item.is_fact:
        return item.text
    return embedded_text(item.text, item.occurred_start or item.mentioned_at, item.occurred_end, item.names)
