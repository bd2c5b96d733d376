"""Create, change and delete hooks, and look at them.  Called by the API; one unit of work each.

A hook hears of a whole bank, and its headers may hold a receiver's password: all of it is for who administers.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from hindsight_aws.access import bank_not_found, require, require_bank, require_whole_bank, sees_bank
from hindsight_aws.errors import Conflict, NotFound
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.webhook import Delivery, Webhook
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.ports.webhooks import NewWebhook, WebhookChange
from hindsight_aws.settings import Settings
from hindsight_aws.webhooks.check import check_events, check_http, check_secret, check_url, rules_of

MOST_HOOKS: Final = 50
"""Of one bank: each event is a delivery for each."""


def create(store: Store, settings: Settings, principal: Principal, bank: str, hook: NewWebhook) -> Webhook:
    """Gives the bank a new hook, which hears of what ends from now on; makes the bank if there is none.

    Raises: InvalidField; AccessDenied; NotFound for a bank the key does not cover; Conflict when it has 50 already.
    """
    _require_all(principal)
    require_bank(principal, bank)
    checked = NewWebhook(
        check_url(hook.url, rules_of(settings)),
        check_secret(hook.secret),
        check_events(hook.event_types),
        hook.is_enabled,
        check_http(hook.http),
    )
    with store.transaction(principal.tenant_id) as tx:
        found = tx.banks.create_if_missing(bank)
        made = tx.webhooks.add(found.bank_id, uuid4(), checked, MOST_HOOKS)
        if made is None:
            raise Conflict(f"A bank may have at most {MOST_HOOKS} webhooks")
        return made


def page(store: Store, principal: Principal, bank: str, limit: int, offset: int) -> Page[Webhook]:
    """The bank's hooks, the oldest first.  Raises: AccessDenied; NotFound."""
    _require_all(principal)
    with store.snapshot(principal.tenant_id) as tx:
        found = _bank(tx, principal, bank, bank_not_found(bank))
        return tx.webhooks.page(found.bank_id, limit=limit, offset=offset)


def update(
    store: Store, settings: Settings, principal: Principal, bank: str, webhook_id: UUID, change: WebhookChange
) -> Webhook:
    """Changes a hook; deliveries that wait go to where it leads then.  Raises: InvalidField; AccessDenied; NotFound."""
    _require_all(principal)
    checked = replace(
        change,
        url=None if change.url is None else check_url(change.url, rules_of(settings)),
        secret=check_secret(change.secret),
        event_types=None if change.event_types is None else check_events(change.event_types),
        http=None if change.http is None else check_http(change.http),
    )
    with store.transaction(principal.tenant_id) as tx:
        found = _bank(tx, principal, bank, webhook_not_found())
        changed = tx.webhooks.change(found.bank_id, webhook_id, checked)
        if changed is None:
            raise webhook_not_found()
        return changed


def delete(store: Store, principal: Principal, bank: str, webhook_id: UUID) -> None:
    """Removes a hook; what is on its way to it is dropped.  Raises: AccessDenied; NotFound."""
    _require_all(principal)
    with store.transaction(principal.tenant_id) as tx:
        found = _bank(tx, principal, bank, webhook_not_found())
        if not tx.webhooks.remove(found.bank_id, webhook_id):
            raise webhook_not_found()


def deliveries(
    store: Store,
    principal: Principal,
    bank: str,
    webhook_id: UUID,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
) -> list[Delivery]:
    """A hook's deliveries, newest first.  Raises: AccessDenied; NotFound."""
    _require_all(principal)
    with store.snapshot(principal.tenant_id) as tx:
        found = _bank(tx, principal, bank, webhook_not_found())
        if not tx.webhooks.exists(found.bank_id, webhook_id):
            raise webhook_not_found()
        return tx.deliveries.page(found.bank_id, webhook_id, limit=limit, before=before)


def webhook_not_found() -> NotFound:
    """The error for a hook that is not there, or not there for this caller."""
    return NotFound("Webhook not found")


def _require_all(principal: Principal) -> None:
    require(principal, Permission.ADMIN)
    require_whole_bank(principal)


def _bank(tx: Transaction, principal: Principal, bank: str, absent: NotFound) -> Bank:
    found = tx.banks.find(bank) if sees_bank(principal, bank) else None
    if found is None:
        raise absent
    return found
