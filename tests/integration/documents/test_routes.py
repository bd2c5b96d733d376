"""Documents over HTTP: shapes, ids with anything in them, lists, and what a limited key is shown."""

from __future__ import annotations

from itertools import product
from typing import Any
from urllib.parse import quote

import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller, make_caller, make_key, make_services
from tests.support.database import Database
from tests.support.golden import schema_errors

_BANK = "/v1/default/banks/bank"
_ROUTE = "/v1/default/banks/{bank_id}/documents"
_HARD_IDS = {
    "slash": "a/b/c",
    "dots": "../up/./here",
    "percent": "50%2Foff",
    "space": "two words",
    "rtl": "\u0645\u0633\u062a\u0646\u062f\u200f \u0661",
    "reserved": "q?x=1&y=#z",
    "underscores": "a_b~c_0",
}


@pytest.fixture
def call(database: Database, tenant: TenantId, store: PostgresStore) -> Caller:
    return make_caller(make_services(store, tenant))


def _retain(call: Caller, content: str, document: str | None = "d", **fields: Any) -> Answer:
    answer = call("POST", f"{_BANK}/memories", {"items": [{"content": content, "document_id": document, **fields}]})
    assert answer.status == 200, answer.body
    return answer


def _path(document: str, suffix: str = "") -> str:
    return f"{_BANK}/documents/{quote(document, safe='')}{suffix}"


@pytest.mark.parametrize("document", _HARD_IDS.values(), ids=_HARD_IDS)
def test_every_route_takes_the_id_as_it_was_sent(call: Caller, document: str) -> None:
    """Case [R020]."""
    _retain(call, "Ada rows.", document)

    chunks = call("GET", _path(document, "/chunks")).json()
    assert [chunk["document_id"] for chunk in chunks["items"]] == [document]
    chunk = call("GET", f"/v1/default/chunks/{quote(chunks['items'][0]['chunk_id'], safe='')}")
    assert chunk.json() == chunks["items"][0]
    assert call("GET", _path(document)).json()["id"] == document
    assert call("GET", _path(document, "/history")).json()["total"] == 1
    assert call("PATCH", _path(document), {"tags": ["t"]}).json() == {"success": True}
    assert call("POST", _path(document, "/reprocess")).json()["items_count"] == 1
    assert call("DELETE", _path(document)).json()["document_id"] == document
    assert call("GET", _path(document)).status == 404


@pytest.mark.parametrize("suffix", ["chunks", "history", "reprocess"])
def test_an_encoded_slash_belongs_to_the_id_and_a_plain_one_to_the_address(call: Caller, suffix: str) -> None:
    """[R020]: `x%2Fchunks` is a document, `x/chunks` are the chunks of one."""
    _retain(call, "Ada rows.", f"x/{suffix}")
    _retain(call, "Bob swims.", "x")
    encoded = _path(f"x/{suffix}")

    assert call("GET", encoded).json()["original_text"] == "Ada rows."
    assert call("GET", f"{encoded}/chunks").json()["items"][0]["chunk_text"] == "Ada rows."
    assert call("GET", _path("x", "/chunks")).json()["items"][0]["chunk_text"] == "Bob swims."
    assert call("GET", f"{encoded}/history").json()["total"] == 1
    assert call("POST", encoded).status == 405
    assert call("POST", f"{encoded}/reprocess").json()["items_count"] == 1
    assert call("PATCH", encoded, {"tags": ["t"]}).json() == {"success": True}
    assert call("DELETE", encoded).json()["document_id"] == f"x/{suffix}"
    assert call("GET", _path("x")).json()["id"] == "x"


def test_answers_have_the_published_shapes(call: Caller) -> None:
    _retain(call, "Ada rows.", context="c", metadata={"k": "v"}, timestamp="2024-01-15T10:30:00Z", tags=["a"])
    asked = {
        ("GET", f"{_ROUTE}/{{document_id}}"): call("GET", _path("d")),
        ("GET", _ROUTE): call("GET", f"{_BANK}/documents"),
        ("GET", f"{_ROUTE}/{{document_id}}/chunks"): call("GET", _path("d", "/chunks")),
        ("GET", "/v1/default/chunks/{chunk_id}"): call("GET", "/v1/default/chunks/bank_d_0"),
        ("GET", f"{_ROUTE}/{{document_id}}/history"): call("GET", _path("d", "/history")),
        ("PATCH", f"{_ROUTE}/{{document_id}}"): call("PATCH", _path("d"), {"observation_scopes": [["a"]]}),
        ("POST", f"{_ROUTE}/{{document_id}}/reprocess"): call("POST", _path("d", "/reprocess")),
        ("DELETE", f"{_ROUTE}/{{document_id}}"): call("DELETE", _path("d")),
    }

    assert {route: answer.status for route, answer in asked.items()} == dict.fromkeys(asked, 200)
    for (method, route), answer in asked.items():
        assert schema_errors(method, route, 200, answer.json()) == []
    shown = asked["GET", f"{_ROUTE}/{{document_id}}"].json()
    assert shown["retain_params"] == {
        "context": "c", "metadata": {"k": "v"}, "event_date": "2024-01-15T10:30:00+00:00",
    }  # fmt: skip
    assert shown["document_metadata"] == {"k": "v"}
    assert shown["original_text"] == "Ada rows."
    deleted = asked["DELETE", f"{_ROUTE}/{{document_id}}"].json()
    assert deleted["memory_units_deleted"] == 1


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({}, 422, "At least one field (tags, observation_scopes) must be provided"),
        ({"tags": None}, 422, "At least one field (tags, observation_scopes) must be provided"),
        ({"observation_scopes": "all"}, 422, None),
        ({"tags": ["x" * 600]}, 422, None),
        ({"tags": [1]}, 422, None),
    ],
    ids=["nothing", "null", "no-mode", "long-tag", "number"],
)
def test_a_patch_that_makes_no_sense_changes_nothing(
    call: Caller, body: object, status: int, detail: str | None
) -> None:
    _retain(call, "Ada rows.", tags=["a"])

    answer = call("PATCH", _path("d"), body)

    assert answer.status == status
    if detail is not None:
        assert answer.json() == {"detail": detail}
    assert call("GET", _path("d")).json()["tags"] == ["a"]


@pytest.mark.parametrize("tags", [[], '["b","c"]', "b"], ids=["none", "json-string", "string"])
def test_tags_are_replaced_as_a_whole(call: Caller, tags: object) -> None:
    _retain(call, "Ada rows.", tags=["a"])

    assert call("PATCH", _path("d"), {"tags": tags}).status == 200

    wanted = {"[]": [], '["b","c"]': ["b", "c"], "b": ["b"]}[str(tags)]
    assert call("GET", _path("d")).json()["tags"] == wanted
    (memory,) = call("GET", f"{_BANK}/memories/list").json()["items"]
    assert memory["tags"] == wanted


@pytest.mark.parametrize(
    "chunk", ["nope", "bank_d", "bank_d_x", "bank_d_9", "bank_d_00", "other_d_0", "bank_e_0", "__", ""]
)
def test_what_is_no_chunk_is_not_found(call: Caller, chunk: str) -> None:
    _retain(call, "Ada rows.")

    assert call("GET", f"/v1/default/chunks/{chunk}").status == 404


def test_chunks_come_in_pages(call: Caller) -> None:
    call("PATCH", f"{_BANK}/config", {"updates": {"retain_chunk_size": 500}})
    _retain(call, "\n\n".join(f"Section {n}. {'word ' * 90}" for n in range(5)))

    page = call("GET", _path("d", "/chunks?limit=2&offset=3")).json()

    assert (page["total"], page["limit"], page["offset"]) == (5, 2, 3)
    assert [chunk["chunk_index"] for chunk in page["items"]] == [3, 4]
    assert call("GET", _path("d", "/chunks?limit=2&offset=9")).json()["items"] == []
    assert call("GET", _path("d", "/chunks?limit=0")).status == 422


def test_the_history_of_what_is_not_there_is_empty(call: Caller) -> None:
    _retain(call, "Ada rows.")

    assert call("GET", _path("nothing", "/history")).json() == {
        "document_id": "nothing", "total": 0, "limit": 100, "offset": 0, "items": [],
    }  # fmt: skip


def test_lists_are_filtered_by_text_tags_and_time(call: Caller) -> None:
    for name, tags in (("rowing", ["a"]), ("singing", ["b"]), ("sailing", ["a", "b"])):
        _retain(call, f"Ada likes {name}.", f"doc-{name}", tags=tags)
    (second,) = [d for d in call("GET", f"{_BANK}/documents").json()["items"] if d["id"] == "doc-singing"]

    def listed(query: str) -> list[str]:
        answer = call("GET", f"{_BANK}/documents?{query}")
        assert answer.status == 200, answer.body
        return sorted(document["id"] for document in answer.json()["items"])

    since = quote(second["created_at"])
    assert listed("q=LIKES+S") == ["doc-sailing", "doc-singing"]
    assert listed("tags=a&tags=b&tags_match=all") == ["doc-sailing"]
    assert listed("tags=a&tags_match=exact") == ["doc-rowing"]
    assert listed(f"time_field=created_at&start_date={since}") == ["doc-sailing", "doc-singing"]
    assert listed(f"time_field=created_at&end_date={since}") == ["doc-rowing"]
    assert listed("limit=1&offset=1&q=doc-") == ["doc-singing"]


def test_a_limited_key_is_shown_no_document_of_others(
    database: Database, tenant: TenantId, store: PostgresStore, call: Caller
) -> None:
    """Nor a chunk of one by way of recall, though a memory of its own was taken from there."""
    items = [{"content": f"Of {who}.", "document_id": "both", "tags": [f"user:{who}"]} for who in ("a", "b")]
    assert call("POST", f"{_BANK}/memories", {"items": items}).status == 200
    _retain(call, "Of b alone.", "b-doc", tags=["user:b"])
    owner = PostgresStore(lambda: f"{database.owner_url}&options=-csearch_path%3Dhindsight,public", connect_for_s=30.0)
    try:
        limited: list[Caller] = [
            _limited(call.handler, owner, tenant, **limits)
            for limits in (
                {"forced_tags": {"tags": ["user:a"], "match": "any_strict"}},
                {"exact_scopes": (("user:b",),)},
                {"fact_types": frozenset({"observation"})},
            )
        ]
    finally:
        owner.close()

    for caller, name in product(limited, ("b-doc", "both")):
        assert caller("GET", _path(name)).status == 404
        assert caller("GET", _path(name, "/chunks")).status == 404
        assert caller("GET", _path(name, "/history")).json()["items"] == []
        assert caller("GET", f"/v1/default/chunks/bank_{name}_0").status == 404
        assert caller("POST", _path(name, "/reprocess")).status == 404
        assert caller("PATCH", _path(name), {"tags": ["user:a"]}).status == 404
        assert caller("DELETE", _path(name)).status == 404
        assert caller("GET", f"{_BANK}/documents?q=of").json()["total"] == 0
        recalled = caller("POST", f"{_BANK}/memories/recall", {"query": "Of whom?", "include": {"chunks": {}}}).json()
        assert not recalled["chunks"]
    own = limited[0]("POST", f"{_BANK}/memories/recall", {"query": "Of whom?"}).json()["results"]
    assert [memory["document_id"] for memory in own] == ["both"]
    for name in ("b-doc", "both"):
        assert limited[0]("POST", f"{_BANK}/memories", {"items": [_item_of_a(name)]}).status == 403
    assert call("GET", _path("b-doc")).json()["tags"] == ["user:b"]
    assert call("GET", _path("both")).json()["original_text"] == "Of a.\nOf b."


def test_a_text_that_is_not_kept_is_nowhere_to_be_read(call: Caller) -> None:
    """Case [R101]."""
    call("PATCH", f"{_BANK}/config", {"updates": {"store_document_text": False}})
    _retain(call, "Ada rows.")

    assert call("GET", _path("d")).json()["original_text"] is None
    assert [chunk["chunk_text"] for chunk in call("GET", _path("d", "/chunks")).json()["items"]] == [""]
    assert call("POST", _path("d", "/reprocess")).status == 404
    again = call(
        "POST", f"{_BANK}/memories", {"items": [{"content": "x", "document_id": "d", "update_mode": "append"}]}
    )
    assert again.status == 400


def _item_of_a(document: str) -> dict[str, object]:
    return {"content": "Mine now.", "document_id": document, "tags": ["user:a"]}


def _limited(handler: LambdaHandler, owner: PostgresStore, tenant: TenantId, **limits: Any) -> Caller:
    return Caller(handler, make_key(owner, tenant, **limits))
