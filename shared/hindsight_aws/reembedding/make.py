"""Makes the new vectors, batch by batch, each kept before the next.  Called by run.py; calls Embedder and store.

No transaction is open while the model is asked; what a call costs is in the ledger whatever becomes of its vectors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Final
from uuid import UUID

from hindsight_aws.errors import HindsightError
from hindsight_aws.faults import reached
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Lease, Progress
from hindsight_aws.ports.model_gateway import Embedder, Embedding, ModelUsage
from hindsight_aws.ports.reembedding import ITEM_KINDS, Item, ItemKind, Span
from hindsight_aws.reembedding import points
from hindsight_aws.reembedding.ports import ReembeddingPorts
from hindsight_aws.retain.extraction.wording import embedded_text
from hindsight_aws.usage.allowance import look
from hindsight_aws.usage.ledger import ledger_entries

FIRST: Final = UUID(int=0)
_LAST: Final = 2**128 - 1
_LOOKED_THROUGH: Final = 20_000
"""Rows of one look."""
_LOOK_S: Final = 0.00008
"""To look one through, on a busy machine."""
_CLOSED_S: Final = 60.0
"""For how long nobody writes vectors while the last are made, besides a look through all; it ends by itself."""
_LEAST_S: Final = 60.0
"""To have at hand before the bank is closed: the last vectors are made then, and all are looked through twice."""


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
            for kind, span in product(ITEM_KINDS, self.spans):
                left = span
                while items := self._unmade(kind, left, most):
                    if time.monotonic() > self.give_up_at:
                        return False
                    self._make(kind, items)
                    left, found = replace(left, after=items[-1].id), found + len(items)
            if not found and self.is_closed:
                return True
            if found <= most and not self.is_closed:
                if time.monotonic() + _LEAST_S + 2 * self.total * _LOOK_S > self.give_up_at:
                    return False
                self._close()

    @property
    def spans(self) -> list[Span]:
        """All ids, in parts of which a statement looks one through in its time: ids are spread evenly."""
        parts = 1 + self.total // _LOOKED_THROUGH
        ends = [UUID(int=_LAST * part // parts) for part in range(parts + 1)]
        return [Span(*ends_of) for ends_of in pairwise(ends)]

    def _unmade(self, kind: ItemKind, span: Span, at_most: int) -> list[Item]:
        with self.ports.store.transaction(self.tenant_id) as tx:
            return tx.vectors.unmade(self.lease, kind, self.embedder.model, span, at_most)

    def _close(self) -> None:
        with self.ports.store.transaction(self.tenant_id) as tx:
            tx.vectors.lock_alone(self.lease.bank_id)
            tx.operations.renew(self.lease, self.ports.settings.hindsight_reembed_lease_seconds)
            tx.vectors.close(self.lease, _CLOSED_S + self.total * _LOOK_S)
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
