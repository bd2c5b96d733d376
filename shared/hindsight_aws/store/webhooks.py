"""Webhooks and their events in Postgres.  Called through ports/webhooks.py; calls sql/webhooks.sql."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid5

from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId
from hindsight_aws.model.webhook import CONSOLIDATION_COMPLETED, EventStatus, HttpConfig, Webhook, WebhookEvent
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.webhooks import NewWebhook, WebhookChange
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("webhooks")
_LONGEST_ROUND_S = 900.0
"""A bank in which something always waits is told of at least about so often."""


class PostgresWebhooks:
    """The hooks and events of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def tell(self, bank_id: BankId, events: Sequence[WebhookEvent]) -> bool:
        if not events:
            return False
        told = [_told(event) for event in sorted(events, key=lambda event: event.event_id)]
        row = self._session.row(_SQL["tell"], bank_id=bank_id, events=Jsonb(told))
        return row is not None and bool(row["is_heard"])

    def tell_of_round(self, bank_id: BankId, *, everywhere: bool) -> bool:
        row = self._session.row(
            _SQL["round_to_tell"],
            bank_id=bank_id,
            event=CONSOLIDATION_COMPLETED,
            everywhere=everywhere,
            longest_seconds=_LONGEST_ROUND_S,
        )
        if row is None:
            return False
        changes = {f"observations_{did}": row[did] for did in ("created", "updated", "deleted")}
        error = f"{row['failed']} facts could not be consolidated: {row['example']}" if row["failed"] else None
        status: EventStatus = "failed" if row["failed"] else "completed"
        # Who ends the same round at the same time counts from the same telling, and so comes to the same id.
        round_id = uuid5(bank_id, f"round after {row['told_at']}")
        is_first = self._session.row(
            _SQL["add_round"],
            bank_id=bank_id,
            operation_id=round_id,
            status=status,
            result=Jsonb({"memories_processed": row["facts"], "memories_failed": row["failed"], **changes}),
            error_message=error,
            began_at=row["began_at"],
        )
        event = WebhookEvent(CONSOLIDATION_COMPLETED, round_id, status, {**changes, "error_message": error})
        return is_first is not None and self.tell(bank_id, [event])

    def page(self, bank_id: BankId, *, limit: int, offset: int) -> Page[Webhook]:
        rows = self._session.rows(_SQL["page"], bank_id=bank_id, limit=limit, offset=offset)
        return Page([_webhook(row) for row in rows if row["id"] is not None], rows[0]["total"])

    def exists(self, bank_id: BankId, webhook_id: UUID) -> bool:
        return self._session.row(_SQL["exists"], bank_id=bank_id, webhook_id=webhook_id) is not None

    def add(self, bank_id: BankId, webhook_id: UUID, hook: NewWebhook, at_most: int) -> Webhook | None:
        row = self._session.row(
            _SQL["add"],
            bank_id=bank_id,
            webhook_id=webhook_id,
            url=hook.url,
            secret=hook.secret,
            event_types=list(hook.event_types),
            is_enabled=hook.is_enabled,
            at_most=at_most,
            **_http_params(hook.http),
        )
        return None if row is None else _webhook(row)

    def change(self, bank_id: BankId, webhook_id: UUID, change: WebhookChange) -> Webhook | None:
        row = self._session.row(
            _SQL["change"],
            bank_id=bank_id,
            webhook_id=webhook_id,
            url=change.url,
            secret=change.secret,
            sets_secret=change.sets_secret,
            event_types=None if change.event_types is None else list(change.event_types),
            is_enabled=change.is_enabled,
            **_http_params(change.http),
        )
        return None if row is None else _webhook(row)

    def remove(self, bank_id: BankId, webhook_id: UUID) -> bool:
        return self._session.execute(_SQL["remove"], bank_id=bank_id, webhook_id=webhook_id) > 0


def http_of(row: Row) -> HttpConfig:
    """The columns that say how a receiver is called."""
    return HttpConfig(row["method"], row["timeout_seconds"], row["headers"], row["params"])


def _http_params(http: HttpConfig | None) -> dict[str, object]:
    if http is None:
        return dict.fromkeys(("method", "timeout_seconds", "headers", "params"))
    return {
        "method": http.method,
        "timeout_seconds": http.timeout_seconds,
        "headers": Jsonb(dict(http.headers)),
        "params": Jsonb(dict(http.params)),
    }


def _told(event: WebhookEvent) -> dict[str, object]:
    return {
        "event_id": str(event.event_id),
        "event": event.event,
        "operation_id": str(event.operation_id),
        "status": event.status,
        "data": dict(event.data),
    }


def _webhook(row: Row) -> Webhook:
    return Webhook(
        id=row["id"],
        url=row["url"],
        event_types=tuple(row["event_types"]),
        is_enabled=row["is_enabled"],
        http=http_of(row),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
