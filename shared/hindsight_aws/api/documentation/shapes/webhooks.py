"""Webhooks and their deliveries."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class WebhookHttpConfig(TypedDict):
    """How a receiver is called."""

    method: NotRequired[str]
    timeout_seconds: NotRequired[int]
    headers: NotRequired[dict[str, str]]
    params: NotRequired[dict[str, str]]


class WebhookResponse(TypedDict):
    """A webhook; its secret is never shown."""

    id: str
    bank_id: str | None
    url: str
    secret: NotRequired[str | None]
    event_types: list[str]
    enabled: bool
    http_config: NotRequired[WebhookHttpConfig]
    created_at: NotRequired[str | None]
    updated_at: NotRequired[str | None]


class WebhookListResponse(TypedDict):
    """One page of webhooks."""

    items: list[WebhookResponse]
    total: int
    limit: int
    offset: int


class WebhookDeliveryResponse(TypedDict):
    """What became of one delivery."""

    id: str
    event_id: NotRequired[str | None]
    webhook_id: str | None
    url: str
    event_type: str
    status: str
    attempts: int
    next_retry_at: NotRequired[str | None]
    last_error: NotRequired[str | None]
    last_response_status: NotRequired[int | None]
    last_response_body: NotRequired[str | None]
    last_attempt_at: NotRequired[str | None]
    created_at: NotRequired[str | None]
    updated_at: NotRequired[str | None]


class WebhookDeliveryListResponse(TypedDict):
    """Deliveries, the newest first."""

    items: list[WebhookDeliveryResponse]
    next_cursor: NotRequired[str | None]
