"""Makes the request of a delivery: its body, its headers, its signature.  Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.webhook import Attempt, HttpConfig, Order
from hindsight_aws.ports.deliveries import Claimed
from hindsight_aws.webhooks.sign import signatures

OWN_HEADERS: Final = frozenset(
    {"host", "content-length", "content-type", "connection", "transfer-encoding", "upgrade", "user-agent", "te",
     "trailer", "expect", "x-hub-signature-256"}
)  # fmt: skip
"""Headers that are ours to set, besides all that begin with `x-hindsight-`."""
_SPARE_S: Final = 15.0
"""What must be left of the lease, once the receiver has had its time, for the receipt to come back."""


def order_for(tenant_id: TenantId, bank_id: BankId, claimed: Claimed, now: float) -> Order:
    """The request for an attempt.  The body is the same at each attempt, and so is the event's id."""
    body = body_of(claimed)
    headers = {
        **claimed.http.headers,
        "Content-Type": "application/json",
        "User-Agent": "hindsight-aws",
        "X-Hindsight-Event": claimed.event,
        "X-Hindsight-Event-Id": str(claimed.event_id),
        "X-Hindsight-Delivery-Id": str(claimed.delivery_id),
    }
    if claimed.secret is not None:
        headers |= signatures(claimed.secret, body, int(now))
    return Order(
        Attempt(tenant_id, bank_id, claimed.delivery_id, claimed.fence),
        _with_params(claimed.url, claimed.http.params),
        HttpConfig(claimed.http.method, claimed.http.timeout_seconds),
        headers,
        body,
        claimed.lease_until - claimed.http.timeout_seconds - _SPARE_S,
    )


def body_of(claimed: Claimed) -> str:
    """What a receiver is told, in ASCII; what is null is left out."""
    told = {
        "event_id": str(claimed.event_id),
        "event": claimed.event,
        "bank_id": claimed.bank,
        "operation_id": str(claimed.operation_id),
        "status": claimed.status,
        "timestamp": claimed.created_at.isoformat(),
        "data": {name: value for name, value in claimed.data.items() if value is not None},
    }
    return json.dumps(told, separators=(",", ":"))


def _with_params(url: str, params: Mapping[str, str]) -> str:
    if not params:
        return url
    bare = url.partition("#")[0]
    return f"{bare}{'&' if '?' in bare else '?'}{urlencode(params)}"
