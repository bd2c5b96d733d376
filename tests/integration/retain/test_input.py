"""What a retain call may hold, over HTTP: every form that is taken, and what is refused and names its field."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest

from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.text.tokens import count_tokens
from tests.support.api import Answer, Caller, FakeRuntime, call, services

__all__ = ["call", "services"]
_BANK = "/v1/default/banks/bank"
Item = dict[str, Any]


def _retain(call: Caller, *items: Item, **fields: Any) -> Answer:
    return call("POST", f"{_BANK}/memories", {"items": [{"content": "Some text.", **item} for item in items], **fields})


def _work(services: FakeRuntime) -> None:
    """Hands every wake-up to a worker."""
    while services.noted.operations:
        tenant_id, operation_id, _ = services.noted.operations.pop(0)
        body = json.dumps({"tenant_id": str(tenant_id), "operation_id": str(operation_id)})
        ingest(services.retain_ports, body, 60.0)


def _memories(call: Caller) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call("GET", f"{_BANK}/memories/list").json()["items"]
    return found


def _kept(call: Caller, item: Item) -> dict[str, Any]:
    """The one memory that the item became."""
    answer = _retain(call, item)
    assert answer.status == 200, answer.body
    (memory,) = _memories(call)
    return memory


_REFUSED: list[tuple[str, Item, int, str]] = [
    ("R001-empty", {"content": ""}, 422, "content"),
    ("R001-white", {"content": " \n\t"}, 422, "content"),
    ("R002-nul", {"content": "\x00\x00"}, 422, "content"),
    ("R003-zero-width", {"content": "\u200b\u2060\ufeff"}, 422, "content"),
    ("R003-surrogate", {"content": "\ud83d"}, 422, "content"),
    ("R003-blocks", {"content": [{"type": "text", "text": "\u200b"}]}, 422, "content"),
    ("R009-number", {"timestamp": 1705312800}, 422, "timestamp"),
    ("R009-slashes", {"timestamp": "15/01/2024"}, 422, "timestamp"),
    ("R009-word", {"timestamp": "tomorrow"}, 422, "timestamp"),
    ("R010-year-1", {"timestamp": "0001-01-01T00:00:00Z"}, 422, "timestamp"),
    ("R010-year-9999", {"timestamp": "9999-12-31"}, 422, "timestamp"),
    ("R010-year-9999-in-UTC", {"timestamp": "9998-12-31T23:59:59-12:00"}, 422, "timestamp"),
    ("R010-year-1-in-UTC", {"timestamp": "0002-01-01T00:00:00+12:00"}, 422, "timestamp"),
    ("R014-number-in-tags", {"tags": [1]}, 422, "tags"),
    ("R014-number-in-text", {"tags": "[1]"}, 422, "tags"),
    ("R014-object", {"tags": {"a": 1}}, 422, "tags"),
    ("R016-number", {"metadata": {"k": 1}}, 422, "metadata"),
    ("R016-nested", {"metadata": {"k": {"deep": "x"}}}, 422, "metadata"),
    ("R016-list", {"metadata": ["k"]}, 422, "metadata"),
    ("R017-bare-name", {"entities": ["Alice"]}, 422, "entities"),
    ("R018-mode", {"update_mode": "merge", "document_id": "d"}, 422, "update_mode"),
    ("R018-scopes", {"observation_scopes": "all"}, 422, "observation_scopes"),
    (
        "C015-six-tags-in-all-combinations",
        {"observation_scopes": "all_combinations", "tags": list("abcdef")},
        422,
        "observation_scopes",
    ),
    ("R019-long-id", {"document_id": "é" * 257}, 422, "document_id"),
    ("R019-long-tag", {"tags": ["é" * 257]}, 422, "tags"),
    ("R019-long-entity", {"entities": [{"text": "e" * 513}]}, 422, "entities"),
    ("R024-append-to-nothing", {"update_mode": "append"}, 400, "document_id"),
    ("R025-long-context", {"context": "c" * 16_385}, 413, "context"),
    ("R025-long-metadata", {"metadata": {"k": "v" * 16_384}}, 413, "metadata"),
]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("item", "status", "field"), [row[1:] for row in _REFUSED], ids=[row[0] for row in _REFUSED])
def test_what_cannot_be_is_refused_names_its_field_and_changes_nothing(
    call: Caller, services: FakeRuntime, item: Item, status: int, field: str, is_async: bool
) -> None:
    answer = _retain(call, {}, item, **{"async": is_async})

    assert answer.status == status
    assert field in answer.body.decode()
    assert "items" in answer.body.decode()
    assert call("GET", "/v1/default/banks").json()["banks"] == []
    assert services.model.calls == []


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_no_items_are_refused_by_name(call: Caller, is_async: bool) -> None:
    """[R021]."""
    answer = call("POST", f"{_BANK}/memories", {"items": [], "async": is_async})

    assert answer.status == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "items"]
    assert call("GET", "/v1/default/banks").json()["banks"] == []


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_control_characters_go_from_every_field(call: Caller, services: FakeRuntime, is_async: bool) -> None:
    """[R004]."""
    item = {
        "content": "a\x00b", "context": "c\x00d", "tags": ["t\x00u"], "entities": [{"text": "E\x00f"}],
        "metadata": {"k\x00l": "v\x00w"}, "document_id": "d\x00e",
    }  # fmt: skip

    answer = _retain(call, item, **{"async": is_async})

    assert answer.status == 200, answer.body
    if is_async:
        _work(services)
    (memory,) = _memories(call)
    assert (memory["text"], memory["context"], memory["tags"]) == ("ab", "cd", ["tu"])
    assert memory["metadata"] == {"kl": "vw"}
    assert memory["document_id"] == "de"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        pytest.param("half \ud83d an emoji", "half  an emoji", id="R005-lone"),
        pytest.param("\U0001f600 whole", "\U0001f600 whole", id="R005-pair"),
        pytest.param("a tab\tbetween", "a tab\tbetween", id="R006-tab"),
        pytest.param("\u05d0\u200f\u202ee\u0301", "\u05d0\u200f\u202ee\u0301", id="R006-marks"),
        pytest.param("\x0b\x0c\x07\x7fgone", "gone", id="R006-removed-controls"),
        pytest.param("before <|endoftext|> after", "before <|endoftext|> after", id="R007-control-token"),
    ],
)
def test_text_is_kept_but_for_what_no_store_can_hold(call: Caller, sent: str, kept: str) -> None:
    assert _kept(call, {"content": sent})["text"] == kept


def test_line_ends_are_kept_in_the_document(call: Caller) -> None:
    """[R006]."""
    _retain(call, {"content": "one\r\ntwo\nthree", "document_id": "d"})

    assert call("GET", f"{_BANK}/documents/d").json()["original_text"] == "one\r\ntwo\nthree"


def test_a_control_token_is_counted_as_text() -> None:
    """[R007]."""
    assert count_tokens("<|endoftext|>") > 0


@pytest.mark.parametrize(
    ("sent", "instant"),
    [
        pytest.param("2024-01-15", "2024-01-15T00:00:00+00:00", id="R011-date"),
        pytest.param("20240115", "2024-01-15T00:00:00+00:00", id="R011-compact"),
        pytest.param("2024-W03-1", "2024-01-15T00:00:00+00:00", id="R011-week"),
        pytest.param("2024-01-15T10:00:00.123456789Z", "2024-01-15T10:00:00.123456+00:00", id="R011-nanoseconds"),
        pytest.param("2024-01-15T10:00:00", "2024-01-15T10:00:00+00:00", id="R012-naive"),
        pytest.param("2024-01-15 10:00", "2024-01-15T10:00:00+00:00", id="R012-space"),
        pytest.param("2024-01-15T10:00:00+05:30", "2024-01-15T04:30:00+00:00", id="R012-offset"),
        pytest.param("2024-02-29T23:59:59-01:00", "2024-03-01T00:59:59+00:00", id="R013-leap-day"),
        pytest.param("2024-03-10T02:30:00-05:00", "2024-03-10T07:30:00+00:00", id="R013-dst-gap"),
    ],
)
def test_a_time_is_the_instant_it_says(call: Caller, sent: str, instant: str) -> None:
    kept = _kept(call, {"timestamp": sent})

    assert datetime.fromisoformat(kept["mentioned_at"]) == datetime.fromisoformat(instant)


@pytest.mark.parametrize("sent", ["unset", "UNSET", " Unset "])
def test_an_unset_time_leaves_the_fact_undated(call: Caller, sent: str) -> None:
    """[R008]."""
    assert _kept(call, {"timestamp": sent})["mentioned_at"] is None


@pytest.mark.parametrize("item", [{}, {"timestamp": None}, {"timestamp": ""}], ids=["absent", "null", "empty"])
def test_without_a_time_the_moment_of_submission_counts_however_late_the_work(
    call: Caller, services: FakeRuntime, item: Item
) -> None:
    """[R008]."""
    answer = _retain(call, item, **{"async": True})
    submitted = call("GET", f"{_BANK}/operations/{answer.json()['operation_id']}").json()["created_at"]
    _work(services)

    (memory,) = _memories(call)
    apart = datetime.fromisoformat(memory["mentioned_at"]) - datetime.fromisoformat(submitted)
    assert abs(apart.total_seconds()) < 0.5


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        pytest.param('["a","b"]', ["a", "b"], id="R014-json"),
        pytest.param("abc", ["abc"], id="R014-text"),
        pytest.param(None, [], id="R014-null"),
        pytest.param([" b ", "a", "b", "", "  ", "a\x00"], ["b", "a"], id="R015-cleaned"),
    ],
)
def test_tags_take_their_forms(call: Caller, sent: object, kept: list[str]) -> None:
    assert _kept(call, {"tags": sent})["tags"] == kept


def test_document_tags_join_the_items_own(call: Caller) -> None:
    """[R015]."""
    answer = _retain(call, {"tags": ["a", "b"]}, document_tags='["b","c"]')

    assert answer.status == 200
    assert _memories(call)[0]["tags"] == ["a", "b", "c"]


def test_a_null_in_metadata_is_dropped(call: Caller) -> None:
    """[R016]: the handed case T34 wins over the reference."""
    assert _kept(call, {"metadata": {"ocr": None, "src": "mail"}})["metadata"] == {"src": "mail"}


def test_a_blank_entity_is_ignored(call: Caller) -> None:
    """[R017]."""
    _kept(call, {"entities": [{"text": "  "}, {"text": "Ana", "type": None}, {"text": "Bo", "type": "PERSON"}]})

    names = {entity["canonical_name"] for entity in call("GET", f"{_BANK}/entities").json()["items"]}
    assert names == {"Ana", "Bo"}


@pytest.mark.parametrize(
    "name", ["a/b/c", "../../etc/passwd", "100%2Fpure", "two words", "\u05e9\u05dc\u05d5\u05dd", "q?x#y", "d" * 512],
    ids=["slash", "dots", "percent", "space", "rtl", "reserved", "longest"],
)  # fmt: skip
def test_a_document_id_comes_back_as_it_was_sent(call: Caller, name: str) -> None:
    """[R020]."""
    assert _retain(call, {"document_id": name}).status == 200
    path = f"{_BANK}/documents/{quote(name, safe='')}"

    found = call("GET", path)

    assert (found.status, found.json()["id"]) == (200, name)
    assert [document["id"] for document in call("GET", f"{_BANK}/documents").json()["items"]] == [name]
    assert call("DELETE", path).status == 200
    assert call("GET", path).status == 404


def test_an_empty_document_id_is_none(call: Caller) -> None:
    """[R020]."""
    assert _retain(call, {"document_id": ""}).json()["items"][0]["document_id"] != ""


def test_fields_nobody_reads_are_reported_wherever_they_stand(call: Caller) -> None:
    """[R022]."""
    answer = _retain(call, {"timestmap": "2024-01-15"}, {}, {"tag": "x"}, asynch=True)

    assert answer.status == 200
    assert answer.headers["x-ignored-params"] == "asynch, items[0].timestmap, items[2].tag"


def test_no_answer_repeats_a_secret_that_stands_where_no_secret_can_be(call: Caller) -> None:
    """In the name of a field, and as the value of one that takes something else."""
    key = "AKIA" + "IOSFODNN7EXAMPLE"

    answers = [
        _retain(call, {key: 1}, **{key: 1}),
        call("GET", f"{_BANK}/documents?{key}=1"),
        _retain(call, {"timestamp": key}),
        _retain(call, {"metadata": {key: 1}}),
        _retain(call, {"document_id": key}, {"document_id": key}, **{"async": True}),
    ]

    assert [answer.status for answer in answers] == [200, 200, 422, 422, 400]
    assert "[redacted:aws_access_key]" in answers[0].headers["x-ignored-params"]
    assert all(key not in f"{answer.body.decode()} {answer.headers}" for answer in answers)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("wrong", ["", "x", "123", 7, "11111111-1111-4111-8111-11111111111g"])
def test_an_operation_id_is_a_uuid(call: Caller, wrong: object, is_async: bool) -> None:
    """[R023]."""
    answer = _retain(call, {}, operation_id=wrong, **{"async": is_async})

    assert answer.status == 422
    assert "operation_id" in answer.body.decode()


@pytest.mark.parametrize(
    "items",
    [({"strategy": "a", "document_id": "a"}, {"document_id": "b"}), ({"strategy": "a"}, {"strategy": "b"})],
    ids=["documents with ids", "documents without"],
)
def test_an_operation_id_does_not_go_with_several_strategies(call: Caller, items: tuple[Item, Item]) -> None:
    """[R023]."""
    mine = "11111111-1111-4111-8111-111111111111"

    answer = _retain(call, *items, operation_id=mine, **{"async": True})

    assert (answer.status, answer.json()["detail"]) == (
        400, "operation_id cannot be used with items of several strategies",
    )  # fmt: skip


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_strategy_that_the_bank_has_not_is_warned_of_each_time_it_is_asked(call: Caller, is_async: bool) -> None:
    call("PUT", _BANK, {})
    call("PATCH", f"{_BANK}/config", {"updates": {"retain_strategies": {"mine": {"retain_mission": "Notes."}}}})
    mine = {"operation_id": "22222222-2222-4222-8222-222222222222", "async": is_async}

    answers = [_retain(call, {"strategy": "x"}, {"strategy": "x"}, **mine).json() for _ in range(2)]
    fine = _retain(call, {"strategy": "mine"}, {}, **{"async": is_async}).json()

    sentence = "items[0].strategy: the bank has no retain strategy 'x'; its own settings hold"
    assert [answer["warnings"] for answer in answers] == [[sentence], [sentence]]
    assert "warnings" not in fine


def test_items_of_several_strategies_are_each_read_under_their_own(call: Caller, services: FakeRuntime) -> None:
    call("PUT", _BANK, {})
    missions = {"a": {"retain_mission": "Only boats."}, "b": {"retain_mission": "Only trains."}}
    call("PATCH", f"{_BANK}/config", {"updates": {"retain_strategies": missions}})

    _retain(call, {"content": "Ann rows.", "strategy": "a"}, {"content": "Bob rides.", "strategy": "b"})

    asked = [str(made) for made in services.model.calls]
    assert ["Only boats" in each for each in asked if "Ann rows" in each] == [True]
    assert ["Only trains" in each for each in asked if "Bob rides" in each] == [True]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_an_append_where_no_text_is_kept_is_refused_at_once(call: Caller, is_async: bool) -> None:
    """[R024]."""
    call("PUT", _BANK, {})
    call("PATCH", f"{_BANK}/config", {"updates": {"store_document_text": False}})

    answer = _retain(call, {"update_mode": "append", "document_id": "d"}, **{"async": is_async})

    assert answer.status == 400
    assert "store_document_text" in answer.json()["detail"]
    assert call("GET", f"{_BANK}/operations").json()["total"] == 0


def test_what_is_too_large_is_told_where_to_go(call: Caller) -> None:
    """[R025]: what the gateway lets through; past it the gateway itself answers 413."""
    answer = _retain(call, {}, {"content": "x" * 5_000_001})

    assert answer.status == 413
    assert answer.json()["detail"].startswith("items[1].content must be at most 5000000 bytes of UTF-8; ")
    assert "several documents" in answer.json()["detail"]


def test_too_many_items_are_refused_by_name(call: Caller) -> None:
    """[R025]."""
    answer = _retain(call, *[{}] * 1_001)

    assert answer.status == 413
    assert answer.json()["detail"].startswith("items: at most 1000")
