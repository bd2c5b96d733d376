"""A conversion ends in one retain, or in a failure that names the file, whatever comes in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hindsight_aws.converters import SubprocessConverter
from hindsight_aws.errors import FileUnreadable, WorkDeferred
from hindsight_aws.files import points
from hindsight_aws.jobs.ingest import ingest
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.ids import OperationId
from hindsight_aws.store.postgres import PostgresStore
from tests.integration.files.conftest import BANK, Desk
from tests.support import documents
from tests.support.sweeping import sweep_once

_NOTE = ("note.txt", b"Alice waters the plants.")


class Killed(BaseException):
    """What the end of a process looks like from within."""


@pytest.fixture
def strike(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Ends whoever reaches the point, once."""

    def at(point: str) -> None:
        def reached(name: str) -> None:
            if name == point:
                monkeypatch.undo()
                raise Killed

        monkeypatch.setattr("hindsight_aws.files.convert.reached", reached)

    return at


def test_a_message_delivered_twice_leaves_one_retain(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)

    outcomes = [desk.deliver(operation_id), desk.deliver(operation_id)]
    desk.deliver_all()

    assert outcomes == [Outcome.DONE, Outcome.DONE]
    assert len(desk.converter.seen) == 1
    assert [row["kind"] for row in desk.rows("SELECT kind FROM operations ORDER BY kind")] == [
        "batch_retain",
        "file_convert_retain",
        "retain",
    ]
    assert desk.rows("SELECT text FROM memory_units") == [{"text": "Alice waters the plants."}]


@pytest.mark.parametrize("point", [points.AFTER_LEASE, points.AFTER_CONVERT, points.BEFORE_COMMIT, points.AFTER_COMMIT])
def test_a_worker_killed_anywhere_leaves_one_retain_after_redelivery(
    desk: Desk, strike: Callable[[str], None], point: str
) -> None:
    [operation_id] = desk.sent(_NOTE)
    strike(point)
    with pytest.raises(Killed):
        desk.deliver(operation_id)

    desk.change("UPDATE operations SET lease_until = '-infinity'")
    desk.change("UPDATE documents SET lease_until = '-infinity'")
    sweep_once(desk.services.store, desk.services.noted, desk.services.settings)
    desk.deliver_all()

    assert desk.operation(operation_id)["status"] == "completed"
    assert desk.rows("SELECT count(*) FROM operations WHERE kind = 'retain'") == [{"count": 1}]
    assert desk.rows("SELECT text FROM memory_units") == [{"text": "Alice waters the plants."}]


def test_of_two_workers_one_commits(desk: Desk, store: PostgresStore) -> None:
    [operation_id] = desk.sent(_NOTE)

    class Slow:
        """Lets a second worker take over while it converts."""

        def convert(self, file: Any, seconds: float) -> str:
            desk.change("UPDATE operations SET lease_until = '-infinity'")
            desk.change("UPDATE documents SET lease_until = '-infinity'")
            desk.deliver(operation_id)
            return "Other words."

    desk.deliver(operation_id, replace(desk.ports, converter=Slow()))
    desk.deliver_all()

    assert desk.rows("SELECT text FROM memory_units") == [{"text": "Alice waters the plants."}]


def test_a_held_operation_is_left_to_its_holder(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.change("UPDATE operations SET status = 'processing', lease_until = now() + interval '1 minute'")

    outcome = desk.deliver(operation_id)

    assert outcome is Outcome.DONE
    assert desk.converter.seen == []


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        pytest.param("plan.txt", b"", "is empty", id="empty"),
        pytest.param("plan.txt", b" \n\t ", "holds no text", id="blank"),
        pytest.param("plan.txt", "\u200b\ufeff".encode(), "holds no text", id="invisible"),
        pytest.param("scan.pdf", documents.pdf("", ""), "holds no text", id="a scan"),
        pytest.param("plan.pdf", documents.pdf("x", password="secret"), "protected by a password", id="protected"),
        pytest.param("plan.docx", documents.protected_office_file(), "protected by a password", id="protected Office"),
        pytest.param("plan.xlsx", b"PK\x03\x04 cut", "damaged", id="damaged"),
    ],
)
def test_a_file_without_readable_text_fails_its_operation_by_name(
    desk: Desk, name: str, body: bytes, reason: str
) -> None:
    """[R122] The operation names the file and why; there is no document, and the bytes stay until they expire."""
    [operation_id] = desk.sent((name, body))

    outcome = desk.deliver(operation_id, replace(desk.ports, converter=SubprocessConverter(1_024)))

    operation = desk.operation(operation_id)
    assert outcome is Outcome.GIVEN_UP
    assert operation["status"] == "failed"
    assert name in operation["error_message"]
    assert reason in operation["error_message"]
    assert desk.rows("SELECT 1 FROM documents") == []
    assert len(desk.files.objects) == 1


def test_a_file_that_fails_stops_no_other(desk: Desk) -> None:
    bad, good = desk.sent(("bad.txt", b""), ("good.txt", b"Words."))

    desk.deliver_all()

    assert desk.operation(bad)["status"] == "failed"
    assert desk.operation(good)["status"] == "completed"


def test_of_files_for_one_document_the_later_goes_on_when_the_earlier_fails(desk: Desk) -> None:
    same = {"document_id": "d"}
    desk.sent(("bad.txt", b""), ("good.txt", b"Words."), files_metadata=[same, same])

    # The later one's message comes first, finds the earlier one waiting, and is woken by its end.
    desk.services.noted.conversions.reverse()
    desk.deliver_all()

    assert desk.documents() == {"d": "Words."}


def test_every_kind_of_file_is_converted_and_retained(desk: Desk) -> None:
    desk.sent(
        ("a.pdf", documents.pdf("The fern is green.")),
        ("b.docx", documents.word("The moss is wet.")),
        ("c.xlsx", documents.sheets({"Plants": [["Name"], ["Ivy"]]})),
    )
    ports = replace(desk.ports, converter=SubprocessConverter(1_024))

    for _, operation_id, _ in list(desk.services.noted.conversions):
        desk.deliver(str(operation_id), ports)
    desk.deliver_all()

    texts = "\n".join(desk.documents().values())
    assert "The fern is green." in texts
    assert "The moss is wet." in texts
    assert "| Ivy |" in texts


def test_controls_in_a_file_are_taken_out(desk: Desk) -> None:
    desk.sent(("a.txt", b"Alice\x00 waters\x07 it."), files_metadata=[{"document_id": "d"}])

    desk.deliver_all()

    assert desk.documents() == {"d": "Alice waters it."}


@pytest.mark.parametrize("is_deleted", [True, False])
def test_bytes_are_deleted_once_their_text_is_retained_unless_they_are_to_stay(desk: Desk, is_deleted: bool) -> None:
    desk.services.settings = desk.services.settings.model_copy(
        update={"hindsight_api_file_delete_after_retain": is_deleted}
    )
    desk.sent(_NOTE)

    desk.deliver_all()

    assert len(desk.files.objects) == (0 if is_deleted else 1)
    assert len(desk.documents()) == 1


def test_bytes_that_cannot_be_deleted_cost_nothing_else(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    [operation_id] = desk.sent(_NOTE)

    def down(key: str) -> None:
        from hindsight_aws.errors import FilesUnavailable

        raise FilesUnavailable("the file could not be deleted")

    monkeypatch.setattr(desk.files, "delete", down)
    desk.deliver_all()

    assert desk.operation(operation_id)["status"] == "completed"


def test_a_store_that_is_down_puts_the_work_off_and_is_asked_again(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.files.is_down = True

    outcome = desk.deliver(operation_id)
    waiting = desk.services.noted.conversions[-1]
    desk.files.is_down = False
    desk.change("UPDATE operations SET due_at = now()")
    desk.deliver(operation_id)

    assert outcome is Outcome.DONE
    assert waiting[2] == 5
    assert desk.operation(operation_id)["status"] == "completed"


def test_a_store_that_stays_down_ends_the_operation_after_its_attempts(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.files.is_down = True

    for _ in range(desk.services.settings.hindsight_api_retain_max_attempts):
        desk.change("UPDATE operations SET due_at = now()")
        desk.deliver(operation_id)

    assert desk.operation(operation_id)["status"] == "failed"
    assert "could not be reached" in desk.operation(operation_id)["error_message"]


def test_attempts_that_never_end_come_to_an_end(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.change("UPDATE operations SET attempts = 5")

    desk.deliver(operation_id)

    assert "given up after 5 attempts" in desk.operation(operation_id)["error_message"]
    assert desk.converter.seen == []


def test_too_little_time_left_puts_the_work_off_without_counting(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.converter.raises = WorkDeferred("too little time is left")

    desk.deliver(operation_id)

    assert desk.rows("SELECT status, attempts FROM operations") == [{"status": "pending", "attempts": 0}]
    assert desk.services.noted.conversions[-1][2] == 0


def test_bytes_that_have_expired_fail_the_operation_by_name(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.files.objects.clear()

    desk.deliver(operation_id)

    assert "'note.txt' is not stored any more" in desk.operation(operation_id)["error_message"]


def test_a_cancelled_conversion_retains_nothing(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)

    class Cancelling:
        """Somebody cancels while the file is read."""

        def convert(self, file: Any, seconds: float) -> str:
            desk.change("UPDATE operations SET status = 'cancelled'")
            return "Words."

    desk.deliver(operation_id, replace(desk.ports, converter=Cancelling()))
    desk.deliver_all()

    assert desk.operation(operation_id)["status"] == "cancelled"
    assert desk.documents() == {}


def test_a_bank_deleted_meanwhile_gets_nothing_back(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)

    class Deleting:
        """Somebody deletes the bank while the file is read."""

        def convert(self, file: Any, seconds: float) -> str:
            desk.change("DELETE FROM banks")
            return "Words."

    outcome = desk.deliver(operation_id, replace(desk.ports, converter=Deleting()))

    assert outcome is Outcome.DONE
    assert desk.rows("SELECT 1 FROM operations") == []
    assert desk.rows("SELECT 1 FROM documents") == []


def test_a_conversion_that_the_ingest_worker_is_woken_for_is_passed_on(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.services.noted.conversions.clear()

    ingest(desk.services.retain_ports, desk.message(OperationId(operation_id)), 60.0)  # type: ignore[arg-type]  # text serves

    assert [str(woken) for _, woken, _ in desk.services.noted.conversions] == [operation_id]
    assert desk.operation(operation_id)["status"] == "pending"


def test_a_conversion_whose_message_was_lost_is_found_by_the_sweep(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.services.noted.conversions.clear()

    sweep_once(desk.services.store, desk.services.noted, desk.services.settings)

    assert [str(woken) for _, woken, _ in desk.services.noted.conversions] == [operation_id]


def test_work_that_cannot_be_read_fails_instead_of_coming_back_for_ever(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.change("UPDATE operations SET payload = '{}'")

    desk.deliver(operation_id)

    assert "cannot be read" in desk.operation(operation_id)["error_message"]


def test_who_waits_behind_work_that_cannot_be_read_is_woken(desk: Desk) -> None:
    [first] = desk.sent(_NOTE, files_metadata=[{"document_id": "d"}])
    [second] = desk.sent(_NOTE, files_metadata=[{"document_id": "d"}])
    desk.change(f"UPDATE operations SET payload = '{{}}' WHERE operation_id = '{first}'")
    desk.services.noted.operations.clear()

    desk.deliver(first)

    assert [str(woken) for _, woken, _ in desk.services.noted.operations] == [second]


def test_no_message_and_no_row_of_an_operation_holds_the_bytes_or_the_text(desk: Desk) -> None:
    [operation_id] = desk.sent(("a.txt", b"Unmistakable words."))

    [row] = desk.rows("SELECT payload::text || result::text AS held FROM operations")
    desk.deliver(operation_id)
    desk.deliver_all()

    assert "Unmistakable" not in row["held"]
    assert all("Unmistakable" not in row["held"] for row in desk.rows("SELECT payload::text AS held FROM operations"))


def test_a_reader_that_names_the_file_is_quoted(desk: Desk) -> None:
    [operation_id] = desk.sent(_NOTE)
    desk.converter.raises = FileUnreadable("note.txt", "takes longer than 120 s to read")

    desk.deliver(operation_id)

    operation = desk.operation(operation_id)
    assert operation["error_message"] == "The file 'note.txt' takes longer than 120 s to read"
    assert desk.call("GET", f"/v1/default/banks/{BANK}/operations?status=failed").json()["total"] == 1
