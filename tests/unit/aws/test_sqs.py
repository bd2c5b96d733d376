"""Wake-ups over SQS: what is sent, and that a send that fails fails nothing else."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.stub import Stubber

from hindsight_aws.aws.sqs import SqsWakeups
from hindsight_aws.model.erasure import ErasureId
from hindsight_aws.model.ids import BankId, OperationId, ScopeId, TenantId
from hindsight_aws.settings import Settings

_INGEST = "http://127.0.0.1:1/queue/ingest"
_CONVERT = "http://127.0.0.1:1/queue/convert"
_CONSOLIDATE = "http://127.0.0.1:1/queue/consolidate"
_DELIVER = "http://127.0.0.1:1/queue/deliver"
_TENANT = TenantId(uuid4())


@pytest.fixture
def wakeups() -> SqsWakeups:
    settings = Settings().model_copy(
        update={"hindsight_queue_ingest_url": _INGEST, "hindsight_queue_consolidate_url": _CONSOLIDATE}
        | {"hindsight_queue_convert_url": _CONVERT, "hindsight_queue_deliver_url": _DELIVER}
    )
    return SqsWakeups(settings)


@pytest.fixture
def stub(wakeups: SqsWakeups) -> Iterator[Stubber]:
    client = boto3.session.Session().client("sqs", region_name="eu-central-1")
    wakeups.__dict__["_client"] = client
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()
    client.close()


def _expected(url: str, bodies: list[dict[str, str]], delay: int = 0) -> dict[str, Any]:
    entries = [
        {"Id": str(place), "MessageBody": json.dumps(body), "MessageGroupId": str(_TENANT), "DelaySeconds": delay}
        for place, body in enumerate(bodies)
    ]
    return {"QueueUrl": url, "Entries": entries}


def test_operations_are_named_by_id_ten_to_a_call_grouped_by_tenant(wakeups: SqsWakeups, stub: Stubber) -> None:
    ids = [OperationId(uuid4()) for _ in range(12)]
    bodies = [{"tenant_id": str(_TENANT), "operation_id": str(each)} for each in ids]
    for group in (bodies[:10], bodies[10:]):
        stub.add_response("send_message_batch", {"Successful": [], "Failed": []}, _expected(_INGEST, group, 30))

    wakeups.wake_operations(_TENANT, ids, 30)


@pytest.mark.parametrize(("asked", "sent"), [(5_000, 900), (901, 900), (-1, 0), (-5_000, 0)])
def test_a_delay_that_sqs_does_not_take_is_cut(wakeups: SqsWakeups, stub: Stubber, asked: int, sent: int) -> None:
    operation = OperationId(uuid4())
    body = {"tenant_id": str(_TENANT), "operation_id": str(operation)}
    stub.add_response("send_message_batch", {"Successful": [], "Failed": []}, _expected(_INGEST, [body], sent))

    wakeups.wake_operations(_TENANT, [operation], asked)


def test_conversions_go_to_their_own_queue(wakeups: SqsWakeups, stub: Stubber) -> None:
    operation = OperationId(uuid4())
    body = {"tenant_id": str(_TENANT), "operation_id": str(operation)}
    stub.add_response("send_message_batch", {"Successful": [], "Failed": []}, _expected(_CONVERT, [body], 7))

    wakeups.wake_conversions(_TENANT, [operation], 7)


def test_scopes_go_to_their_own_queue(wakeups: SqsWakeups, stub: Stubber) -> None:
    bank, scope = BankId(uuid4()), ScopeId(uuid4())
    body = {"tenant_id": str(_TENANT), "bank_id": str(bank), "scope_id": str(scope)}
    stub.add_response("send_message_batch", {"Successful": [], "Failed": []}, _expected(_CONSOLIDATE, [body]))

    wakeups.wake_scopes(_TENANT, bank, [scope])


def test_a_banks_links_are_a_message_of_another_kind_on_the_ingest_queue(wakeups: SqsWakeups, stub: Stubber) -> None:
    bank = BankId(uuid4())
    body = {"kind": "links", "tenant_id": str(_TENANT), "bank_id": str(bank)}
    stub.add_response("send_message_batch", {"Successful": [], "Failed": []}, _expected(_INGEST, [body], 60))

    wakeups.wake_links(_TENANT, bank, 60)


def test_an_erasure_is_a_message_of_another_kind_on_the_ingest_queue(wakeups: SqsWakeups, stub: Stubber) -> None:
    erasure = ErasureId(uuid4())
    body = {"kind": "erasure", "tenant_id": str(_TENANT), "erasure_id": str(erasure)}
    stub.add_response("send_message_batch", {"Successful": [], "Failed": []}, _expected(_INGEST, [body], 30))

    wakeups.wake_erasure(_TENANT, erasure, 30)


def test_webhooks_are_woken_for_by_bank_and_deliveries_by_id(wakeups: SqsWakeups, stub: Stubber) -> None:
    bank, delivery = BankId(uuid4()), uuid4()
    place = {"tenant_id": str(_TENANT), "bank_id": str(bank)}
    for body, delay in (
        ({"kind": "events", **place}, 0),
        ({"kind": "delivery", **place, "delivery_id": str(delivery)}, 5),
    ):
        stub.add_response("send_message_batch", {"Successful": [], "Failed": []}, _expected(_DELIVER, [body], delay))

    wakeups.wake_webhooks(_TENANT, bank)
    wakeups.wake_deliveries(_TENANT, bank, [delivery], 5)


@pytest.mark.parametrize("how", ["error", "refusal"])
def test_a_send_that_fails_is_logged_by_id_and_raises_nothing(
    wakeups: SqsWakeups, stub: Stubber, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    operation = OperationId(uuid4())
    if how == "error":
        stub.add_client_error("send_message_batch", "ServiceUnavailable", http_status_code=503)
    else:
        failed = [{"Id": "0", "Code": "InternalError", "SenderFault": False}]
        stub.add_response("send_message_batch", {"Successful": [], "Failed": failed})

    with caplog.at_level(logging.WARNING):
        wakeups.wake_operations(_TENANT, [operation])

    assert str(operation) in caplog.text


def test_a_queue_without_a_url_is_not_sent_to() -> None:
    SqsWakeups(Settings()).wake_scopes(_TENANT, BankId(uuid4()), [ScopeId(uuid4())])
