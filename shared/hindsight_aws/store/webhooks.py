"""Events for webhooks in Postgres.  Called through ports/webhooks.py; calls sql/webhooks.sql."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId
from hindsight_aws.model.webhook import WebhookEvent
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("webhooks")


class PostgresWebhooks:
    """The events of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def tell(self, bank_id: BankId, events: Sequence[WebhookEvent]) -> None:
        if events:
            told = [_row(event) for event in sorted(events, key=lambda event: event.event_id)]
            self._session.execute(_SQL["tell"], bank_id=bank_id, events=Jsonb(told))


def _row(event: WebhookEvent) -> dict[str, object]:
    return {
        "event_id": str(event.event_id),
        "event": event.event,
        "operation_id": str(event.operation_id),
        "status": event.status,
        "data": dict(event.data),
    }
