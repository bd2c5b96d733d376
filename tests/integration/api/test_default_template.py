"""A server's default template: every way to make a bank makes it so, and none is kept from being made."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_caller, make_key, make_services
from tests.support.database import Database, make_tenant

BANKS = "/v1/default/banks"
TEMPLATE: dict[str, Any] = {
    "version": "1",
    "bank": {"retain_mission": "Only bees.", "retain_extraction_mode": "chunks"},
    "mental_models": [{"id": "who", "name": "Who", "source_query": "Who keeps bees?"}],
    "directives": [{"name": "polite", "content": "Be polite."}],
}
WAYS: dict[str, tuple[str, str, object]] = {
    "put": ("PUT", "", {"name": "n"}),
    "config": ("PATCH", "/config", {"updates": {"reflect_mission": "m"}}),
    "retain": ("POST", "/memories", {"items": [{"content": "Ada keeps bees."}], "async": True}),
    "sync": ("POST", "/memories", {"items": [{"content": "Ada keeps bees."}]}),
    "model": ("POST", "/mental-models", {"name": "n", "source_query": "q"}),
    "folder": ("POST", "/knowledge-base/folders", {"name": "n"}),
    "page": ("POST", "/knowledge-base/pages", {"name": "n", "source_query": "q"}),
    "webhook": ("POST", "/webhooks", {"url": "https://example.com/hook"}),
    "import": ("POST", "/import", {"version": "1"}),
    "reflect": ("POST", "/reflect", {"query": "Who?"}),
}


@pytest.fixture
def tenant(module_database: Database) -> TenantId:
    return make_tenant(module_database)


def _caller(store: PostgresStore, tenant: TenantId, template: object = TEMPLATE) -> Caller:
    settings = {"hindsight_api_default_bank_template": template, "hindsight_reflect_url_wait_seconds": 0.01}
    return make_caller(make_services(store, tenant, **settings))


@pytest.mark.parametrize("way", WAYS)
def test_a_bank_is_made_as_the_template_says(module_store: PostgresStore, tenant: TenantId, way: str) -> None:
    client = _caller(module_store, tenant)
    method, path, body = WAYS[way]

    made = client(method, f"{BANKS}/b{path}", body)

    assert made.status in {200, 201, 503}, made.body
    own = client("GET", f"{BANKS}/b/config").json()["overrides"]
    assert own.items() >= TEMPLATE["bank"].items()
    assert "who" in {model["id"] for model in client("GET", f"{BANKS}/b/mental-models").json()["items"]}
    assert client("GET", f"{BANKS}/b/directives").json()["total"] == 1


def test_a_bank_that_is_there_stays_as_it_is(module_store: PostgresStore, tenant: TenantId) -> None:
    _caller(module_store, tenant, None)("PUT", f"{BANKS}/b", {})
    client = _caller(module_store, tenant)

    client("PUT", f"{BANKS}/b", {"name": "n"})

    assert client("GET", f"{BANKS}/b/config").json()["overrides"] == {}


def test_what_a_caller_says_counts_more_than_the_template(module_store: PostgresStore, tenant: TenantId) -> None:
    client = _caller(module_store, tenant)

    client("PUT", f"{BANKS}/b", {"retain_mission": "Only wasps."})

    assert client("GET", f"{BANKS}/b/config").json()["overrides"]["retain_mission"] == "Only wasps."


@pytest.mark.parametrize("template", [{}, {"version": "2"}, {"version": "1", "bank": {"nothing": 1}}])
def test_a_template_that_cannot_be_applied_keeps_no_bank_from_being_made(
    module_store: PostgresStore, tenant: TenantId, template: object, caplog: pytest.LogCaptureFixture
) -> None:
    client = _caller(module_store, tenant, template)

    assert client("PUT", f"{BANKS}/b", {}).status == 200
    assert client("GET", f"{BANKS}/b/config").json()["overrides"] == {}
    assert "without the default template" in caplog.text


def test_no_bank_is_made_for_who_may_not_make_it(
    module_store: PostgresStore, owner_store: PostgresStore, tenant: TenantId
) -> None:
    client = _caller(module_store, tenant)
    reader = Caller(client.handler, make_key(owner_store, tenant, permissions=frozenset({Permission.READ})))
    apart = Caller(client.handler, make_key(owner_store, tenant, bank_patterns=("other-*",)))

    for key in (reader, apart):
        for method, path, body in WAYS.values():
            key(method, f"{BANKS}/b{path}", body)
    client("PUT", f"{BANKS}/_no", {})

    assert client("GET", BANKS).json()["banks"] == []
