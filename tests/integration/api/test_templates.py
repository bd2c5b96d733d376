"""A bank as a template: laid over another it makes an equal one, all of it or nothing, and as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database, make_tenant
from tests.support.golden import schema_errors

BANKS = "/v1/default/banks"
STRATEGIES = [
    {"observations_mission": "Trends.", "scopes": [{"tags_match": "all", "tags": ["company:*"]}, {"untagged": True}]},
    {"scopes": [], "max_observations_per_scope": 5},
    {"scopes": [{"tags": ["user:*"], "none": ["user:root"]}], "observations_mission": ""},
]
MODEL = {
    "id": "who-keeps-bees",
    "name": "Beekeepers",
    "source_query": "Who keeps bees?",
    "tags": ["user:zoe"],
    "max_tokens": 512,
    "trigger": {"mode": "delta", "refresh_after_consolidation": True},
}
DIRECTIVE = {"name": "polite", "content": "Be polite.", "priority": 3, "is_active": False, "tags": ["user:zoe"]}
WHOLE: dict[str, Any] = {
    "version": "1",
    "bank": {"consolidation_strategies": STRATEGIES, "retain_mission": "Only bees.", "near_duplicates": "off"},
    "mental_models": [MODEL],
    "directives": [DIRECTIVE],
}


@pytest.fixture
def tenant(module_database: Database) -> TenantId:
    return make_tenant(module_database)


@pytest.fixture
def runtime(module_store: PostgresStore, tenant: TenantId) -> FakeRuntime:
    return make_services(module_store, tenant)


@pytest.fixture
def client(runtime: FakeRuntime) -> Caller:
    return make_caller(runtime)


def _import(client: Caller, manifest: object, bank: str = "b", query: str = "") -> Answer:
    return client("POST", f"{BANKS}/{bank}/import{query}", manifest)


def test_a_template_makes_a_bank_and_the_bank_is_that_template(client: Caller) -> None:
    done = _import(client, WHOLE)

    assert done.status == 200
    assert schema_errors("POST", f"{BANKS}/{{bank_id}}/import", 200, done.json()) == []
    told = done.json()
    assert (told["config_applied"], told["mental_models_created"], told["directives_created"]) == (
        True, ["who-keeps-bees"], ["polite"],
    )  # fmt: skip
    assert len(told["operation_ids"]) == 1
    exported = client("GET", f"{BANKS}/b/export").json()
    assert schema_errors("GET", f"{BANKS}/{{bank_id}}/export", 200, exported) == []
    assert json.dumps(exported["bank"]["consolidation_strategies"]) == json.dumps(STRATEGIES)
    assert {name for name, value in exported["bank"].items() if value is not None} == set(WHOLE["bank"])
    assert exported["directives"] == [DIRECTIVE]
    (model,) = exported["mental_models"]
    assert {name: model[name] for name in MODEL if name != "trigger"} == {
        k: v for k, v in MODEL.items() if k != "trigger"
    }
    assert model["trigger"].items() >= MODEL["trigger"].items()  # type: ignore[attr-defined]  # a mapping, in a mapping


def test_what_is_so_already_is_left_alone_and_what_differs_is_changed(client: Caller) -> None:
    _import(client, WHOLE)
    exported = client("GET", f"{BANKS}/b/export").json()

    again = _import(client, exported).json()
    other = {**exported, "bank": {"retain_mission": "Only wasps."}, "mental_models": [{**MODEL, "name": "Keepers"}]}
    changed = _import(client, other).json()

    lists = ("mental_models_created", "mental_models_updated", "directives_created", "directives_updated")
    assert [again[name] for name in (*lists, "operation_ids")] == [[], [], [], [], []]
    assert [changed[name] for name in lists] == [[], ["who-keeps-bees"], [], []]
    assert len(changed["operation_ids"]) == 1
    after = client("GET", f"{BANKS}/b/export").json()
    assert (after["bank"]["retain_mission"], after["mental_models"][0]["name"]) == ("Only wasps.", "Keepers")
    assert after["bank"]["consolidation_strategies"] == STRATEGIES


def test_a_dry_run_tells_all_as_created_and_makes_nothing(client: Caller) -> None:
    told = _import(client, WHOLE, query="?dry_run=true").json()

    assert (told["dry_run"], told["mental_models_created"], told["operation_ids"]) == (True, ["who-keeps-bees"], [])
    assert client("GET", BANKS).json()["total"] == 0
    assert _import(client, {"version": "1"}, "_b", "?dry_run=true").status == 400


REFUSED: dict[str, tuple[object, str]] = {
    "no-version": ({}, "schema validation failed: version"),
    "version": ({"version": "9"}, "version"),
    "not-json": ("{bad", "schema validation failed"),
    "model-id": ({**WHOLE, "mental_models": [{**MODEL, "id": "Not Allowed"}]}, "mental_models[0].id"),
    "model-twice": ({**WHOLE, "mental_models": [MODEL, MODEL]}, "twice"),
    "model-query": ({**WHOLE, "mental_models": [{**MODEL, "source_query": " "}]}, "mental_models[0].source_query"),
    "model-tokens": ({**WHOLE, "mental_models": [{**MODEL, "max_tokens": 1}]}, "mental_models.0.max_tokens"),
    "model-cron": ({**WHOLE, "mental_models": [{**MODEL, "trigger": {"refresh_cron": "x"}}]}, "refresh_cron"),
    "directive": ({**WHOLE, "directives": [{**DIRECTIVE, "content": ""}]}, "directives[0].content"),
    "directive-long": ({**WHOLE, "directives": [{**DIRECTIVE, "name": "n" * 300}]}, "name"),
    "mode": ({"version": "1", "bank": {"retain_extraction_mode": "zzz"}}, "retain_extraction_mode"),
    "instructions": ({"version": "1", "bank": {"retain_custom_instructions": "q"}}, "retain_custom_instructions"),
    "unknown": ({"version": "1", "bank": {"no_such_setting": 1}}, "no_such_setting"),
    "integer": (
        {**WHOLE, "bank": {"consolidation_strategies": [{"scopes": [], "max_observations_per_scope": "5"}]}},
        "max_observations_per_scope",
    ),
    "shape": ({**WHOLE, "bank": {"consolidation_strategies": [{"scopes": {"tags": []}}]}}, "scopes"),
    "list": ({**WHOLE, "bank": {"consolidation_strategies": {}}}, "consolidation_strategies"),
    "credential": ({**WHOLE, "bank": {"llm_api_key": "x"}}, "llm_api_key"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_template_that_is_wrong_anywhere_is_refused_whole(client: Caller, case: str) -> None:
    manifest, named = REFUSED[case]
    raw = manifest.encode() if isinstance(manifest, str) else json.dumps(manifest).encode()

    for query in ("", "?dry_run=true"):
        answer = client("POST", f"{BANKS}/b/import{query}", raw=raw)

        assert answer.status == 400, answer.body
        assert answer.json()["detail"].startswith("Template ")
        assert named in answer.json()["detail"]
    assert client("GET", BANKS).json()["total"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param([{"scope": [{"tags": ["a"]}]}], id="C092"),
        pytest.param([{"scopes": [{"tags": ["a"], "tags_match": "any"}]}], id="C093"),
        pytest.param([{"max_observations_per_scope": "5"}], id="C094"),
        pytest.param([{"max_observations_per_scope": 5.0}], id="C094-float"),
        pytest.param([{"max_observations_per_scope": True}], id="C094-bool"),
    ],
)
def test_the_door_of_templates_is_as_strict_as_that_of_the_config(client: Caller, wrong: object) -> None:
    by_config = client("PATCH", f"{BANKS}/b/config", {"updates": {"consolidation_strategies": wrong}})
    by_template = _import(client, {"version": "1", "bank": {"consolidation_strategies": wrong}})

    assert (by_config.status, by_template.status) == (400, 400)
    assert by_template.json()["detail"] == f"Template validation failed: {by_config.json()['detail']}"


def test_strategies_are_stored_and_exported_byte_by_byte(client: Caller) -> None:
    written = '[{"scopes":[{"tags_match":null,"tags":["z","a",""]}],"observations_mission":" "},{"scopes":null},{}]'
    manifest = f'{{"version":"1","bank":{{"consolidation_strategies":{written}}}}}'

    assert client("POST", f"{BANKS}/b/import", raw=manifest.encode()).status == 200

    assert f'"consolidation_strategies":{written}' in client("GET", f"{BANKS}/b/export").body.decode()


def test_drafts_are_stored_and_warned_about(client: Caller) -> None:
    told = _import(client, WHOLE).json()

    assert {warning["code"] for warning in told["warnings"]} >= {"draft"}
    assert told["warnings"] == client("PATCH", f"{BANKS}/b/config", {"updates": {}}).json()["warnings"]


def test_the_schema_is_given_to_anybody_and_holds_what_is_exported(client: Caller, module_store: PostgresStore) -> None:
    anybody = make_caller(make_services(module_store, None))

    schema = anybody("GET", "/v1/bank-template-schema")

    assert schema.status == 200
    _import(client, WHOLE)
    validator = Draft202012Validator(schema.json())
    assert [error.message for error in validator.iter_errors(client("GET", f"{BANKS}/b/export").json())] == []
    assert not validator.is_valid({"version": "1", "bank": {"no_such_setting": 1}})


def test_an_empty_bank_exports_nulls(client: Caller) -> None:
    client("PUT", f"{BANKS}/b", {})

    exported = client("GET", f"{BANKS}/b/export").json()

    assert exported == {"version": "1", "bank": None, "mental_models": None, "directives": None}
