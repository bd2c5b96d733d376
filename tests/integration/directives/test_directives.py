"""Directives over HTTP and in the store: kept, listed, changed, within the limits of a key, and capped."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from hindsight_aws.directives.apply import in_force
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagFilter, TagsMatch
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller, make_caller, make_key, make_services
from tests.support.database import Database, make_tenant
from tests.support.units import Unit, insert_units, make_bank

PATH = "/v1/default/banks/bank/directives"
UNKNOWN = "40c18d20-c9e4-40c1-bf5c-3ee4e37a78fd"


@pytest.fixture
def tenant(module_database: Database) -> TenantId:
    return make_tenant(module_database)


@pytest.fixture
def bank_id(module_database: Database, tenant: TenantId) -> BankId:
    return make_bank(module_database.admin_url, tenant)


@pytest.fixture
def call(module_store: PostgresStore, tenant: TenantId, bank_id: BankId) -> Caller:
    return make_caller(make_services(module_store, tenant))


def put(call: Caller, name: str, *tags: str, **more: object) -> dict[str, Any]:
    """A directive that is called and says this."""
    answer = call("POST", PATH, {"name": name, "content": f"Rule {name}.", "tags": [*tags], **more})
    assert answer.status == 200, answer.json()
    made: dict[str, Any] = answer.json()
    return made


def names(answer: Answer) -> list[str]:
    return [item["name"] for item in answer.json()["items"]]


def bound(
    store: PostgresStore, tenant: TenantId, bank_id: BankId, asked: TagFilter, *, apply_all: bool = False
) -> list[str]:
    with store.transaction(tenant) as tx:
        found = in_force(tx, Settings(), Principal(tenant, "dev"), bank_id, asked, apply_all=apply_all)
    return [directive.name for directive in found]


@pytest.mark.parametrize(
    ("asked", "apply_all", "wanted"),
    [
        pytest.param(TagFilter(), False, ["none"], id="[X041]"),
        pytest.param(TagFilter.flat(["a"]), False, ["a", "none"], id="[X042]-any"),
        pytest.param(TagFilter.flat(["a", "b"], TagsMatch.ALL), False, ["none"], id="[X042]-all"),
        pytest.param(TagFilter(), True, ["b", "a", "none"], id="[X043]-[X044]"),
        pytest.param(TagFilter.flat([], TagsMatch.EXACT), False, ["none"], id="[X047]"),
    ],
)
def test_active_directives_bind_by_their_tags_and_come_by_priority_then_newest(
    call: Caller,
    module_store: PostgresStore,
    tenant: TenantId,
    bank_id: BankId,
    *,
    asked: TagFilter,
    apply_all: bool,
    wanted: list[str],
) -> None:
    put(call, "none", priority=-1)
    put(call, "a", "a")
    put(call, "b", "b")
    put(call, "off", is_active=False, priority=9)

    found = bound(module_store, tenant, bank_id, asked, apply_all=apply_all)

    assert found == wanted


def test_a_directive_is_kept_as_it_was_given_and_read_again(call: Caller) -> None:
    made = call("POST", PATH, {"name": "n", "content": "c"}).json()

    assert made | {"id": "", "created_at": "", "updated_at": ""} == {
        "id": "", "bank_id": "bank", "name": "n", "content": "c", "priority": 0, "is_active": True, "tags": [],
        "created_at": "", "updated_at": "",
    }  # fmt: skip
    assert call("GET", f"{PATH}/{made['id']}").json() == made


def test_a_list_is_filtered_by_tags_and_activity_and_never_hides_the_untagged(call: Caller) -> None:
    put(call, "none")
    put(call, "a", "a")
    put(call, "ab", "a", "b")
    put(call, "off", "a", is_active=False)

    assert names(call("GET", PATH)) == ["ab", "a", "none"]
    assert names(call("GET", f"{PATH}?tags=b")) == ["ab", "none"]
    assert names(call("GET", f"{PATH}?tags=a&tags=b&tags_match=all")) == ["ab", "none"]
    assert names(call("GET", f"{PATH}?tags=a&tags_match=exact&active_only=false")) == ["off", "a", "none"]
    page = call("GET", f"{PATH}?limit=1&offset=1").json()
    assert ([item["name"] for item in page["items"]], page["total"], page["limit"], page["offset"]) == (["a"], 3, 1, 1)
    assert call("GET", f"{PATH}?offset=9").json()["total"] == 3


def test_a_null_changes_nothing_and_no_tags_take_them_away(call: Caller) -> None:
    made = put(call, "n", "a")
    path = f"{PATH}/{made['id']}"

    unchanged = call("PATCH", path, {"name": None, "content": None, "priority": None, "is_active": None, "tags": None})
    changed = call("PATCH", path, {"content": "c", "priority": 3, "is_active": False, "tags": []})

    assert unchanged.json() == made
    expected = made | {"content": "c", "priority": 3, "is_active": False, "tags": []}
    assert changed.json() == expected | {"updated_at": changed.json()["updated_at"]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "n" * 257, "content": "c"}, "name"),
        ({"name": "n", "content": "c" * 32_001}, "content"),
        ({"name": "n", "content": "c", "priority": 2**31}, "priority"),
        ({"name": "n", "content": "c", "tags": ["t" * 2_000]}, "tags"),
        ({"content": "c"}, "name"),
    ],
)
def test_a_wrong_field_is_named(call: Caller, body: dict[str, object], field: str) -> None:
    answer = call("POST", PATH, body)

    assert answer.status == 422
    assert answer.json()["detail"][0]["loc"][:2] == ["body", field]


def test_text_that_no_database_holds_is_made_whole(call: Caller) -> None:
    made = call("POST", PATH, {"name": "a\x00b", "content": "c\ud800d", "tags": ["t\x00"]}).json()

    assert (made["name"], made["content"], made["tags"]) == ("ab", "cd", ["t"])


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_a_directive_that_is_not_there_is_404(call: Caller, method: str) -> None:
    answer = call(method, f"{PATH}/{UNKNOWN}", {} if method == "PATCH" else None)

    assert (answer.status, answer.json()) == (404, {"detail": f"Directive '{UNKNOWN}' not found"})


def test_a_bank_that_is_not_there_gets_no_directive(call: Caller) -> None:
    body = {"name": "n", "content": "c"}

    assert call("POST", PATH.replace("/bank/", "/nobody/"), body).status == 404
    assert call("GET", PATH.replace("/bank/", "/nobody/")).status == 404


def test_a_deleted_directive_is_gone(call: Caller) -> None:
    made = put(call, "n")

    assert call("DELETE", f"{PATH}/{made['id']}").json() == {"status": "deleted"}
    assert call("DELETE", f"{PATH}/{made['id']}").status == 404
    assert names(call("GET", PATH)) == []


def test_a_key_with_tags_sees_and_writes_its_own_directives_alone(
    call: Caller, owner_store: PostgresStore, tenant: TenantId
) -> None:
    other, own = put(call, "other", "b"), put(call, "own", "a")
    limited = Caller(call.handler, make_key(owner_store, tenant, forced_tags={"tags": ["a"]}))

    assert names(limited("GET", PATH)) == ["own"]
    assert limited("GET", f"{PATH}/{other['id']}").status == 404
    assert limited("PATCH", f"{PATH}/{other['id']}", {"content": "x"}).status == 404
    assert limited("DELETE", f"{PATH}/{other['id']}").status == 404
    assert limited("POST", PATH, {"name": "n", "content": "c"}).status == 403
    assert limited("PATCH", f"{PATH}/{own['id']}", {"tags": ["b"]}).status == 403
    assert limited("PATCH", f"{PATH}/{own['id']}", {"content": "mine"}).json()["content"] == "mine"


def test_directives_past_the_token_bound_bind_nothing_and_are_logged(
    call: Caller,
    module_store: PostgresStore,
    tenant: TenantId,
    bank_id: BankId,
    caplog: pytest.LogCaptureFixture,
) -> None:
    put(call, "draft", content=" \u200b", priority=9)
    put(call, "long", content="word " * 300, priority=2)
    put(call, "short", priority=1)
    settings = Settings().model_copy(update={"hindsight_reflect_directives_max_tokens": 100})

    with caplog.at_level(logging.WARNING), module_store.transaction(tenant) as tx:
        kept = in_force(tx, settings, Principal(tenant, "dev"), bank_id, TagFilter(), apply_all=False)

    assert [directive.name for directive in kept] == ["long"]
    assert "1 of 2 directives do not fit HINDSIGHT_REFLECT_DIRECTIVES_MAX_TOKENS" in caplog.text


def test_what_is_recalled_does_not_depend_on_the_disposition(
    call: Caller, module_database: Database, tenant: TenantId, bank_id: BankId
) -> None:
    """[X051] Recall is the same for any disposition."""
    insert_units(module_database.admin_url, tenant, bank_id, [Unit("Bea keeps bees.", vector=[1.0])])
    asked = {"query": "Who keeps bees?"}

    before = call("POST", "/v1/default/banks/bank/memories/recall", asked).json()
    traits = {"disposition_skepticism": 5, "disposition_literalism": 1, "disposition_empathy": 4}
    changed = call("PATCH", "/v1/default/banks/bank/config", {"updates": traits})
    after = call("POST", "/v1/default/banks/bank/memories/recall", asked).json()

    assert changed.status == 200
    assert before["results"]
    assert after["results"] == before["results"]
