"""Structured answers in whole runs: forced, held against the whole schema, mended once, else told as missing."""

from __future__ import annotations

import pytest

from hindsight_aws.errors import HindsightError, ModelReplyMalformed, ModelReplyTruncated, ModelUnavailable
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.reflect import Reply, done, make_rig, uses
from tests.support.units import Unit

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 2}, "since": {"type": ["integer", "null"]}},
    "required": ["city"],
    "additionalProperties": False,
}
WHERE = ReflectRequest("Where does Bea live?", response_schema=SCHEMA)
ANSWER = done("In Rome.", "f1")


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


def filled(**fields: object) -> Reply:
    return uses(("structured_answer", {**fields}))  # type: ignore[dict-item]  # each field is a JSON value


def test_a_structured_answer_is_forced_from_the_answer(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, ANSWER, filled(city="Rome", since=None))
    rig.remember(Unit("Bea moved to Rome."))

    answer = rig.answer(WHERE)

    call = rig.model.calls[-1]
    assert (call.task, call.forced_tool) == ("structured_answer", "structured_answer")
    assert any("In Rome." in block for block in call.blocks)
    assert (answer["structured_output"], answer["structured_output_error"]) == ({"city": "Rome", "since": None}, None)


def test_what_does_not_fit_is_named_to_the_model_and_mended_once(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, ANSWER, filled(city="R", year=1), filled(city="Rome"))
    rig.remember(Unit("Bea moved to Rome."))

    answer = rig.answer(WHERE)

    assert answer["structured_output"] == {"city": "Rome"}
    assert any("$.city must keep minLength 2" in block for block in rig.model.calls[-1].blocks)


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        pytest.param((filled(city="R"), filled(city="S")), "$.city must keep minLength 2", id="[X038]-never fits"),
        pytest.param((ModelUnavailable("gone"),), "the model could not be reached", id="[X038]-unreachable"),
        pytest.param((ModelReplyMalformed("x"),), "could not be read", id="[X038]-unreadable"),
        pytest.param((ModelReplyTruncated("cut"),), "could not be read, or was cut", id="[X040]-cut, never patched up"),
    ],
)
def test_a_structure_that_cannot_be_had_is_told_and_the_answer_stands(
    database: Database, store: PostgresStore, tenant: TenantId, replies: tuple[Reply | HindsightError, ...], reason: str
) -> None:
    rig = make_rig(database, store, tenant, ANSWER, *replies)
    rig.remember(Unit("Bea moved to Rome."))

    answer = rig.answer(WHERE)

    assert (answer["text"], answer["structured_output"]) == ("In Rome.", None)
    assert reason in str(answer["structured_output_error"])


def test_where_nothing_is_known_there_is_no_structure_and_no_error(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, ANSWER)

    answer = rig.answer(WHERE)

    assert answer["structured_output"] is answer["structured_output_error"] is None
    assert rig.model.calls == []
