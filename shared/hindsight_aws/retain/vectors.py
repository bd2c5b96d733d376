"""Vectors for one attempt at an operation: made in slices, each kept before the next, so that a continuation goes on.

Called by the job in place of the embedding model; calls the model and the store ports.
"""

from __future__ import annotations

import hashlib
import struct
import time
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_aws.errors import WorkDeferred
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Progress
from hindsight_aws.ports.model_gateway import Embedder, Embedding, EmbeddingPurpose, UsageSink, serving
from hindsight_aws.retain.account import Account
from hindsight_aws.retain.begin import LeasedOperation
from hindsight_aws.retain.ports import RetainPorts

SLICE: Final = 250
"""Texts of one slice; what is not more is embedded at once and not kept."""


class KeepingEmbedder:
    """An Embedder whose work survives the attempt: a slice costs its calls once, whichever attempt asks for it.

    Between slices the lease is renewed and progress told.
    """

    def __init__(
        self, ports: RetainPorts, tenant_id: TenantId, leased: LeasedOperation, account: Account, give_up_at: float
    ) -> None:
        self._ports, self._tenant_id, self._leased, self._account = ports, tenant_id, leased, account
        self._give_up_at = give_up_at
        self._embedder = serving(ports.embedder, leased.bank.embedding_model)

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def of(self, model: str | None) -> Embedder | None:
        return self if model in (None, self.model) else None

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        """A vector for each text, in order.

        Raises: WorkDeferred when time runs out with slices left, at least one having been made and kept; WorkSuperseded
        when the operation was cancelled, or taken over; what the model and the store raise.
        """
        if len(texts) <= SLICE:
            return self._embedder.embed(texts, purpose, usage)
        vectors: list[Embedding] = []
        made = 0
        for start in range(0, len(texts), SLICE):
            part = texts[start : start + SLICE]
            key = self._key(part)
            if key in self._leased.kept:
                vectors += _unpacked(self._leased.kept[key], self.dimension)
                continue
            if made and time.monotonic() >= self._give_up_at:
                raise WorkDeferred("the time for this attempt ran out")
            found = self._embedder.embed(part, purpose, usage)
            vectors += found
            made += 1
            self._keep(key, found, Progress("embedding", len(vectors), len(texts)))
        return vectors

    def _keep(self, key: str, vectors: Sequence[Embedding], progress: Progress) -> None:
        lease = self._leased.lease
        with self._account.unrecorded() as lines, self._ports.store.transaction(self._tenant_id) as tx:
            tx.operations.renew(lease, self._ports.settings.hindsight_retain_lease_seconds, progress)
            tx.operations.keep_extractions(lease, {key: _packed(vectors)})
            tx.usage.record(lines)

    def _key(self, texts: Sequence[str]) -> str:
        digest = hashlib.sha256(self.model.encode())
        for text in texts:
            digest.update(b"\x00" + text.encode())
        return f"vectors:{digest.hexdigest()}"


def _packed(vectors: Sequence[Embedding]) -> dict[str, str]:
    """The vectors in the precision in which they are stored anyway."""
    values = [value for vector in vectors for value in vector.values]
    return {"halves": b64encode(struct.pack(f"<{len(values)}e", *values)).decode()}


def _unpacked(kept: Mapping[str, object], dimension: int) -> list[Embedding]:
    packed = b64decode(str(kept["halves"]))
    values = struct.unpack(f"<{len(packed) // 2}e", packed)
    vectors = [array("f", values[start : start + dimension]) for start in range(0, len(values), dimension)]
    return [Embedding(vector, is_zero=not any(vector)) for vector in vectors]
