"""The queue and schedule doors as Lambda calls them, over a real database."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import pytest

from hindsight_aws.errors import ModelUnavailable
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.retain import RetainItem
from tests.integration.retain.conftest import Workshop, workshop
from tests.support.database import Database, make_tenant
from tests.support.models import block, one_fact_per_line

__all__ = ["workshop"]

Open = Callable[[str], ModuleType]


@dataclass
class _Context:
    """The part of Lambda's context that the doors read."""

    milliseconds: int = 60_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


@pytest.fixture
def open_door(workshop: Workshop, database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Imports a door as a fresh process would, with the workshop's models and wake-ups."""
    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
    monkeypatch.setenv("HINDSIGHT_DATABASE_URL", database.write_url)
    opened: list[ModuleType] = []

    def open_(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, f"functions.{name}.handler", raising=False)
        door = importlib.import_module(f"functions.{name}.handler")
        door._runtime.__dict__.update(embedder=workshop.embedder, text_model=workshop.model, wakeups=workshop.wakeups)
        opened.append(door)
        return door

    yield open_
    for door in opened:
        door._runtime.store.close()


def _event(messages: list[tuple[TenantId, OperationId]]) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"message-{place}",
                "receiptHandle": "r",
                "body": json.dumps({"tenant_id": str(tenant), "operation_id": str(operation)}),
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-central-1:000000000000:ingest",
                "awsRegion": "eu-central-1",
            }
            for place, (tenant, operation) in enumerate(messages)
        ]
    }


def test_only_the_message_that_crashed_comes_back(workshop: Workshop, database: Database, open_door: Open) -> None:
    def second_crashes(call: ModelCall) -> Any:
        if block(call, "chunk")["text"] == "Two.":
            raise ZeroDivisionError
        return one_fact_per_line(call)

    workshop.model.script = second_crashes
    for number, text in enumerate(["One.", "Two.", "Three.", "Four."]):
        if number == 2:
            workshop.tenant = make_tenant(database, "other")
        workshop.submit(RetainItem(text))
    messages = [(tenant, operation) for tenant, operation, _ in workshop.wakeups.operations]
    door = open_door("ingest")

    answer = door.handler(_event(messages), _Context())

    assert answer == {"batchItemFailures": [{"itemIdentifier": "message-1"}]}
    assert sorted(workshop.texts()) == ["Four.", "One.", "Three."]

    workshop.model.script = one_fact_per_line
    workshop.change("UPDATE operations SET lease_until = '-infinity'")
    assert door.handler(_event([messages[1]]), _Context()) == {"batchItemFailures": []}
    assert sorted(workshop.texts()) == ["Four.", "One.", "Three.", "Two."]


def test_a_door_without_time_left_wakes_the_operation_anew(workshop: Workshop, open_door: Open) -> None:
    workshop.submit(RetainItem("One."))
    messages = [(tenant, operation) for tenant, operation, _ in workshop.wakeups.operations]
    workshop.wakeups.operations.clear()

    answer = open_door("ingest").handler(_event(messages), _Context(milliseconds=10_000))

    assert answer == {"batchItemFailures": []}
    assert workshop.wakeups.operations == [(*messages[0], 0)]
    assert workshop.model.calls == []


def test_an_outage_of_the_model_costs_one_delayed_wake_up_and_no_message(workshop: Workshop, open_door: Open) -> None:
    workshop.model.script = lambda _call: ModelUnavailable("down")
    workshop.submit(RetainItem("One."))
    messages = [(tenant, operation) for tenant, operation, _ in workshop.wakeups.operations]
    workshop.wakeups.operations.clear()

    answer = open_door("ingest").handler(_event(messages), _Context())

    assert answer == {"batchItemFailures": []}
    ((tenant, operation, delay),) = workshop.wakeups.operations
    assert (tenant, operation) == messages[0]
    assert delay > 0


def test_the_sweep_door_wakes_what_was_left_lying(workshop: Workshop, open_door: Open) -> None:
    workshop.submit(RetainItem("One."))
    workshop.wakeups.operations.clear()

    answer = open_door("sweep").handler({}, _Context())

    assert answer == {"operation:retain": 1}
    assert len(workshop.wakeups.operations) == 1


def test_a_replaced_document_wakes_the_links_which_the_ingest_door_then_tends(
    workshop: Workshop, open_door: Open
) -> None:
    noon = datetime(2031, 5, 4, 12, tzinfo=UTC)
    for minutes, document in ((0, "a"), (1, "b"), (2, "c")):
        happened = noon + timedelta(minutes=minutes)
        workshop.retain(RetainItem(f"Of {document}.", document_id=document, timestamp=happened))
    assert workshop.wakeups.links == []
    workshop.retain(RetainItem("Of a, anew.", document_id="a", timestamp=noon))
    (woken,) = workshop.wakeups.links
    body = {"kind": "links", "tenant_id": str(woken[0]), "bank_id": str(woken[1])}
    event = _event([(woken[0], OperationId(woken[1]))])
    event["Records"][0]["body"] = json.dumps(body)
    assert workshop.rows("SELECT count(DISTINCT item_id) AS n FROM link_maintenance WHERE kind = 'fact'") == [{"n": 2}]

    answer = open_door("ingest").handler(event, _Context())

    assert answer == {"batchItemFailures": []}
    assert workshop.rows("SELECT * FROM link_maintenance") == []
    assert workshop.rows("SELECT count(*) AS n FROM memory_links WHERE link_type = 'temporal'") == [{"n": 3}]


def test_the_sweep_door_wakes_a_bank_whose_links_nobody_tended(workshop: Workshop, open_door: Open) -> None:
    workshop.retain(RetainItem("One.", document_id="a"))
    workshop.change(
        "INSERT INTO link_maintenance (tenant_id, bank_id, item_id) SELECT tenant_id, bank_id, id FROM memory_units"
    )
    (bank,) = workshop.rows("SELECT bank_id FROM banks")

    answer = open_door("sweep").handler({}, _Context())

    assert answer["links"] == 1
    assert workshop.wakeups.links == [(workshop.tenant, bank["bank_id"], 0)]
