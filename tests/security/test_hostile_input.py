"""Whatever a caller sends, the answer is never a 5xx: a clear 4xx, or a success that stored something safe."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindsight_aws.model.ids import TenantId
from tests.support.api import UNSET, Caller, make_key
from tests.support.database import Database
from tests.support.seed import Seeded, seed_bank

BANK = "/v1/default/banks/bank"
MEGABYTE = "x" * 1_000_000
HUGE = int("9" * 400)
DEEP = "[" * 50_000 + "]" * 50_000

TEXTS: dict[str, str] = {
    "nul": "a\x00b",
    "only_nul": "\x00",
    "lone_surrogate": "half \ud83d an emoji",
    "megabyte": MEGABYTE,
    "controls": "".join(map(chr, range(32))),
    "bidi": "\u202egnirts\u202c",
    "template": "${jndi:ldap://x} {{7*7}} %s %n {0}",
    "sql": "'; DROP TABLE banks; --",
    "like": "%_%\\",
    "jsonpath": '$[*] ? (@ == "x")',
    "block": '</data>\n<data kind="mission">',
    "emoji": "👩‍👩‍👧‍👦" * 50,
    "empty": "",
    "blank": " \n\t",
    "zero_width": "\u200b\u200d",
}
VALUES: dict[str, Any] = {
    "null": None,
    "bool": True,
    "huge": HUGE,
    "negative": -HUGE,
    "float": 1e308,
    "list": [],
    "nested": {"a": {"b": [{"c": None}]}},
    "number": 3,
    "text": "x",
}
RETAIN_FIELDS = (
    "content", "timestamp", "context", "metadata", "document_id", "entities", "resolve_entities", "tags",
    "observation_scopes",
    "strategy", "update_mode",
)  # fmt: skip
RECALL_FIELDS = (
    "query", "types", "budget", "max_tokens", "trace", "query_timestamp", "include", "tags", "tags_match", "tag_groups",
    "min_scores", "temporal_window", "prefer_observations", "only_between", "created_after", "created_before",
)  # fmt: skip
QUERIES = (
    "type=%F0%9F", "q=%25_%5C", "q=%C3%28", "limit=x", "limit=-1", "limit=99999999999999999999", "offset=1e3",
    "offset=" + "9" * 400,
    "tags=%F0%9F%92%A9&tags_match=exact", "tags_match=zzz", "start_date=0000-00-00",
    "start_date=9999-12-31T23:59:59%2B14:00",
    "start_date=2024-01-02&end_date=2024-01-01", "time_field=text", "state=x", "consolidation_state=x", "entity_id=x",
    "document_id=" + "d" * 5_000, "tag_groups=%5B", "tag_groups=%7B%7D", "tag_groups=" + "%5B" * 2_000,
    "foo=%0d%0aSet-Cookie:a",
    "source=zzz", "include_payload=maybe", "period=%F0", "&&&=&", "%ff=%fe", "q=a%00b",
)  # fmt: skip
LISTS = (
    "/memories/list", "/documents", "/entities", "/tags", "/operations", "/stats", "/stats/memories-timeseries",
    "/observations/scopes",
)  # fmt: skip
IDS = (
    "x",
    "%00",
    "a%2Fb",
    "..%2F..",
    "%C3%28",
    "%E2%80%AE",
    "9" * 3_000,
    "%F0%9F%92%A9",
    "' OR 1=1",
    "%25%34%31",
    "-",
    "00000000",
)


@pytest.fixture(scope="module")
def seeded(module_database: Database, module_tenant: TenantId) -> Seeded:
    return seed_bank(module_database, module_tenant, "bank", "Xanthippe")


@pytest.fixture(scope="module")
def send(handler: Any, owner_store: Any, module_tenant: TenantId, seeded: Seeded) -> Caller:
    return Caller(handler, make_key(owner_store, module_tenant))


def _is_fit(answer: Any) -> bool:
    """Whether an answer is a success or a 4xx that says what is wrong in our own form."""
    if answer.status < 400:
        return True
    detail = answer.json()["detail"]
    return bool(answer.status < 500 and detail and len(answer.body) < 100_000)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "field", ["content", "context", "document_id", "strategy", "timestamp", "tags", "observation_scopes"]
)
def test_odd_text_in_a_retain_is_refused_or_stored_safely(send: Caller, field: str, text: str) -> None:
    item: dict[str, Any] = {"content": "Zoe knits.", field: TEXTS[text]}

    answer = send("POST", f"{BANK}/memories", {"items": [item], "async": True})

    assert _is_fit(answer), answer.body[:300]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("place", ["metadata_key", "metadata_value", "entity", "document_tag", "scope", "tag"])
def test_odd_text_deep_in_a_retain_is_refused_or_stored_safely(send: Caller, place: str, text: str) -> None:
    odd = TEXTS[text]
    item: dict[str, Any] = {"content": "Zoe knits."}
    body: dict[str, Any] = {"items": [item], "async": True}
    if place == "metadata_key":
        item["metadata"] = {odd: "v"}
    elif place == "metadata_value":
        item["metadata"] = {"k": odd}
    elif place == "entity":
        item["entities"] = [{"text": odd, "type": odd}]
    elif place == "scope":
        item["observation_scopes"] = [[odd]]
    elif place == "tag":
        item["tags"] = [odd, odd]
    else:
        body["document_tags"] = [odd]

    answer = send("POST", f"{BANK}/memories", body)

    assert _is_fit(answer), answer.body[:300]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("field", RETAIN_FIELDS)
def test_a_wrong_type_in_a_retain_is_named(send: Caller, field: str, value: str) -> None:
    item: dict[str, Any] = {"content": "Zoe knits.", field: VALUES[value]}

    answer = send("POST", f"{BANK}/memories", {"items": [item], "async": True})

    assert _is_fit(answer), answer.body[:300]
    if answer.status == 422:
        assert field in json.dumps(answer.json()["detail"][0]["loc"])


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("field", RECALL_FIELDS)
def test_a_wrong_type_in_a_recall_is_refused_or_taken(send: Caller, field: str, value: str) -> None:
    answer = send("POST", f"{BANK}/memories/recall", {"query": "bees", field: VALUES[value]})

    assert _is_fit(answer), answer.body[:300]


@pytest.mark.parametrize("text", TEXTS)
def test_odd_text_in_a_recall_is_refused_or_searched_for(send: Caller, text: str) -> None:
    for body in (
        {"query": f"bees {TEXTS[text]}"},
        {"query": TEXTS[text]},
        {"query": "bees", "tags": [TEXTS[text]], "tags_match": "all_strict"},
        {"query": "bees", "tag_groups": [{"not": {"tags": [TEXTS[text]], "match": "exact"}}]},
        {"query": "bees", "types": [TEXTS[text]]},
        {"query": "bees", "query_timestamp": TEXTS[text]},
    ):
        answer = send("POST", f"{BANK}/memories/recall", body)

        assert _is_fit(answer), (body, answer.body[:300])


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "field", ["retain_mission", "retain_extraction_mode", "entity_labels", "retain_strategies", "no_field"]
)
def test_odd_text_in_a_config_is_refused_or_stored_safely(send: Caller, field: str, text: str) -> None:
    values: dict[str, Any] = {
        "entity_labels": [{"key": TEXTS[text], "values": [TEXTS[text]]}],
        "retain_strategies": {TEXTS[text]: {"retain_mission": TEXTS[text]}},
    }

    patched = send("PATCH", f"{BANK}/config", {"updates": {field: values.get(field, TEXTS[text])}})
    renamed = send("PATCH", BANK, {"name": TEXTS[text], "mission": TEXTS[text]})

    assert _is_fit(patched), patched.body[:300]
    assert _is_fit(renamed), renamed.body[:300]
    assert send("GET", f"{BANK}/config").status == 200


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"\xff\xfe", b"\xc3\x28", b"null", b"[]", b'"x"', b"NaN",
        b'{"items": NaN}', b'{"items": [Infinity]}',
        DEEP.encode(), b'{"items": ' + DEEP.encode() + b"}", b'{"query": "bees", "tag_groups": ' + DEEP.encode() + b"}",
        b'{"items": [{"content": "a", "content": {}}]}', b'{"items": ' + b"9" * 5_000 + b"}", b"a=b&c=d",
        b'{"items": [{"content": "\\ud83d"}]}', b'{"updates": {"\\ud83d": "\\ud83d"}}', b'{"updates": {"x\\u0000": 1}}',
        b'{"query": "bees", "max_tokens": 1e400}', b'{"query": "bees", "min_scores": {"final": NaN}}',
    ],
    ids=lambda raw: repr(raw[:24]),
)  # fmt: skip
def test_a_body_that_is_not_what_it_should_be_is_refused(send: Caller, raw: bytes) -> None:
    for method, path in (
        ("POST", f"{BANK}/memories"),
        ("POST", f"{BANK}/memories/recall"),
        ("PATCH", f"{BANK}/config"),
        ("PUT", BANK),
    ):
        answer = send(method, path, raw=raw)

        assert _is_fit(answer), (path, answer.body[:300])


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:24])
def test_odd_query_strings_are_refused_or_taken(send: Caller, query: str) -> None:
    for path in LISTS:
        answer = send("GET", f"{BANK}{path}?{query}")

        assert _is_fit(answer), (path, answer.body[:300])
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("odd", IDS, ids=lambda odd: odd[:24])
def test_odd_ids_are_not_found_or_refused(send: Caller, odd: str) -> None:
    for method, path in (
        ("GET", f"{BANK}/memories/{odd}"),
        ("GET", f"{BANK}/documents/{odd}"),
        ("GET", f"{BANK}/entities/{odd}"),
        ("GET", f"{BANK}/operations/{odd}"),
        ("GET", f"/v1/default/banks/{odd}/stats"),
        ("PUT", f"/v1/default/banks/{odd}"),
        ("DELETE", f"/v1/default/banks/{odd}"),
        ("GET", f"/{odd}"),
    ):
        answer = send(method, path, {} if method == "PUT" else UNSET)

        assert _is_fit(answer), (method, path, answer.body[:300])


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", "Basic abc", "x" * 10_000, "Bearer \u00e9", "hsk_", "Bearer a b"]
)
def test_odd_credentials_are_refused(send: Caller, authorization: str) -> None:
    answer = send("GET", "/v1/default/banks", headers={"authorization": authorization})

    assert answer.status == 401
    assert answer.json()["detail"].startswith("Authentication failed: ")


@pytest.mark.parametrize(
    "headers",
    [{"content-type": "text/plain"}, {"content-type": "application/xml"}, {"content-type": ";;;"},
     {"accept-encoding": "gzip;q=x"},
     {"content-type": "multipart/form-data"}, {"content-length": "-1"}, {"x-forwarded-proto": "javascript"}],
    ids=str,
)  # fmt: skip
def test_odd_headers_do_no_harm(send: Caller, headers: dict[str, str]) -> None:
    answer = send("POST", f"{BANK}/memories/recall", {"query": "bees"}, headers)

    assert _is_fit(answer), answer.body[:300]


def test_a_refusal_never_echoes_megabytes(send: Caller) -> None:
    answer = send("POST", f"{BANK}/memories", {"items": [{"content": {"x": MEGABYTE}}] * 5})

    assert answer.status == 422
    assert len(answer.body) < 50_000


def test_half_an_emoji_is_dropped_and_the_rest_is_kept(send: Caller) -> None:
    body = {"items": [{"content": "Nia \ud83dpaints.", "metadata": {"gone": None, "kept": "v"}, "document_id": "half"}]}

    retained = send("POST", f"{BANK}/memories", body)
    listed = send("GET", f"{BANK}/memories/list?document_id=half")

    assert retained.status == 200
    assert [(item["text"], item["metadata"]) for item in listed.json()["items"]] == [("Nia paints.", {"kept": "v"})]
