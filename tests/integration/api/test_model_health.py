"""Whether the models answer: each is asked once, and each call is on somebody's account."""

from __future__ import annotations

import pytest

from hindsight_aws.errors import (
    HindsightError,
    ModelDenied,
    ModelReplyTruncated,
    ModelThrottled,
    ModelUnavailable,
)
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import FakeRuntime, make_caller, make_services

HEALTH = "/v1/default/banks/b/health/llm"


@pytest.fixture
def probing(module_store: PostgresStore, module_tenant: TenantId) -> FakeRuntime:
    return make_services(
        module_store, module_tenant, hindsight_api_enable_bank_llm_health=True, hindsight_api_reflect_llm_model="other"
    )


def test_models_that_are_the_same_are_asked_once_and_each_call_is_in_the_ledger(probing: FakeRuntime) -> None:
    call = make_caller(probing)
    call("PUT", "/v1/default/banks/b", {})

    answer = call("POST", HEALTH).json()

    asked = [each.model for each in probing.probed.calls]
    assert [(each["operation"], each["ok"], each["status"]) for each in answer["operations"]] == [
        ("retain", True, "connected"),
        ("consolidation", True, "connected"),
        ("reflect", True, "connected"),
    ]
    assert asked == [probing.settings.hindsight_api_llm_model, "other"]
    assert all(each.max_tokens <= 256 for each in probing.probed.calls)
    used = call("GET", "/v1/default/banks/b/usage").json()["items"]
    assert sorted((line["task"], line["model"]) for line in used) == sorted(("health", model) for model in asked)


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (ModelDenied("no"), "auth_failed"),
        (ModelUnavailable("away"), "unreachable"),
        (ModelThrottled("later"), "unreachable"),
        (ModelReplyTruncated("cut"), "connected"),
    ],
)
def test_each_failure_of_a_model_has_its_word(probing: FakeRuntime, failure: HindsightError, status: str) -> None:
    probing.probed.script = lambda _call: failure

    answer = make_caller(probing)("POST", HEALTH)

    assert answer.status == 200
    assert {each["status"] for each in answer.json()["operations"]} == {status}


def test_without_a_text_model_none_is_configured(probing: FakeRuntime) -> None:
    probing.__dict__["probed_model"] = None

    answer = make_caller(probing)("POST", HEALTH).json()

    assert {(each["ok"], each["status"], each["latency_ms"]) for each in answer["operations"]} == {
        (False, "not_configured", None)
    }


def test_the_check_is_off_until_it_is_switched_on(module_store: PostgresStore, module_tenant: TenantId) -> None:
    services = make_services(module_store, module_tenant)

    answer = make_caller(services)("POST", HEALTH)

    assert answer.status == 404
    assert "HINDSIGHT_API_ENABLE_BANK_LLM_HEALTH" in answer.json()["detail"]
    assert services.probed.calls == []
