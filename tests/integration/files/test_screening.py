"""Files pass the bank's screening twice: their options when they come in, their text when it is known."""

from __future__ import annotations

import psycopg

from tests.integration.files.conftest import Desk
from tests.support.files import send_files

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
SSN = "123-45-6789"
BANK = "/v1/default/banks/shelf"


def everything_stored(desk: Desk) -> str:
    with psycopg.connect(desk.database.admin_url) as admin:
        tables = admin.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'hindsight'::regnamespace AND relkind = 'r'"
        ).fetchall()
        rows = [admin.execute(f"SELECT t::text FROM hindsight.{name} AS t".encode()).fetchall() for (name,) in tables]
    return str(rows)


def test_a_secret_of_a_file_is_in_no_row_before_and_after_it_is_text(desk: Desk) -> None:
    options = [{"context": f"mail with {KEY}", "metadata": {"note": KEY}}]

    desk.sent((f"key {KEY}.txt", f"The key is {KEY}.".encode()), files_metadata=options)
    waiting = everything_stored(desk)
    desk.deliver_all()
    done = everything_stored(desk)

    assert KEY not in waiting
    assert KEY not in done
    assert "The key is [redacted:aws_access_key]." in done
    assert KEY not in str(desk.model.calls)


def test_a_file_whose_text_is_blocked_fails_and_says_why_without_a_word_of_it(desk: Desk) -> None:
    desk.call(
        "PATCH", f"{BANK}/config", {"updates": {"memory_defense": {"rules": [{"on": "us_ssn", "action": "block"}]}}}
    )

    (operation_id,) = desk.sent(("form.txt", f"SSN {SSN}".encode()))
    desk.deliver_all()

    shown = desk.operation(operation_id)
    assert shown["status"] == "failed"
    assert "us_ssn" in shown["error_message"]
    assert SSN not in everything_stored(desk)


def test_options_that_are_blocked_are_refused_at_once_and_name_the_file(desk: Desk) -> None:
    sent = desk.send(("a.txt", b"fine"), ("b.txt", b"fine"), files_metadata=[{}, {"tags": [f"t:{KEY}"]}])

    assert sent.status == 422
    assert sent.json()["detail"]["violations"] == [
        {"item": 1, "field": "tags[0]", "detector": "aws_access_key", "count": 1}
    ]


def test_the_name_of_an_announced_file_is_screened_too(desk: Desk) -> None:
    upload = desk.uploaded(f"key {KEY}.txt", b"fine")

    desk.send(uploads=[upload])

    assert KEY not in everything_stored(desk)


def test_the_content_type_of_a_file_is_screened_too(desk: Desk) -> None:
    token = "ghp_" + "zx81kpq0lm3nd7rt5vw2yb9cc4ee6ff0gh1j"

    announced = desk.call(
        "POST", f"{BANK}/files/uploads", {"filename": "a.txt", "size": 4, "content_type": f"text/{token}"}
    )
    send_files(desk.call, "shelf", [("a.txt", b"fine")], content_type=f"text/{token}")
    desk.deliver_all()

    assert announced.status == 422
    assert token not in announced.body.decode()
    assert token not in everything_stored(desk)
