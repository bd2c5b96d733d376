"""Hooks over HTTP: in the published shapes, never with their secret, for who administers the whole bank alone."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.webhooks.manage import MOST_HOOKS
from tests.integration.webhooks.conftest import Post
from tests.support.api import Caller, FakeRuntime, make_caller, make_key, make_services
from tests.support.database import Database
from tests.support.golden import schema_errors

PATH = "/v1/default/banks/bank/webhooks"
ROUTE = "/v1/default/banks/{bank_id}/webhooks"
URL = "https://example.com/hook"


def made(call: Caller, **body: object) -> dict[str, Any]:
    answer = call("POST", PATH, {"url": URL, **body})
    assert answer.status == 201, answer.body
    assert schema_errors("POST", ROUTE, 201, answer.json()) == []
    hook: dict[str, Any] = answer.json()
    return hook


def test_a_hook_is_made_listed_changed_and_removed(call: Caller) -> None:
    hook = made(call, secret="hush", http_config={"method": "get", "headers": {"X-A": "b"}, "params": {"k": "v"}})
    assert hook["http_config"] == {
        "method": "GET", "timeout_seconds": 30, "headers": {"X-A": "b"}, "params": {"k": "v"},
    }  # fmt: skip
    assert (hook["bank_id"], hook["event_types"], hook["enabled"]) == ("bank", ["consolidation.completed"], True)
    one = f"{PATH}/{hook['id']}"

    changed = call("PATCH", one, {"enabled": False, "event_types": ["retain.completed"], "url": None})
    listed = call("GET", PATH).json()

    assert schema_errors("PATCH", f"{ROUTE}/{{webhook_id}}", 200, changed.json()) == []
    assert schema_errors("GET", ROUTE, 200, listed) == []
    assert listed["items"] == [changed.json()]
    assert (changed.json()["enabled"], changed.json()["url"]) == (False, URL)
    assert call("DELETE", one).json() == {"success": True, "message": None, "deleted_count": None}
    assert (call("DELETE", one).status, call("PATCH", one, {"enabled": True}).status) == (404, 404)
    assert call("GET", f"{one}/deliveries").json() == {"detail": "Webhook not found"}


def test_a_secret_is_kept_replaced_taken_away_and_never_shown(
    call: Caller, post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "hush-hush"
    hook = made(call, secret=secret)
    one = f"{PATH}/{hook['id']}"

    shown = [call("GET", PATH), call("PATCH", one, {"enabled": True}), call("GET", f"{one}/deliveries")]
    assert all(secret not in answer.body.decode() for answer in shown)
    assert hook["secret"] is None
    assert secret in str(post.sql("SELECT secret FROM webhooks"))
    call("PATCH", one, {"secret": secret + "2"})
    assert secret + "2" in str(post.sql("SELECT secret FROM webhooks"))
    call("PATCH", one, {"secret": None})

    assert "hush" not in str(post.sql("SELECT secret FROM webhooks"))
    assert secret not in caplog.text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "http://example.com"}, "url"),
        ({"url": "https://169.254.169.254/latest"}, "url"),
        ({"url": "https://localhost"}, "url"),
        ({"url": "https://[::ffff:10.0.0.1]/"}, "url"),
        ({"url": "https://2130706433/"}, "url"),
        ({"url": "nonsense"}, "url"),
        ({"url": f"{URL}/{'a' * 2_048}"}, "url"),
        ({"url": URL, "secret": "s" * 1_025}, "secret"),
        ({"url": URL, "secret": "hu\x00sh"}, "secret"),
        ({"url": URL, "secret": "\ud800"}, "secret"),
        ({"url": URL, "event_types": [""]}, "event_types"),
        ({"url": URL, "event_types": ["e"] * 21}, "event_types"),
        ({"url": URL, "http_config": {"method": "DELETE"}}, "http_config.method"),
        ({"url": URL, "http_config": {"timeout_seconds": 0}}, "http_config.timeout_seconds"),
        ({"url": URL, "http_config": {"headers": {"Host": "a"}}}, "http_config.headers"),
        ({"url": URL, "http_config": {"headers": {"X-Hindsight-Signature": "a"}}}, "http_config.headers"),
        ({"url": URL, "http_config": {"headers": {"A": "b\r\nC: d"}}}, "http_config.headers"),
        ({"url": URL, "http_config": {"params": {"k": "v" * 8_192}}}, "http_config.params"),
    ],
)
def test_what_a_hook_may_not_be_is_refused_by_its_field(call: Caller, body: dict[str, Any], field: str) -> None:
    hook = made(call)

    answers = [call("POST", PATH, body), call("PATCH", f"{PATH}/{hook['id']}", body)]

    for answer in answers:
        assert answer.status == 422
        assert answer.json()["detail"][0]["loc"] == ["body", *field.split(".")]
    assert call("GET", PATH).json()["items"] == [hook]


def test_a_bank_has_a_bounded_number_of_hooks(call: Caller, post: Post) -> None:
    made(call)
    post.sql(
        "INSERT INTO webhooks (tenant_id, bank_id, webhook_id, url, event_types, method, timeout_seconds) "
        "SELECT tenant_id, bank_id, gen_random_uuid(), url, event_types, method, timeout_seconds FROM webhooks, "
        f"generate_series(2, {MOST_HOOKS})"
    )

    answer = call("POST", PATH, {"url": URL})

    assert answer.status == 409
    assert call("GET", f"{PATH}?limit=2&offset=49").json()["total"] == MOST_HOOKS


def test_deliveries_are_listed_newest_first_page_by_page(services: FakeRuntime, post: Post) -> None:
    call = make_caller(services)
    hook = post.hook()
    post.tell(5)
    post.fan_out()
    path = f"{PATH}/{hook}/deliveries"

    first = call("GET", f"{path}?limit=3").json()
    second = call("GET", f"{path}?limit=3&cursor={first['next_cursor']}").json()

    assert schema_errors("GET", f"{ROUTE}/{{webhook_id}}/deliveries", 200, first) == []
    ids = [item["id"] for item in [*first["items"], *second["items"]]]
    assert len(set(ids)) == 5
    assert second["next_cursor"] is None
    item = first["items"][0]
    assert (item["status"], item["attempts"], item["event_type"]) == ("pending", 1, "retain.completed")
    assert item["last_response_body"] is None
    assert call("GET", f"{path}?cursor=x").status == 400


@pytest.mark.parametrize(
    "limits",
    [
        {"permissions": frozenset({Permission.READ, Permission.WRITE})},
        {"exact_scopes": (frozenset({"company:acme"}),)},
        {"fact_types": frozenset({"observation"})},
        {"bank_patterns": ("other-*",)},
    ],
    ids=["no-admin", "scopes", "types", "banks"],
)
def test_a_key_that_does_not_administer_the_whole_bank_has_no_part_in_hooks(
    database: Database, store: PostgresStore, tenant: TenantId, post: Post, limits: dict[str, Any]
) -> None:
    hook = post.hook()
    owner = PostgresStore(lambda: f"{database.owner_url}&options=-csearch_path%3Dhindsight,public", connect_for_s=30.0)
    limited = make_caller(make_services(store, None), make_key(owner, tenant, **limits))
    owner.close()

    answers = [
        limited("GET", PATH),
        limited("POST", PATH, {"url": URL}),
        limited("PATCH", f"{PATH}/{hook}", {"enabled": False}),
        limited("DELETE", f"{PATH}/{hook}"),
        limited("GET", f"{PATH}/{hook}/deliveries"),
    ]

    assert {answer.status for answer in answers} == ({404} if "bank_patterns" in limits else {403})
    assert post.sql("SELECT is_enabled FROM webhooks") == [{"is_enabled": True}]


@pytest.mark.parametrize("column", ["secret", "headers"])
def test_the_role_that_only_reads_cannot_select_what_is_secret(post: Post, database: Database, column: str) -> None:
    with psycopg.connect(database.read_url) as reader, pytest.raises(psycopg.errors.InsufficientPrivilege):
        reader.execute(f"SELECT {column} FROM hindsight.webhooks".encode())
