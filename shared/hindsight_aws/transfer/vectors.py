"""Vectors as archives hold them: what Postgres sends of a `halfvec`, in base 64.  Used by restore.py and merge.py."""

from __future__ import annotations

import base64
import binascii
import struct
from array import array
from collections.abc import Sequence
from math import isfinite

from hindsight_aws.errors import ArchiveRefused, HindsightError
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.model_gateway import Embedder, Embedding, JsonObject, JsonValue, ModelUsage, UsageSink
from hindsight_aws.retain.extraction.wording import embedded_text
from hindsight_aws.transfer.columns import called_of, moment_of
from hindsight_aws.transfer.kinds import Kind
from hindsight_aws.transfer.manifest import DIMENSIONS
from hindsight_aws.transfer.ports import TransferPorts
from hindsight_aws.usage.allowance import parked
from hindsight_aws.usage.ledger import ledger_entries


def vector_of(sent: JsonValue) -> Embedding | None:
    """The vector, None where the row has none.  Raises: ArchiveRefused for what is none."""
    if sent is None:
        return None
    try:
        raw = base64.b64decode(str(sent), validate=True)
        dimensions, unused = struct.unpack_from(">HH", raw)
        values = array("f", struct.unpack_from(f">{dimensions}e", raw, 4))
    except (binascii.Error, struct.error, ValueError):
        raise ArchiveRefused("a vector is not one") from None
    if unused or dimensions != DIMENSIONS or len(raw) != 4 + 2 * dimensions or not isfinite(sum(values)):
        raise ArchiveRefused("a vector is not one")
    return Embedding(values, is_zero=False)


def paid_anew(
    ports: TransferPorts,
    tenant_id: TenantId,
    lease: Lease,
    rows: tuple[Kind, Sequence[JsonObject]],
    embedder: Embedder,
    usages: list[ModelUsage],
) -> list[Embedding | None]:
    """Vectors of this deployment's model for rows that had some of another; what the calls cost is in `usages`.

    Of calls that do not come to an end it is in the ledger as well.  Raises: LimitReached while the tenant's model work
    waits; what the Embedder does.
    """
    with ports.store.transaction(tenant_id) as tx:
        limit = parked(tx, ports.clock.now())
    if limit is not None:
        raise limit
    try:
        return _embedded(*rows, embedder, usages.append)
    except HindsightError:
        with ports.store.transaction(tenant_id) as tx:
            tx.usage.record(ledger_entries(usages, lease.subject, lease.bank_id, lease.operation_id))
        raise


def _embedded(kind: Kind, rows: Sequence[JsonObject], embedder: Embedder, usage: UsageSink) -> list[Embedding | None]:
    texts = {place: text for place, row in enumerate(rows) if (text := _text(kind, row)) is not None}
    made = embedder.embed(list(texts.values()), "document", usage) if texts else []
    found = dict(zip(texts, made, strict=True))
    vectors = [found.get(place) for place in range(len(rows))]
    return [None if vector is None or vector.is_zero else vector for vector in vectors]


def _text(kind: Kind, row: JsonObject) -> str | None:
    """What the row's vector stands for, as it was embedded when the row was made; None where it has no vector."""
    text = row.get(kind.embeds or "")
    if row.get("vector") is None or not isinstance(text, str):
        return None
    if kind.name == "mental_models":
        return f"{row.get('name')}\n\n{text}"
    if row.get("fact_type") not in {"world", "experience"}:
        return text
    start = moment_of(row.get("occurred_start")) or moment_of(row.get("mentioned_at"))
    return embedded_text(text, start, moment_of(row.get("occurred_end")), [name for name, _ in called_of(kind, row)])
