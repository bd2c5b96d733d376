"""Webhooks: a bank's hooks, to create, list, change and delete, and what became of each delivery."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.errors import detail
from hindsight_aws.api.newborn import furnish
from hindsight_aws.api.query import Offset
from hindsight_aws.api.schemas.webhooks import CreateWebhookRequest, UpdateWebhookRequest
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.principal import Permission
from hindsight_aws.model.webhook import Delivery, Webhook
from hindsight_aws.webhooks import manage

router = APIRouter(prefix="/v1/default/banks/{bank_id}/webhooks", route_class=ReportingRoute)
_INVALID_ID = "Invalid webhook ID"


@router.post("")
async def create_webhook(call: CallDep, bank_id: str, body: CreateWebhookRequest) -> Response:
    """Gives the bank a new hook; makes the bank if there is none."""
    principal = call.principal(Permission.ADMIN)
    furnish(call, principal, bank_id, Permission.ADMIN)
    made = manage.create(call.services.store, call.services.settings, principal, bank_id, body.as_hook())
    return json_answer(_shown(made, bank_id), 201)


@router.get("")
async def list_webhooks(
    call: CallDep, bank_id: str, limit: Annotated[int, Query(ge=0, le=1_000)] = 100, offset: Offset = 0
) -> Response:
    """The bank's hooks, the oldest first."""
    principal = call.principal(Permission.ADMIN)
    found = manage.page(call.services.store, principal, bank_id, limit, offset)
    items = [_shown(hook, bank_id) for hook in found.items]
    return json_answer({"items": items, "total": found.total, "limit": limit, "offset": offset})


@router.patch("/{webhook_id}")
async def update_webhook(call: CallDep, bank_id: str, webhook_id: str, body: UpdateWebhookRequest) -> Response:
    """Changes a hook."""
    principal = call.principal(Permission.ADMIN)
    wanted, change = _id(webhook_id), body.as_change()
    if wanted is None:
        return detail(_INVALID_ID, 422)
    if change is None:
        return detail("No fields provided to update", 422)
    changed = manage.update(call.services.store, call.services.settings, principal, bank_id, wanted, change)
    return json_answer(_shown(changed, bank_id))


@router.delete("/{webhook_id}")
async def delete_webhook(call: CallDep, bank_id: str, webhook_id: str) -> Response:
    """Removes a hook."""
    principal = call.principal(Permission.ADMIN)
    wanted = _id(webhook_id)
    if wanted is None:
        return detail(_INVALID_ID, 422)
    manage.delete(call.services.store, principal, bank_id, wanted)
    return json_answer({"success": True, "message": None, "deleted_count": None})


@router.get("/{webhook_id}/deliveries")
async def list_webhook_deliveries(
    call: CallDep,
    bank_id: str,
    webhook_id: str,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> Response:
    """A hook's deliveries, newest first; `next_cursor` leads on."""
    principal = call.principal(Permission.ADMIN)
    wanted = _id(webhook_id)
    if wanted is None:
        return detail(_INVALID_ID, 422)
    before = None if not cursor else _place(cursor)
    found = manage.deliveries(call.services.store, principal, bank_id, wanted, limit + 1, before)
    shown = found[:limit]
    more = f"{shown[-1].created_at.isoformat()}~{shown[-1].id}" if len(found) > limit else None
    return json_answer({"items": [_delivery(each) for each in shown], "next_cursor": more})


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _place(cursor: str) -> tuple[datetime, UUID]:
    moment, _, last = cursor.partition("~")
    try:
        # A plus sign that was not encoded comes as a space.
        return datetime.fromisoformat(moment.replace(" ", "+")), UUID(last)
    except ValueError:
        raise InvalidRequest("cursor must be a next_cursor of this list") from None


def _shown(hook: Webhook, bank: str) -> dict[str, object]:
    return {
        "id": hook.id,
        "bank_id": bank,
        "url": hook.url,
        "secret": None,
        "event_types": list(hook.event_types),
        "enabled": hook.is_enabled,
        "http_config": asdict(hook.http),
        "created_at": hook.created_at,
        "updated_at": hook.updated_at,
    }


def _delivery(delivery: Delivery) -> dict[str, object]:
    return {
        "id": delivery.id,
        "event_id": delivery.event_id,
        "webhook_id": delivery.webhook_id,
        "url": delivery.url,
        "event_type": delivery.event,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "next_retry_at": delivery.due_at if delivery.status == "pending" else None,
        "last_error": delivery.last_error,
        "last_response_status": delivery.last_status,
        "last_response_body": None,
        "last_attempt_at": delivery.last_attempt_at,
        "created_at": delivery.created_at,
        "updated_at": delivery.updated_at,
    }
