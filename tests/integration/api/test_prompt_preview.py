"""What a preview shows is what a worker says: the same code words both, and no model is asked."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, FakeRuntime, make_caller, make_key, make_services
from tests.support.golden import schema_errors

PREVIEW = "/v1/default/banks/{bank_id}/prompts/preview"


@pytest.fixture
def runtime(module_store: PostgresStore, module_tenant: TenantId) -> FakeRuntime:
    return make_services(module_store, module_tenant)


def _preview(call: Caller, **body: object) -> dict[str, Any]:
    answer = call("POST", PREVIEW.format(bank_id="b"), body)
    assert answer.status == 200, answer.body
    shown: dict[str, Any] = answer.json()
    assert schema_errors("POST", PREVIEW, 200, shown) == []
    return shown


def _configure(call: Caller, **updates: object) -> None:
    assert call("DELETE", "/v1/default/banks/b/config").status == 200
    assert call("PATCH", "/v1/default/banks/b/config", {"updates": updates}).status == 200


def _said(shown: dict[str, Any], role: str) -> str:
    return "\n".join(
        block["text"]
        for message in shown["messages"]
        if message["role"] == role
        for block in message["blocks"]
        if block["active"]
    )


def test_retain_is_shown_as_it_asks_but_for_the_text(runtime: FakeRuntime) -> None:
    call = make_caller(runtime)
    _configure(call, retain_mission="Only bees.")

    shown = _preview(call, operation="retain")

    assert runtime.model.calls == []
    call("POST", "/v1/default/banks/b/memories", {"items": [{"content": "Zoe keeps bees.", "timestamp": "unset"}]})
    (asked,) = runtime.model.calls
    assert _said(shown, "system") == asked.system
    assert _said(shown, "user") == "\n".join(asked.blocks).replace("Zoe keeps bees.", "(the text of a chunk)")
    assert shown["response_schema"] == asked.tools[0].schema
    mission = next(block for block in shown["messages"][1]["blocks"] if block["field"] == "retain_mission")
    assert (mission["source"], mission["value"], mission["editable"]) == ("config", "Only bees.", True)


def test_a_strategy_of_retain_is_shown_with_its_own_settings(runtime: FakeRuntime) -> None:
    call = make_caller(runtime)
    bundles = {"fast": {"retain_extraction_mode": "chunks"}, "deep": {"retain_mission": "Only wasps."}}
    _configure(call, retain_mission="Only bees.", retain_strategies=bundles, retain_default_strategy="deep")

    by_default, fast = _preview(call), _preview(call, strategy="fast")
    unknown = call("POST", PREVIEW.format(bank_id="b"), {"strategy": "none of these"})

    assert "Only wasps." in _said(by_default, "user")
    assert (by_default["strategy"], by_default["strategies"]) == ("deep", ["deep", "fast"])
    assert (fast["messages"], fast["strategy"]) == ([], "fast")
    assert "chunks" in fast["skipped_reason"]
    assert unknown.status == 400


def test_consolidation_is_shown_under_the_mission_of_the_untagged_scope(runtime: FakeRuntime) -> None:
    call = make_caller(runtime)
    strategies = [{"scopes": [{"untagged": True}], "observations_mission": "Only trends."}]
    _configure(call, observations_mission="All there is.", consolidation_strategies=strategies)

    shown = _preview(call, operation="consolidation")

    assert "Only trends." in _said(shown, "user")
    assert "All there is." not in _said(shown, "user")
    _configure(call, enable_observations=False)
    assert "enable_observations" in _preview(call, operation="consolidation")["skipped_reason"]


def test_reflect_is_shown_with_its_mission_and_the_directives_in_force(runtime: FakeRuntime) -> None:
    call = make_caller(runtime)
    _configure(call, reflect_mission="You look after bees.")
    made = call("POST", "/v1/default/banks/b/directives", {"name": "polite", "content": "Be polite."}).json()

    shown = _preview(call, operation="reflect")

    assert "You look after bees." in _said(shown, "user")
    assert "Be polite." in _said(shown, "user")
    assert runtime.model.calls == []
    call("DELETE", f"/v1/default/banks/b/directives/{made['id']}")


def test_a_key_that_sees_part_of_a_bank_is_shown_no_prompt(
    runtime: FakeRuntime, handler: LambdaHandler, owner_store: PostgresStore, module_tenant: TenantId
) -> None:
    _configure(make_caller(runtime), reflect_mission="You look after bees.")
    limits = {"exact_scopes": (frozenset({"company:acme"}),), "permissions": frozenset({Permission.READ})}
    company = Caller(handler, make_key(owner_store, module_tenant, **limits))

    answer = company("POST", PREVIEW.format(bank_id="b"), {"operation": "reflect"})

    assert answer.status == 403
    assert b"bees" not in answer.body
