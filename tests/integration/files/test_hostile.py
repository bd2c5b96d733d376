"""Hostile files and forms get an answer below 500 and leave no other bank's rows or keys touched."""

from __future__ import annotations

import json

import pytest

from tests.integration.files.conftest import BANK, Desk
from tests.security.test_hostile_input import TEXTS
from tests.support.files import send_files

_PATH = f"/v1/default/banks/{BANK}/files/retain"
_FIELDS = ("document_id", "context", "strategy", "timestamp", "tags", "metadata", "parser")
_FORM = {"content-type": "multipart/form-data; boundary=b"}


def part(name: str, body: bytes, extra: bytes = b"") -> bytes:
    """One part of a form."""
    return (
        b'--b\r\nContent-Disposition: form-data; name="' + name.encode() + b'"' + extra + b"\r\n\r\n" + body + b"\r\n"
    )


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_text_in_a_files_fields_is_answered_below_500(desk: Desk, text: str) -> None:
    hostile = TEXTS[text]
    fields: dict[str, object] = dict.fromkeys(_FIELDS, hostile)
    fields |= {"tags": [hostile], "metadata": {hostile: hostile}}

    answers = [desk.send(("a.txt", b"Words."), files_metadata=[{name: value}]) for name, value in fields.items()]
    desk.deliver_all()

    assert [answer.status for answer in answers if answer.status >= 500] == []
    rows = desk.rows("SELECT status FROM operations WHERE kind = 'file_convert_retain'")
    assert {row["status"] for row in rows} <= {"completed", "failed"}


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_text_in_a_file_and_in_its_name_is_answered_below_500(desk: Desk, text: str) -> None:
    hostile = TEXTS[text].encode("utf-8", "replace")
    name = b'; filename="' + hostile.replace(b"\r", b"").replace(b"\n", b"").replace(b'"', b"") + b'"'
    form = part("request", b"{}") + part("files", hostile, name) + b"--b--\r\n"

    answer = desk.call("POST", _PATH, raw=form, headers=_FORM)
    desk.deliver_all()

    assert answer.status < 500, answer.body
    assert all(key.startswith(f"tenants/{desk.tenant}/banks/") and ".." not in key for key in desk.files.objects)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"--b", id="a boundary"),
        pytest.param(part("request", b"{}"), id="no end"),
        pytest.param(b"--b\r\n\r\n\r\n--b--\r\n", id="a part without a name"),
        pytest.param(part("request", b"{}") * 2_000 + b"--b--\r\n", id="two thousand parts"),
        pytest.param(part("request", b"[" * 100_000) + b"--b--\r\n", id="nested without end"),
        pytest.param(part("request", b"\xff\xfe") + b"--b--\r\n", id="no UTF-8"),
        pytest.param(part("request", b"1" * 2_000_000) + b"--b--\r\n", id="a long number"),
        pytest.param(part("request", b"{}") + part("files", b"no file") + b"--b--\r\n", id="a file that is none"),
        pytest.param(part("request", b"{}", b'; filename="x"') + b"--b--\r\n", id="a request that is a file"),
    ],
)
def test_a_broken_form_is_the_callers_fault(desk: Desk, body: bytes) -> None:
    answer = desk.call("POST", _PATH, raw=body, headers=_FORM)

    assert 400 <= answer.status < 500, answer.body
    assert "detail" in answer.json()
    assert desk.rows("SELECT 1 FROM operations") == []


@pytest.mark.parametrize(
    "content_type", ["application/json", "multipart/form-data", "text/plain", "application/x-www-form-urlencoded"]
)
def test_a_body_that_is_no_form_is_refused(desk: Desk, content_type: str) -> None:
    answer = desk.call("POST", _PATH, raw=b'{"request": "{}"}', headers={"content-type": content_type})

    assert 400 <= answer.status < 500


def test_a_hundred_uploads_in_one_request_are_too_many(desk: Desk) -> None:
    request = {"uploads": [f"00000000-0000-4000-8000-{number:012}" for number in range(100)]}

    assert send_files(desk.call, BANK, (), json.dumps(request)).status == 400
