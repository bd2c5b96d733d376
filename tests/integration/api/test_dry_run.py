"""Dry runs over HTTP: the recorded shape, and clear answers to wrong bodies."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database, make_tenant
from tests.support.golden import schema_errors
from tests.support.models import fact

_PATH = "/v1/default/banks/nobody/memories/dry-run-extract"
_ROUTE = "/v1/default/banks/{bank_id}/memories/dry-run-extract"


@pytest.fixture
def runtime(database: Database, store: PostgresStore) -> FakeRuntime:
    return make_services(store, make_tenant(database))


@pytest.fixture
def caller(runtime: FakeRuntime) -> Caller:
    return make_caller(runtime)


def test_a_dry_run_answers_facts_chunks_and_usage_and_makes_no_bank(caller: Caller, runtime: FakeRuntime) -> None:
    found: Any = fact(
        "Eve went to Rome.",
        fact_kind="event",
        occurred_start="2024-05",
        entities=["Eve"],
        labels=[{"key": "mood", "value": "calm"}],
    )
    runtime.model.script = lambda _call: {"facts": [found, {"what": 5}]}

    answer = caller(
        "POST",
        _PATH,
        {
            "content": [{"type": "text", "text": "Eve went to Rome in May."}],
            "timestamp": "2024-06-01T10:00:00+02:00",
            "entity_labels": [{"key": "mood", "type": "text"}],
            "retain_mission": None,
            "agent_name": "old",
        },
    )

    told = answer.json()
    assert answer.status == 200
    assert schema_errors("POST", _ROUTE, 200, told) == []
    assert told["facts"] == [
        {
            "text": "Eve went to Rome.",
            "fact_type": "world",
            "occurred_start": "2024-05-01T00:00:00+02:00",
            "occurred_end": "2024-05-31T23:59:59+02:00",
            "entities": ["Eve", "mood:calm"],
            "chunk_index": 0,
            "attachments": [],
        }
    ]
    assert told["chunks"] == [{"text": "Eve went to Rome in May.", "fact_count": 1}]
    assert told["extraction_errors"] == ["facts[1] has a `what` that is not text"]
    assert caller("GET", "/v1/default/banks/nobody/config").status == 404


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({}, 422, "content"),
        ({"content": "  "}, 422, "content"),
        ({"content": "x", "timestamp": "tomorrow"}, 422, "timestamp"),
        ({"content": "x", "entity_labels": ["use"]}, 422, "entity_labels"),
        ({"content": "x", "retain_chunk_size": -1}, 400, "retain_chunk_size"),
        ({"content": "x", "entity_labels": [{"key": ""}]}, 400, "entity_labels"),
        ({"content": "x" * 60_001}, 413, "content"),
    ],
)
def test_a_wrong_dry_run_is_told_which_field_is_wrong(
    caller: Caller, runtime: FakeRuntime, body: object, status: int, named: str
) -> None:
    answer = caller("POST", _PATH, body)

    assert answer.status == status
    assert named in str(answer.json()["detail"])
    assert runtime.model.calls == []
