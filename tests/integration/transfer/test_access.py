"""Who may have a bank carried, and who may have its archive."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.transfer.conftest import Ferry
from tests.support.api import make_caller, make_key
from tests.support.database import Database, make_tenant
from tests.support.files import upload
from tests.support.seed import Seeded


@pytest.fixture
def owner(database: Database) -> Any:
    store = PostgresStore(lambda: f"{database.owner_url}&options=-csearch_path%3Dhindsight,public", connect_for_s=30.0)
    yield store
    store.close()


def keyed(ferry: Ferry, owner: PostgresStore, tenant: TenantId | None = None, **limits: Any) -> Ferry:
    key = make_key(owner, tenant or ferry.tenant, **limits)
    return replace(ferry, call=make_caller(ferry.services, key))


_LIMITS: dict[str, dict[str, Any]] = {
    "tags": {"forced_tags": {"tags": ["user:a"], "match": "any_strict"}},
    "scopes": {"exact_scopes": (("user:a",),)},
    "types": {"fact_types": frozenset({"observation"})},
}
_DATA = {"include_bank_config": False}


@pytest.mark.parametrize("limit", _LIMITS)
def test_a_limited_key_carries_nothing(ferry: Ferry, owner: PostgresStore, seeded: Seeded, limit: str) -> None:
    archive = ferry.exported("source")
    key = ferry.done("source", ferry.post("source", "/transfer/export", **_DATA))["result_metadata"]["storage_key"]
    limited = keyed(ferry, owner, **_LIMITS[limit])

    answers = [
        limited.post("source", "/transfer/export", **_DATA),
        limited.post("source", "/document-transfer/export"),
        limited.post("source", "/clone", target_bank_id="copy", **_DATA),
        limited.post("source", "/transfer/import", archive, target_bank_id="copy", **_DATA),
        limited.post("source", "/transfer/import", archive, mode="merge"),
    ]

    assert [answer.status for answer in answers] == [403] * 5
    assert limited.call("GET", f"/v1/default/files/download/{key}").status == 404


def test_settings_and_webhooks_are_an_administrators(ferry: Ferry, owner: PostgresStore, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    writer = keyed(ferry, owner, permissions=frozenset({Permission.READ, Permission.WRITE}))

    refused = [
        writer.post("source", "/transfer/export"),
        writer.post("source", "/clone", target_bank_id="copy"),
        writer.post("source", "/transfer/import", archive, target_bank_id="copy"),
    ]
    taken = [
        writer.post("source", "/transfer/export", **_DATA),
        writer.post("source", "/clone", target_bank_id="copy", **_DATA),
        writer.post("source", "/transfer/import", archive, target_bank_id="other", **_DATA),
    ]

    assert [answer.status for answer in refused] == [403, 403, 403]
    assert [answer.status for answer in taken] == [202, 202, 202]


def test_an_archive_with_settings_is_downloaded_by_who_may_have_them_alone(
    ferry: Ferry, owner: PostgresStore, seeded: Seeded
) -> None:
    whole, data = (
        ferry.done("source", ferry.post("source", "/transfer/export", **asked))["result_metadata"]["storage_key"]
        for asked in ({}, _DATA)
    )
    reader = keyed(ferry, owner, permissions=frozenset({Permission.READ}))

    answers = [reader.call("GET", f"/v1/default/files/download/{key}").status for key in (whole, data)]

    assert answers == [403, 200]


def test_a_key_makes_no_bank_that_it_does_not_cover(ferry: Ferry, owner: PostgresStore, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    narrow = keyed(ferry, owner, bank_patterns=("source", "mine-*"))

    answers = [
        narrow.post("source", "/clone", target_bank_id=target)
        for target in ("theirs", "mine-1", "source", "_no", "a\nb")
    ] + [narrow.post("source", "/transfer/import", archive, target_bank_id="theirs")]

    assert [answer.status for answer in answers] == [404, 202, 400, 400, 400, 404]


def test_an_archive_is_its_tenants_alone(
    ferry: Ferry, owner: PostgresStore, seeded: Seeded, database: Database
) -> None:
    ended = ferry.done("source", ferry.post("source", "/transfer/export"))
    key = ended["result_metadata"]["storage_key"]
    stranger = keyed(ferry, owner, make_tenant(database, "stranger"))
    elsewhere = keyed(ferry, owner, bank_patterns=("other-*",))
    url = "/v1/default/files/download/"

    own = ferry.call("GET", url + key)
    others = [caller.call("GET", url + key) for caller in (stranger, elsewhere)]
    missing = ferry.call("GET", f"{url}tenants/{ferry.tenant}/banks/{seeded.bank_id}/transfers/{uuid4()}.zip")

    assert (own.status, own.headers["content-type"]) == (200, "application/zip")
    assert own.headers["content-disposition"] == f'attachment; filename="{ended["result_metadata"]["filename"]}"'
    assert own.body == ferry.services.stored.objects[key]
    assert ended["result_metadata"]["download_url"] == url + key
    assert ended["result_metadata"]["byte_size"] == len(own.body)
    assert [answer.status for answer in (*others, missing)] == [404, 404, 404]
    assert others[0].body == missing.body


def test_another_tenant_restores_what_it_was_given(
    ferry: Ferry, owner: PostgresStore, seeded: Seeded, database: Database
) -> None:
    """Under ids of its own: nothing of the first tenant's is touched or pointed to."""
    archive = ferry.exported("source")
    receiver = keyed(ferry, owner, make_tenant(database, "receiver"))
    receiver.call("PUT", "/v1/default/banks/desk", {"name": "desk"})

    ended = receiver.done("desk", receiver.post("desk", "/transfer/import", archive, target_bank_id="source"))

    assert ended["status"] == "completed", ended["error_message"]
    lists = [caller.call("GET", "/v1/default/banks/source/memories/list").json() for caller in (ferry, receiver)]
    assert [found["total"] for found in lists] == [7, 7]
    first, second = ({item["id"] for item in found["items"]} for found in lists)
    assert first & second == set()


def test_an_archive_that_no_answer_holds_is_where_it_can_be_had(
    ferry: Ferry, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = ferry.done("source", ferry.post("source", "/transfer/export"))["result_metadata"]["storage_key"]
    monkeypatch.setattr("hindsight_aws.transfer.download.MOST_ANSWERED", 10)

    answer = ferry.call("GET", f"/v1/default/files/download/{key}")

    assert (answer.status, answer.headers["location"].split("?")[0]) == (307, f"https://bucket.example/{key}")


def test_deleting_the_operation_deletes_its_archive(ferry: Ferry, seeded: Seeded) -> None:
    ended = ferry.done("source", ferry.post("source", "/transfer/export"))
    key = ended["result_metadata"]["storage_key"]

    deleted = ferry.call("DELETE", f"/v1/default/banks/source/operations/{ended['id']}/delete")

    assert deleted.status == 200
    assert ferry.services.stored.objects == {}
    assert ferry.call("GET", f"/v1/default/files/download/{key}").status == 404


def test_an_archive_that_no_request_carries_is_brought_first(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    upload_id = upload(ferry.call, ferry.services.stored, "source", "a.zip", archive)

    unnamed = ferry.post("source", "/transfer/import", upload_id=upload_id)
    unknown = ferry.post("source", "/transfer/import", upload_id=uuid4(), target_bank_id="copy")
    ended = ferry.done("source", ferry.post("source", "/transfer/import", upload_id=upload_id, target_bank_id="copy"))

    assert (unnamed.status, unknown.status) == (400, 404)
    assert ended["status"] == "completed", ended["error_message"]
    assert ferry.banks() == ["copy", "source"]


_WRONG: dict[str, tuple[str, dict[str, object]]] = {
    "nothing": ("/transfer/export", {"include_data": False, "include_bank_config": False}),
    "some documents and settings": ("/transfer/export", {"document_id": "doc/Xanthippe"}),
    "some documents and observations": (
        "/document-transfer/export", {"document_id": "doc/Xanthippe", "include_observations": True}
    ),
    "a copy of nothing": ("/clone", {"target_bank_id": "c", "include_data": False, "include_bank_config": False}),
    "no archive": ("/transfer/import", {"target_bank_id": "c"}),
}  # fmt: skip


@pytest.mark.parametrize("name", _WRONG)
def test_what_makes_no_sense_is_refused(ferry: Ferry, seeded: Seeded, name: str) -> None:
    path, query = _WRONG[name]

    answer = ferry.post("source", path, **query)

    assert answer.status == 400, answer.body
    assert ferry.services.noted.transfers == []


@pytest.mark.parametrize(
    "query",
    [
        {"mode": "merge", "target_bank_id": "copy"},
        {"mode": "merge", "include_data": True},
        {"mode": "merge", "document_conflict": "overwrite"},
        {"mode": "restore", "document_conflict": "replace"},
        {"mode": "restore", "target_bank_id": "source"},
    ],
    ids=lambda query: " ".join(map(str, query.values())),
)
def test_flags_of_one_way_in_are_refused_with_the_other(ferry: Ferry, seeded: Seeded, query: dict[str, object]) -> None:
    archive = ferry.exported("source")

    assert ferry.post("source", "/transfer/import", archive, **query).status == 400


@pytest.mark.parametrize("way", ["export", "import"])
def test_what_is_switched_off_is_not_served_and_says_so(ferry: Ferry, seeded: Seeded, way: str) -> None:
    archive = ferry.exported("source")
    settings = ferry.services.settings.model_copy(update={f"hindsight_api_enable_document_{way}_api": False})
    ferry.services.__dict__.update(settings=settings)
    ferry.services.__dict__.pop("transfer_ports", None)

    answers = {
        "export": ferry.post("source", "/transfer/export").status,
        "import": ferry.post("source", "/transfer/import", archive, target_bank_id="copy").status,
    }

    assert answers[way] == 404
    assert ferry.post("source", "/clone", target_bank_id="clone").status == 404
    assert ferry.call("GET", "/version").json()["features"][f"document_{way}_api"] is False
