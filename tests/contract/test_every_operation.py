"""Every operation of the contract is called with valid input, and its answer held against the published shape.

What it is called with is the example of our own document, so the examples are true.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hindsight_aws.api.documentation.refusals import NOT_SERVED, RETIRED
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.contract.compatibility import page
from tests.contract.reasons import NOT_YET, NOTES
from tests.support.api import UNSET, Answer
from tests.support.contract import BANKS, World, documented_errors, ours, theirs
from tests.support.database import Database
from tests.support.golden import schema_errors

_PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
_FEATURES: dict[str, tuple[str, str, object]] = {
    "mcp": ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    "bank_config_api": ("PATCH", f"{BANKS}/garden/config", {"updates": {}}),
    "bank_llm_health": ("POST", f"{BANKS}/garden/health/llm", UNSET),
    "file_upload_api": ("POST", f"{BANKS}/garden/files/uploads", {"filename": "plan.txt", "size": 5}),
    "document_export_api": ("POST", f"{BANKS}/garden/document-transfer/export", {}),
    "document_import_api": ("POST", f"{BANKS}/garden/document-transfer", {}),
    "audit_log": ("GET", f"{BANKS}/garden/audit-logs", UNSET),
    "llm_trace": ("GET", f"{BANKS}/garden/llm-requests", UNSET),
}
"""Each feature that has routes, with a call of one of them."""
_SWITCHES = {
    "mcp": "hindsight_api_mcp_enabled",
    "bank_config_api": "hindsight_api_enable_bank_config_api",
    "bank_llm_health": "hindsight_api_enable_bank_llm_health",
    "file_upload_api": "hindsight_api_enable_file_upload_api",
    "document_export_api": "hindsight_api_enable_document_export_api",
    "document_import_api": "hindsight_api_enable_document_import_api",
}
"""Each feature that a setting switches."""


@pytest.fixture(scope="module")
def world(module_database: Database, module_store: PostgresStore, module_tenant: TenantId) -> World:
    return World(module_database, module_store, module_tenant)


def test_every_operation_of_the_contract_has_a_route_of_its_name() -> None:
    missing = theirs().keys() - ours().keys()

    assert missing == NOT_YET, "a route was made, or one is missing: see tests/contract/reasons.py"
    for name in theirs().keys() - missing:
        here, there = ours()[name], theirs()[name]
        assert (here.method, here.path, here.says["tags"]) == (there.method, there.path, there.says["tags"])


@pytest.mark.parametrize("name", sorted(ours()))
def test_an_operation_answers_its_example_in_the_documented_shape(world: World, name: str) -> None:
    operation = ours()[name]

    answer = world.ask(operation)

    assert answer.status == _expected(name), answer.body[:500]
    assert documented_errors(operation, answer) == []
    if name in theirs() and answer.status < 300 and _is_json(answer):
        assert schema_errors(operation.method, operation.path, answer.status, answer.json()) == []


def test_reflect_makes_the_bank_that_it_asks(world: World) -> None:
    answer = world.call("POST", f"{BANKS}/made-by-asking/reflect", {"query": "Who keeps bees?"})

    assert answer.status == 200
    assert world.call("GET", f"{BANKS}?q=made-by-asking").json()["total"] == 1


@pytest.mark.parametrize("name", _FEATURES)
@pytest.mark.parametrize("are_on", [True, False], ids=["on", "off"])
def test_a_feature_is_told_exactly_where_its_routes_answer(world: World, name: str, are_on: bool) -> None:
    switched = world.with_settings(**dict.fromkeys(_SWITCHES.values(), are_on))
    method, path, body = _FEATURES[name]

    told = switched("GET", "/version").json()["features"][name]
    answer = switched(method, path, body)

    assert told is _is_served(answer), answer.body[:200]
    if name in _SWITCHES:
        assert told is are_on


def test_what_has_no_routes_is_told_as_it_is(world: World) -> None:
    features = world.call("GET", "/version").json()["features"]
    document = world.call("GET", f"{BANKS}/garden/documents/{world.ids['document_id']}").json()

    assert features["store_document_text"] is (document["original_text"] is not None)
    assert features["observations"] is world.services.settings.hindsight_api_enable_observations
    assert features["worker"] is True


def test_the_compatibility_page_is_the_one_the_tests_make() -> None:
    written = _PAGE.read_text("utf-8")

    assert written == page(), "run: python -m tests.contract.compatibility > docs/compatibility.md"
    assert NOTES.keys() <= theirs().keys()


def _expected(name: str) -> int:
    if name in RETIRED:
        return 410
    if name in NOT_SERVED:
        return 501
    return next(int(status) for status in ours()[name].says["responses"] if status.startswith("2"))


def _is_json(answer: Answer) -> bool:
    return answer.headers["content-type"].startswith("application/json")


def _is_served(answer: Answer) -> bool:
    """Whether a route answered that does what it says: neither switched off nor not served nor missing."""
    if answer.status == 501:
        return False
    told: Any = answer.json() if _is_json(answer) else {}
    is_off = answer.status == 404 and ("disabled" in str(told) or told == {"detail": "Not Found"})
    return not is_off and answer.status != 405
