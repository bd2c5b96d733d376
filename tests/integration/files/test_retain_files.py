"""Files come in: what is taken, what is refused, and what is written down of it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.integration.files.conftest import BANK, Desk
from tests.support.files import no_upload, send_files

_NOTE = ("note.txt", b"Alice waters the plants.")


def test_a_file_becomes_the_document_its_caller_named(desk: Desk) -> None:
    described = {
        "document_id": "notes/1",
        "context": "a diary",
        "tags": ["user:alice"],
        "metadata": {"source": "shelf"},
        "timestamp": "2026-01-02T10:00:00+02:00",
    }

    [operation_id] = desk.sent(_NOTE, files_metadata=[described])
    desk.deliver_all()

    operation = desk.operation(operation_id)
    assert (operation["status"], operation["operation_type"]) == ("completed", "file_convert_retain")
    retained = desk.operation(operation["result_metadata"]["retain_operation_id"])
    assert retained["status"] == "completed"
    [fact] = desk.rows("SELECT text, context, tags, metadata, event_date FROM memory_units")
    assert fact["text"] == "Alice waters the plants."
    assert (fact["context"], fact["tags"], fact["metadata"]) == ("a diary", ["user:alice"], {"source": "shelf"})
    assert fact["event_date"].isoformat() == "2026-01-02T08:00:00+00:00"
    assert desk.documents() == {"notes/1": "Alice waters the plants."}


def test_the_document_knows_the_file_it_was_read_from_until_it_is_written_anew(desk: Desk) -> None:
    columns = "SELECT file_original_name, file_content_type FROM documents"
    desk.sent(("dir/Grüße.txt", b"Hello."), files_metadata=[{"document_id": "d"}])
    desk.deliver_all()
    [read] = desk.rows(columns)

    item = {"content": "Other words.", "document_id": "d"}
    assert desk.call("POST", f"/v1/default/banks/{BANK}/memories", {"items": [item]}).status == 200
    [written] = desk.rows(columns)

    assert read == {"file_original_name": "Grüße.txt", "file_content_type": "application/octet-stream"}
    assert written == {"file_original_name": None, "file_content_type": None}


def test_several_files_are_answered_in_their_order_each_with_a_document_of_its_own(desk: Desk) -> None:
    operations = desk.sent(("a.txt", b"First."), ("b.txt", b"Second."), ("c.txt", b"Third."))
    desk.deliver_all()

    listed = desk.call("GET", f"/v1/default/banks/{BANK}/operations?type=file_convert_retain").json()["operations"]
    names = [desk.operation(each)["result_metadata"]["filename"] for each in operations]
    assert names == ["a.txt", "b.txt", "c.txt"]
    assert {each["filename"] for each in listed} == {"a.txt", "b.txt", "c.txt"}
    assert sorted(desk.documents().values()) == ["First.", "Second.", "Third."]
    for name in desk.documents():
        assert str(UUID(name.removeprefix("file_"))) in name


def test_two_files_of_one_name_and_id_keep_apart_and_the_later_one_stands(desk: Desk) -> None:
    """Case [R123]."""
    same = {"document_id": "d"}

    desk.sent(("a.txt", b"First."), ("a.txt", b"Second."), files_metadata=[same, same])
    keys = list(desk.files.objects)
    # Whatever the queue's order.
    desk.services.noted.conversions.reverse()
    desk.deliver_all()

    assert len(set(keys)) == 2
    assert desk.documents() == {"d": "Second."}
    assert [row["text"] for row in desk.rows("SELECT text FROM memory_units")] == ["Second."]


@pytest.mark.parametrize(
    ("name", "document_id"),
    [("../../etc/passwd", "a/../b"), ("C:\\x\\y.txt", "%2F ..%2e"), ("\u202ename.txt", "مرحبا"), ("", "a b/c?d#e")],
)
def test_keys_hold_nothing_a_caller_chose_and_ids_come_back_exactly(desk: Desk, name: str, document_id: str) -> None:
    """[R020] The key stays inside the bank's prefix; the document is found under the very id."""
    from urllib.parse import quote

    desk.sent((name or " ", b"Words."), files_metadata=[{"document_id": document_id}])
    [key] = desk.files.objects
    desk.deliver_all()

    [bank] = desk.rows("SELECT bank_id FROM banks")
    prefix, _, last = key.rpartition("/")
    assert prefix == f"tenants/{desk.tenant}/banks/{bank['bank_id']}"
    assert str(UUID(last)) == last
    found = desk.call("GET", f"/v1/default/banks/{BANK}/documents/{quote(document_id, safe='')}")
    assert found.json()["id"] == document_id


def test_metadata_drops_nulls_and_keeps_numbers_as_text(desk: Desk) -> None:
    """[R016] The file half: what the JSON route refuses is read as text here."""
    desk.sent(_NOTE, files_metadata=[{"metadata": {"page": 7, "draft": True, "none": None, "name": "x"}}])
    desk.deliver_all()

    [fact] = desk.rows("SELECT metadata FROM memory_units")
    assert fact["metadata"] == {"page": "7", "draft": "true", "name": "x"}


def test_the_moment_of_sending_is_the_date_of_a_file_without_one(desk: Desk) -> None:
    desk.sent(_NOTE)
    desk.change("UPDATE operations SET created_at = '2026-01-02T03:04:05Z'")
    desk.deliver_all()

    [fact] = desk.rows("SELECT event_date FROM memory_units")
    assert fact["event_date"].isoformat() == "2026-01-02T03:04:05+00:00"


@pytest.mark.parametrize(
    ("request_part", "files", "status", "named"),
    [
        pytest.param("{", [_NOTE], 400, "Invalid request JSON", id="no JSON"),
        pytest.param("[]", [_NOTE], 400, "must be an object", id="no object"),
        pytest.param('{"uploads": ["x"]}', [_NOTE], 400, "uploads", id="an upload that is no id"),
        pytest.param("{}", [], 400, "between 1 and 10", id="no file"),
        pytest.param("{}", [_NOTE] * 11, 400, "between 1 and 10", id="eleven files"),
        pytest.param('{"files_metadata": [{}, {}]}', [_NOTE], 400, "files_metadata", id="more entries than files"),
        pytest.param('{"document_id": "d"}', [_NOTE], 400, "document_id", id="a file's field at the root"),
        pytest.param('{"tags": ["a"], "context": "c"}', [_NOTE], 400, "context, tags", id="two of them"),
        pytest.param('{"update_mode": "append"}', [_NOTE], 400, "update_mode", id="update mode"),
        pytest.param('{"files_metadata": [{"update_mode": "append"}]}', [_NOTE], 400, "update_mode", id="of a file"),
        pytest.param('{"parser": "iris"}', [_NOTE], 400, "iris", id="unknown parser"),
        pytest.param('{"files_metadata": [{"parser": ["x"]}]}', [_NOTE], 400, "[0].parser", id="a file's parser"),
        pytest.param('{"files_metadata": [{"timestamp": "soon"}]}', [_NOTE], 400, "timestamp", id="no time"),
        pytest.param(
            f'{{"files_metadata": [{{"document_id": "{"x" * 600}"}}]}}',
            [_NOTE],
            422,
            "files_metadata[0].document_id",
            id="an id too long",
        ),
        pytest.param(
            '{"files_metadata": [{"metadata": {"a": [1]}}]}', [_NOTE], 400, "metadata", id="metadata that is a list"
        ),
    ],
)
def test_a_wrong_request_is_refused_by_name_and_stores_nothing(
    desk: Desk, request_part: str, files: list[tuple[str, bytes]], status: int, named: str
) -> None:
    answer = send_files(desk.call, BANK, files, request_part)

    assert answer.status == status
    assert named in str(answer.json()["detail"])
    assert desk.files.objects == {}
    assert desk.rows("SELECT 1 FROM operations") == []


def test_the_known_parser_may_be_named(desk: Desk) -> None:
    assert desk.send(_NOTE, parser="markitdown", files_metadata=[{"parser": ["markitdown"]}]).status == 200


def test_a_request_part_is_needed(desk: Desk) -> None:
    boundary = b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n--b--\r\n'
    headers = {"content-type": "multipart/form-data; boundary=b"}

    answer = desk.call("POST", f"/v1/default/banks/{BANK}/files/retain", raw=boundary, headers=headers)

    assert answer.status == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "request"]


def test_an_unknown_bank_is_not_made(desk: Desk) -> None:
    answer = send_files(desk.call, "other", [_NOTE])

    assert (answer.status, answer.json()) == (404, {"detail": "Bank 'other' not found"})
    assert len(desk.rows("SELECT 1 FROM banks")) == 1


@pytest.mark.parametrize(
    "settings", [{"hindsight_api_enable_file_upload_api": False}, {"hindsight_bucket": ""}], ids=["off", "no bucket"]
)
def test_where_files_are_not_taken_both_routes_answer_404(desk: Desk, settings: dict[str, Any]) -> None:
    closed = desk.reconfigured(**settings)
    wanted = {"filename": "a.txt", "size": 1}

    answers = [
        closed.send(_NOTE),
        closed.call("POST", f"/v1/default/banks/{BANK}/files/uploads", wanted),
    ]

    assert [answer.status for answer in answers] == [404, 404]


@pytest.mark.parametrize("is_on", [True, False])
def test_the_version_says_whether_files_are_taken(desk: Desk, is_on: bool) -> None:
    told = desk.reconfigured(hindsight_api_enable_file_upload_api=is_on).call("GET", "/version").json()

    assert told["features"]["file_upload_api"] is is_on


def test_more_than_a_request_may_carry_is_refused(desk: Desk) -> None:
    small = desk.reconfigured(hindsight_api_file_conversion_max_batch_size_mb=1)

    answer = small.send(("a.txt", bytes(700_000)), ("b.txt", bytes(700_000)))

    assert (answer.status, answer.json()["detail"]) == (400, "files: at most 1 MB in one request")


def test_a_store_that_is_down_is_told_and_nothing_is_promised(desk: Desk) -> None:
    desk.files.is_down = True

    answer = desk.send(_NOTE)

    assert answer.status == 503
    assert answer.headers["retry-after"]
    assert desk.rows("SELECT 1 FROM operations") == []


def test_an_upload_is_announced_brought_and_retained_by_its_id(desk: Desk) -> None:
    """[R025] What no request could carry comes by an address of its own."""
    wanted = {"filename": "dir/big.txt", "size": 9_000_000, "content_type": "text/plain; charset=utf-8"}
    announced = desk.call("POST", f"/v1/default/banks/{BANK}/files/uploads", wanted).json()
    desk.files.objects[announced["url"].removeprefix("https://bucket.example/")] = b"Big words. " + b" " * 8_999_989

    [operation_id] = desk.sent(uploads=[announced["upload_id"]], files_metadata=[{"tags": ["t"]}])
    desk.deliver_all()

    assert announced["method"] == "PUT"
    assert announced["headers"] == {"content-type": "text/plain; charset=utf-8", "content-length": "9000000"}
    assert desk.operation(operation_id)["status"] == "completed"
    assert desk.operation(operation_id)["result_metadata"]["filename"] == "big.txt"
    assert list(desk.documents()) == [f"file_{announced['upload_id']}"]
    assert desk.files.objects == {}


def test_files_and_uploads_in_one_request_are_answered_in_that_order(desk: Desk) -> None:
    upload_id = desk.uploaded("b.txt", b"Second.")

    operations = desk.sent(("a.txt", b"First."), uploads=[upload_id], files_metadata=[{}, {"document_id": "second"}])
    desk.deliver_all()

    names = [desk.operation(each)["result_metadata"]["filename"] for each in operations]
    assert names == ["a.txt", "b.txt"]
    assert desk.documents()["second"] == "Second."


def test_an_upload_named_again_is_answered_with_its_operation_and_retained_once(desk: Desk) -> None:
    upload_id = desk.uploaded("a.txt", b"Words.")

    before = desk.sent(uploads=[upload_id])
    early = desk.sent(uploads=[upload_id])
    desk.deliver_all()
    late = desk.sent(uploads=[upload_id])
    desk.deliver_all()

    assert before == early == late
    assert len(desk.rows("SELECT 1 FROM operations WHERE kind = 'file_convert_retain'")) == 1
    assert len(desk.rows("SELECT 1 FROM memory_units")) == 1


def test_an_upload_that_never_came_or_has_another_size_is_refused_before_any_work(desk: Desk) -> None:
    never = desk.uploaded("a.txt", b"Words.")
    desk.files.objects.clear()
    short = desk.uploaded("b.txt", b"Words.")
    desk.files.objects = dict.fromkeys(desk.files.objects, b"Word")

    answers = [desk.send(uploads=[never]), desk.send(uploads=[short])]

    assert [answer.status for answer in answers] == [409, 409]
    assert "has not been uploaded" in answers[0].json()["detail"]
    assert "4 bytes of 'b.txt' are there, and 6 were announced" in answers[1].json()["detail"]
    assert desk.rows("SELECT 1 FROM operations") == []


def test_an_unknown_upload_and_one_of_another_bank_are_not_found_alike(desk: Desk) -> None:
    desk.call("PUT", "/v1/default/banks/other", {})
    upload_id, unknown = desk.uploaded("a.txt", b"Words."), no_upload()

    answers = [send_files(desk.call, "other", (), {"uploads": [each]}) for each in (upload_id, unknown)]

    for answer, wanted in zip(answers, (upload_id, unknown), strict=True):
        assert (answer.status, answer.json()) == (404, {"detail": f"Upload '{wanted}' not found"})


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"size": 5}, 422),
        ({"filename": "a", "size": 0}, 422),
        ({"filename": "a", "size": "many"}, 422),
        ({"filename": "a", "size": 5, "content_type": "text\r\nx: y"}, 422),
        ({"filename": "a", "size": 200 * 1024 * 1024}, 413),
    ],
)
def test_a_wrong_announcement_is_refused(desk: Desk, wanted: dict[str, object], status: int) -> None:
    assert desk.call("POST", f"/v1/default/banks/{BANK}/files/uploads", wanted).status == status
    assert desk.rows("SELECT 1 FROM uploads") == []


def test_uploads_whose_bytes_have_expired_are_forgotten(desk: Desk) -> None:
    desk.uploaded("old.txt", b"Words.")
    desk.change("UPDATE uploads SET created_at = now() - interval '9 days'")

    desk.uploaded("new.txt", b"Words.")

    assert [row["filename"] for row in desk.rows("SELECT filename FROM uploads")] == ["new.txt"]


def test_a_file_of_megabytes_comes_through_the_form_whole(desk: Desk) -> None:
    body = b"".join(b"line %06d\n" % number for number in range(200_000))

    desk.sent(("big.txt", body), files_metadata=[{"document_id": "d"}])

    assert list(desk.files.objects.values()) == [body]
