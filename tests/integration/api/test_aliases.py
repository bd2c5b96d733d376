"""A bank answers under its aliases, wherever a bank's id stands in a path, and always by its own id."""

from __future__ import annotations

import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_caller, make_key, make_services
from tests.support.database import Database, make_tenant
from tests.support.golden import schema_errors

BANKS = "/v1/default/banks"
ROUTE = f"{BANKS}/{{bank_id}}/aliases"


@pytest.fixture
def tenant(module_database: Database) -> TenantId:
    return make_tenant(module_database)


@pytest.fixture
def client(module_store: PostgresStore, tenant: TenantId) -> Caller:
    caller = make_caller(make_services(module_store, tenant))
    assert caller("PUT", f"{BANKS}/zoe", {"name": "Zoe's"}).status == 200
    return caller


def _add(call: Caller, alias: str, bank: str = "zoe", **more: object) -> int:
    return call("POST", f"{BANKS}/{bank}/aliases", {"alias": alias, **more}).status


def test_a_bank_is_written_and_read_under_its_alias(client: Caller) -> None:
    assert client("GET", f"{BANKS}/zo%C3%AB:2/profile").status == 404

    assert _add(client, "zoë:2") == 201

    retained = client("POST", f"{BANKS}/zo%C3%AB:2/memories", {"items": [{"content": "Zoe keeps bees."}]})
    assert (retained.status, retained.json()["bank_id"]) == (200, "zoe")
    assert (
        client("PATCH", f"{BANKS}/zo%C3%AB:2/config", {"updates": {"retain_mission": "m"}}).json()["bank_id"] == "zoe"
    )
    assert client("GET", f"{BANKS}/zo%C3%AB:2/stats").json()["total_nodes"] == 1
    found = client("POST", f"{BANKS}/zo%C3%AB:2/memories/recall", {"query": "bees"}).json()
    assert [result["text"] for result in found["results"]] == ["Zoe keeps bees."]
    assert client("GET", BANKS).json()["total"] == 1


def test_aliases_are_listed_primary_first_then_oldest_in_the_published_shape(client: Caller) -> None:
    for name in ("first", "second", "third"):
        _add(client, name)

    marked = client("PATCH", f"{BANKS}/zoe/aliases/second", {"primary": True})
    also = client("PATCH", f"{BANKS}/zoe/aliases/third", {"primary": True})

    assert schema_errors("PATCH", f"{ROUTE}/{{alias}}", 200, marked.json()) == []
    assert [(each["alias"], each["primary"]) for each in also.json()["aliases"]] == [
        ("third", True), ("first", False), ("second", False),
    ]  # fmt: skip
    assert client("GET", f"{BANKS}/first/aliases").json() == also.json()
    (listed,) = client("GET", f"{BANKS}?q=IRS").json()["banks"]
    assert (listed["bank_id"], listed["display_alias"], listed["matched_aliases"]) == ("zoe", "third", ["first"])


def test_a_name_that_is_taken_or_not_allowed_is_refused(client: Caller) -> None:
    client("PUT", f"{BANKS}/other", {})
    _add(client, "bees")

    statuses = [_add(client, name) for name in ("bees", "other", "zoe", "_hidden", "", "x" * 193, "a/b")]

    assert statuses == [409, 409, 400, 400, 400, 400, 400]
    assert _add(client, "bees", "other") == 409
    assert client("DELETE", f"{BANKS}/zoe/aliases/none").json() == {"detail": "Bank 'zoe' has no alias 'none'"}
    assert client("PATCH", f"{BANKS}/other/aliases/bees", {"primary": True}).status == 404


def test_an_alias_that_is_taken_away_means_nothing_and_a_bank_may_have_its_name(client: Caller) -> None:
    _add(client, "bees", primary=True)
    assert client("GET", f"{BANKS}/bees/stats").status == 200

    gone = client("DELETE", f"{BANKS}/bees/aliases/bees")

    assert (gone.status, gone.json()["aliases"]) == (200, [])
    assert client("GET", f"{BANKS}/bees/stats").status == 404
    assert client("PUT", f"{BANKS}/bees", {}).json()["bank_id"] == "bees"


def test_a_deleted_bank_takes_its_aliases_with_it_and_its_id_may_become_one(client: Caller) -> None:
    client("PUT", f"{BANKS}/other", {})
    _add(client, "bees")

    assert client("DELETE", f"{BANKS}/bees").status == 200

    assert client("GET", f"{BANKS}/bees/stats").status == 404
    assert client("GET", f"{BANKS}/zoe/stats").status == 404
    assert _add(client, "zoe", "other") == 201
    assert client("GET", f"{BANKS}/zoe/aliases").json()["bank_id"] == "other"


def test_a_key_reaches_by_an_alias_no_bank_that_it_does_not_cover(
    client: Caller, handler: LambdaHandler, owner_store: PostgresStore, tenant: TenantId
) -> None:
    _add(client, "team-alias")
    team = Caller(handler, make_key(owner_store, tenant, bank_patterns=("team-*",)))

    read = team("GET", f"{BANKS}/team-alias/stats")
    written = team("POST", f"{BANKS}/team-alias/memories", {"items": [{"content": "Zoe keeps bees."}]})

    assert (read.status, read.json()) == (404, {"detail": "Bank 'team-alias' not found"})
    assert written.status == 409
    assert "zoe" not in written.body.decode()
    assert client("GET", f"{BANKS}/zoe/stats").json()["total_nodes"] == 0


def test_a_key_gives_no_name_that_it_does_not_cover(
    client: Caller, handler: LambdaHandler, owner_store: PostgresStore, tenant: TenantId
) -> None:
    team = Caller(handler, make_key(owner_store, tenant, bank_patterns=("zoe", "team-*")))

    assert (_add(team, "theirs"), _add(team, "team-zoe")) == (404, 201)
    assert team("GET", f"{BANKS}/team-zoe/profile").status == 200


def test_a_wrong_body_is_told_before_a_wrong_key(handler: LambdaHandler) -> None:
    stranger = Caller(handler, "hsk_" + "A" * 43)

    assert stranger("POST", f"{BANKS}/zoe/aliases", {"alias": 5}).status == 422
    assert stranger("POST", f"{BANKS}/zoe/aliases", {"alias": "bees"}).status == 401
