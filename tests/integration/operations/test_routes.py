"""Operations over HTTP: the shapes clients know, and what a limited key is not shown."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.errors import ModelRefused
from hindsight_aws.model.watermark import read_watermark
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import (
    Caller,
    FakeRuntime,
    call,
    handler,
    make_key,
    module_store,
    module_tenant,
    owner_store,
    services,
)
from tests.support.database import Database, make_tenant

__all__ = ["call", "handler", "module_store", "module_tenant", "owner_store", "services"]
_BANK = "/v1/default/banks/bank"
_OPERATIONS = f"{_BANK}/operations"


def _submitted(call: Caller, *contents: str) -> str:
    items = [{"content": content} for content in contents or ("Some text.",)]
    answer = call("POST", f"{_BANK}/memories", {"items": items, "async": True})
    assert answer.status == 200, answer.body
    return str(answer.json()["operation_id"])


def test_an_operation_is_cancelled_retried_and_deleted(call: Caller) -> None:
    operation = _submitted(call)
    said = []

    for method, path in (("DELETE", ""), ("POST", "/retry"), ("DELETE", ""), ("DELETE", "/delete")):
        answer = call(method, f"{_OPERATIONS}/{operation}{path}")
        said.append((answer.status, answer.json()))

    assert [status for status, _ in said] == [200] * 4
    assert all(body.keys() == {"success", "message", "operation_id"} for _, body in said)
    assert all((body["success"], body["operation_id"]) == (True, operation) for _, body in said)
    assert call("GET", f"{_OPERATIONS}/{operation}").json()["status"] == "not_found"


@pytest.mark.parametrize(("method", "path"), [("DELETE", ""), ("POST", "/retry"), ("DELETE", "/delete")])
def test_what_cannot_be_changed_says_why(call: Caller, method: str, path: str) -> None:
    operation = _submitted(call)
    if path != "/delete":
        for each in call("GET", f"{_OPERATIONS}/{operation}").json()["child_operations"]:
            call("DELETE", f"{_OPERATIONS}/{each['operation_id']}")
    if path == "/retry":
        call("POST", f"{_OPERATIONS}/{operation}/retry")

    answers = [
        call(method, f"{_OPERATIONS}/{target}{path}").status for target in (operation, uuid4(), "not-a-uuid", "%00")
    ]
    elsewhere = call(method, f"/v1/default/banks/nobody/operations/{operation}{path}").status

    assert answers == [409, 404, 400, 400]
    assert elsewhere == 404


def test_a_parent_shows_its_children_their_progress_and_what_they_cost(call: Caller, services: FakeRuntime) -> None:
    services.settings = services.settings.model_copy(update={"hindsight_api_retain_batch_tokens": 1})
    call("POST", f"{_BANK}/memories", {"items": [{"content": "Elsewhere."}]})
    items = [{"content": f"Fact {number}.", "document_id": f"d{number}"} for number in range(3)]
    operation = call("POST", f"{_BANK}/memories", {"items": items, "async": True}).json()["operation_id"]

    shown: dict[str, Any] = call("GET", f"{_OPERATIONS}/{operation}").json()

    assert (shown["operation_type"], shown["status"]) == ("batch_retain", "pending")
    assert [child["sub_batch_index"] for child in shown["child_operations"]] == [1, 2, 3]
    assert {name: shown["result_metadata"][name] for name in ("is_parent", "items_count", "num_sub_batches")} == {
        "is_parent": True, "items_count": 3, "num_sub_batches": 3,
    }  # fmt: skip
    assert (shown["progress"]["processed"], shown["progress"]["total"]) == (0, 3)


def test_a_retain_is_answered_with_its_watermark_items_and_usage(call: Caller) -> None:
    done = call("POST", f"{_BANK}/memories", {"items": [{"content": "One.\nTwo.", "document_id": "d"}]})
    queued = call("POST", f"{_BANK}/memories", {"items": [{"content": "Later."}], "async": True})

    for answer in (done, queued):
        token = answer.json()["watermark"]
        assert answer.headers["x-hindsight-watermark"] == token
        assert len(read_watermark(token).operation_ids) == 1
    (item,) = done.json()["items"]
    assert (item["document_id"], item["memories_count"], len(item["memory_ids"])) == ("d", 2, 2)
    assert done.json()["usage"]["total_tokens"] == 120
    assert (queued.json()["usage"], "items" in queued.json()) == (None, False)


def test_a_failed_retain_keeps_a_readable_reason(call: Caller, services: FakeRuntime) -> None:
    services.model.script = lambda _call: ModelRefused("x" * 9_000)

    answer = call("POST", f"{_BANK}/memories", {"items": [{"content": "No."}]})

    assert answer.status == 502
    (listed,) = call("GET", f"{_OPERATIONS}?status=failed&type=retain").json()["operations"]
    assert listed["error_message"].startswith("items[0].content: x")
    assert len(listed["error_message"]) == 5_000


def test_a_limited_key_sees_its_own_operations_without_their_payload(
    module_database: Database, owner_store: PostgresStore, handler: Any
) -> None:
    tenant = make_tenant(module_database, "limited")
    tags = {"tags": ["a"], "match": "any_strict"}
    whole, limited = (
        Caller(handler, make_key(owner_store, tenant, **limits))
        for limits in ({"subject": "whole"}, {"subject": "part", "forced_tags": tags})
    )
    body = {"items": [{"content": "Some text.", "tags": ["a"]}], "async": True}
    theirs, own = (caller("POST", f"{_BANK}/memories", body).json()["operation_id"] for caller in (whole, limited))

    def child(caller: Caller, operation: str) -> str:
        return str(caller("GET", f"{_OPERATIONS}/{operation}").json()["child_operations"][0]["operation_id"])

    payloads = [
        caller("GET", f"{_OPERATIONS}/{child(caller, own)}?include_payload=true").json()["task_payload"]
        for caller in (whole, limited)
    ]

    assert "Some text." in str(payloads[0])
    assert payloads[1] is None
    assert limited("GET", f"{_OPERATIONS}/{theirs}").json()["status"] == "not_found"
    for method, path in (("DELETE", ""), ("POST", "/retry"), ("DELETE", "/delete")):
        assert limited(method, f"{_OPERATIONS}/{theirs}{path}").status == 404
    assert limited("DELETE", f"{_OPERATIONS}/{own}").status == 200
