"""The side of deliveries that has the database: fans events out, claims what is due, writes down what came back.

Called by jobs/deliver.py; hands requests over to `send`, which has the internet.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import Final
from uuid import UUID

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.metric import Metric
from hindsight_aws.model.webhook import Attempt, DeliveryStatus, Order, Receipt
from hindsight_aws.ports.deliveries import Claimed, ServerHook
from hindsight_aws.ports.store import Transaction
from hindsight_aws.ports.wakeups import LONGEST_DELAY_S
from hindsight_aws.settings import Settings
from hindsight_aws.telemetry import measure
from hindsight_aws.webhooks.compose import order_for
from hindsight_aws.webhooks.messages import order_to_text
from hindsight_aws.webhooks.ports import DeliverPorts

DELAYS_S: Final = (5, 300, 1_800, 7_200, 18_000)
"""How long is waited after the first attempt that failed, the second, and so on; after one more it is over."""
MOST_ATTEMPTS: Final = len(DELAYS_S) + 1
MOST_EVENTS: Final = 50
"""Events that are fanned out at once; more get a wake-up of their own."""
MOST_AT_ONCE: Final = 25
"""Deliveries that are begun by whoever wrote them; more are left to workers of their own."""
MOST_AT_A_FAILING_HOOK: Final = 2
"""Requests at once to a receiver that failed last, of the twenty that `send` can make: others get the rest."""
PATIENCE: Final = MOST_ATTEMPTS
"""After so many failures in a row a receiver rests: as many minutes as failures, at most an hour."""
LONGEST_REST_S: Final = 86_400.0
"""A delivery that is still kept from a resting receiver a day after its event has failed."""
_GONE: Final = 410
_log = logging.getLogger(__name__)


def fan_out(ports: DeliverPorts, tenant_id: TenantId, bank_id: BankId) -> None:
    """Writes a delivery for each event of the bank and each hook that wants it, and begins with them.

    Guarantees: each pair is written once, however often and by however many this is called.
    """
    with ports.store.transaction(tenant_id) as tx:
        made = tx.deliveries.fan_out(bank_id, server_hook(ports.settings), MOST_EVENTS)
    if made.events == MOST_EVENTS:
        ports.wakeups.wake_webhooks(tenant_id, bank_id)
    if len(made.deliveries) > MOST_AT_ONCE:
        ports.wakeups.wake_deliveries(tenant_id, bank_id, made.deliveries[MOST_AT_ONCE:])
    for delivery_id in made.deliveries[:MOST_AT_ONCE]:
        hand_over(ports, tenant_id, bank_id, delivery_id)


def hand_over(ports: DeliverPorts, tenant_id: TenantId, bank_id: BankId, delivery_id: UUID) -> None:
    """Takes the lease of a delivery that is due and has its request made; does nothing for any other.

    Guarantees: an attempt is counted before it is made, so that workers which die of one cannot repeat it for ever.
    """
    with ports.store.transaction(tenant_id) as tx:
        put_off = tx.deliveries.put_off(bank_id, delivery_id, MOST_AT_A_FAILING_HOOK, LONGEST_REST_S)
        seconds = ports.settings.hindsight_webhook_lease_seconds
        claimed = None if put_off is not None else tx.deliveries.claim(bank_id, delivery_id, seconds)
        order = None if claimed is None else _order(ports, tx, tenant_id, bank_id, claimed)
    if put_off is not None and put_off.has_ended:
        measure(Metric.DEAD_DELIVERIES)
    elif put_off is not None and put_off.wait_seconds <= LONGEST_DELAY_S:
        ports.wakeups.wake_deliveries(tenant_id, bank_id, [delivery_id], math.ceil(put_off.wait_seconds))
    if order is not None:
        ports.messages.to_send(tenant_id, order_to_text(order))


def settle(ports: DeliverPorts, attempt: Attempt, receipt: Receipt) -> None:
    """Ends the delivery, or has it tried again later; a receipt that is not for the last attempt changes nothing."""
    with ports.store.transaction(attempt.tenant_id) as tx:
        tx.deliveries.note_answer(
            attempt.bank_id, attempt.delivery_id, attempt.fence, is_taken=is_taken(receipt), patience=PATIENCE
        )
        attempts = tx.deliveries.attempts(attempt.bank_id, attempt.delivery_id, attempt.fence)
        if attempts is None:
            return
        status, wait_s = verdict(attempts, receipt)
        said = receipt if receipt.error or status == "completed" else replace(receipt, error=f"HTTP {receipt.status}")
        tx.deliveries.settle(attempt.bank_id, attempt.delivery_id, attempt.fence, status, said, wait_s)
    if status == "failed":
        measure(Metric.DEAD_DELIVERIES)
    _log.info("delivery %s: %s after %d attempts", attempt.delivery_id, status, attempts)
    if status == "pending" and wait_s <= LONGEST_DELAY_S:
        ports.wakeups.wake_deliveries(attempt.tenant_id, attempt.bank_id, [attempt.delivery_id], wait_s)


def verdict(attempts: int, receipt: Receipt) -> tuple[DeliveryStatus, int]:
    """What becomes of a delivery after so many attempts, the last with this receipt; and how long it waits, in seconds.

    A receiver that says it is gone is not asked again.
    """
    if is_taken(receipt):
        return "completed", 0
    if receipt.status == _GONE or attempts >= MOST_ATTEMPTS:
        return "failed", 0
    return "pending", DELAYS_S[max(attempts, 1) - 1]


def is_taken(receipt: Receipt) -> bool:
    """Whether the receiver said yes."""
    return receipt.status is not None and 200 <= receipt.status < 300


def server_hook(settings: Settings) -> ServerHook:
    """The hook of the settings, which hears of every bank."""
    return ServerHook(settings.hindsight_api_webhook_url, settings.hindsight_api_webhook_event_types)


def _order(
    ports: DeliverPorts, tx: Transaction, tenant_id: TenantId, bank_id: BankId, claimed: Claimed
) -> Order | None:
    """The request of an attempt, or None for one that is not to be made: its delivery ends."""
    if claimed.is_enabled and claimed.attempts <= MOST_ATTEMPTS:
        return order_for(tenant_id, bank_id, claimed, ports.clock.now().timestamp())
    why = "no receipt came back for the last attempt" if claimed.is_enabled else "the webhook is disabled"
    tx.deliveries.abandon(bank_id, claimed.delivery_id, claimed.fence, why)
    if claimed.is_enabled:
        measure(Metric.DEAD_DELIVERIES)
    return None
