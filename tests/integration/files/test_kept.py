"""Files that are kept stay as long as their document, and go with it; no bytes are without a row."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.erasure import erase_tags
from hindsight_aws.erasure.carry import carry_on
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.files import points
from hindsight_aws.jobs.kept_files import tend_kept_files
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.jobs.sweep import due_by
from hindsight_aws.model.erasure import ErasureId, NewErasure
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.store import DueKind
from tests.integration.files.conftest import BANK, Desk
from tests.support.erasing import erasure_ports
from tests.support.sweeping import sweep_once

_NOTE = ("note.txt", b"Alice waters the plants.")
_NAMED: dict[str, Any] = {"files_metadata": [{"document_id": "d", "tags": ["user:a"]}]}


@pytest.fixture
def keeper(desk: Desk) -> Desk:
    """A desk that keeps the files it retains."""
    return desk.reconfigured(hindsight_api_llm_provider="none", hindsight_api_file_delete_after_retain=False)


def _sent(desk: Desk, *file: Any) -> str:
    [operation_id] = desk.sent(file or _NOTE, **_NAMED)
    desk.deliver_all()
    return operation_id


def _swept(desk: Desk) -> None:
    ports = erasure_ports(desk.services.store, desk.files)
    sweep_once(desk.services.store, desk.services.noted, desk.services.settings, erasures=ports)


def _bodies(desk: Desk) -> list[bytes]:
    """What is kept, once rows and objects agree."""
    rows = desk.rows("SELECT object_key FROM kept_files ORDER BY 1")
    assert [row["object_key"] for row in rows] == sorted(desk.files.objects)
    assert all(key.startswith("kept/") for key in desk.files.objects)
    return sorted(desk.files.objects.values())


def test_a_kept_file_lies_where_nothing_expires_and_is_its_documents(keeper: Desk) -> None:
    operation_id = _sent(keeper)

    _swept(keeper)

    assert _bodies(keeper) == [_NOTE[1]]
    [held] = keeper.rows("SELECT d.external_id FROM kept_files k JOIN documents d USING (tenant_id, document_id)")
    assert held == {"external_id": "d"}
    assert keeper.operation(operation_id)["result_metadata"]["kept_file"] in keeper.files.objects


def test_a_file_that_is_sent_again_is_kept_though_its_text_is_there_already(keeper: Desk) -> None:
    _sent(keeper)
    operation_id = _sent(keeper)
    keeper.change("UPDATE kept_files SET created_at = created_at - interval '2 days'")

    _swept(keeper)

    assert _bodies(keeper) == [_NOTE[1]]
    assert keeper.operation(operation_id)["result_metadata"]["kept_file"] in keeper.files.objects


@pytest.mark.parametrize("end", ["deleted", "given-another-file", "given-a-text"])
def test_it_goes_with_what_it_was_kept_for(keeper: Desk, end: str) -> None:
    _sent(keeper)
    if end == "deleted":
        keeper.call("DELETE", f"/v1/default/banks/{BANK}/documents/d")
    elif end == "given-another-file":
        _sent(keeper, "later.txt", b"Bob waters them.")
    else:
        item = {"content": "Nobody waters them.", "document_id": "d"}
        keeper.call("POST", f"/v1/default/banks/{BANK}/memories", {"items": [item]})

    _swept(keeper)

    assert _bodies(keeper) == ([b"Bob waters them."] if end == "given-another-file" else [])


def test_bytes_that_cannot_be_deleted_now_are_deleted_by_the_next_sweep(keeper: Desk) -> None:
    _sent(keeper)
    keeper.call("DELETE", f"/v1/default/banks/{BANK}/documents/d")
    keeper.files.is_down = True
    _swept(keeper)
    keeper.files.is_down = False

    left = len(keeper.files.objects)
    _swept(keeper)

    assert left == 1
    assert _bodies(keeper) == []


def test_a_sweep_that_has_no_time_left_leaves_files_to_the_next(keeper: Desk) -> None:
    _sent(keeper)
    keeper.call("DELETE", f"/v1/default/banks/{BANK}/documents/d")
    store = keeper.services.store
    due = store.due_work(10, due_by(keeper.services.settings))
    unheld = [work for work in due if work.kind == DueKind.KEPT_FILES]

    tend_kept_files(store, keeper.files, unheld, 0.0)

    assert len(unheld) == 1
    assert _bodies(keeper) == [_NOTE[1]]


def test_what_a_killed_worker_stored_goes_after_a_day_and_what_its_successor_stored_stays(
    keeper: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def strike(name: str) -> None:
        if name == points.AFTER_KEEP:
            raise Killed

    [operation_id] = keeper.sent(_NOTE, **_NAMED)
    monkeypatch.setattr("hindsight_aws.files.convert.reached", strike)
    with pytest.raises(Killed):
        keeper.deliver(operation_id)
    monkeypatch.undo()
    keeper.change("UPDATE operations SET lease_until = '-infinity'")
    keeper.change("UPDATE documents SET lease_until = '-infinity'")
    keeper.change("UPDATE kept_files SET created_at = created_at - interval '2 days'")
    _swept(keeper)
    in_work = keeper.rows("SELECT count(*) FROM kept_files")
    keeper.deliver_all()

    _swept(keeper)

    assert in_work == [{"count": 1}]
    assert _bodies(keeper) == [_NOTE[1]]


def test_a_file_whose_text_is_refused_goes_after_a_day_and_can_be_tried_again_until_then(
    keeper: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InvalidRequest("not in this bank")

    [operation_id] = keeper.sent(_NOTE, **_NAMED)
    monkeypatch.setattr("hindsight_aws.files.convert.submit_within", refuse)

    outcome = keeper.deliver(operation_id)
    _swept(keeper)
    soon = keeper.rows("SELECT count(*) FROM kept_files")
    keeper.change("UPDATE kept_files SET created_at = created_at - interval '2 days'")
    _swept(keeper)

    assert outcome is Outcome.GIVEN_UP
    assert soon == [{"count": 1}]
    assert keeper.rows("SELECT count(*) FROM kept_files") == [{"count": 0}]


@pytest.mark.parametrize("what", ["bank", "tags"])
def test_an_erasure_deletes_and_counts_it(keeper: Desk, what: str) -> None:
    _sent(keeper)
    if what == "bank":
        keeper.call("DELETE", f"/v1/default/banks/{BANK}")
    else:
        answer = keeper.call("POST", f"/v1/default/banks/{BANK}/erasures", {"tags": ["user:a"]})
        assert answer.status < 300, answer.body
    [erasure] = keeper.rows("SELECT erasure_id, objects, erased FROM erasures")
    keeper.change("UPDATE erasures SET due_at = now(), lease_until = '-infinity'")

    carry_on(erasure_ports(keeper.services.store, keeper.files), keeper.tenant, ErasureId(erasure["erasure_id"]), 5.0)

    assert _bodies(keeper) == []
    [after] = keeper.rows("SELECT objects, erased -> 'kept_files' AS rows FROM erasures")
    assert after == {"objects": 1, "rows": 1}


@pytest.mark.parametrize("what", ["bank", "tags"])
def test_nothing_is_kept_of_what_is_erased_while_it_is_converted(
    keeper: Desk, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    ports, principal = erasure_ports(keeper.services.store, keeper.files), Principal(keeper.tenant, "tester")

    def strike(name: str) -> None:
        if name == points.AFTER_CONVERT and what == "bank":
            # A large bank's rows are there for a while after nobody finds it any more.
            with ports.store.transaction(keeper.tenant) as tx:
                tx.erasures.begin_bank(NewErasure(ErasureId(uuid4()), bank_id, BANK, "bank", "tester"), -1)
        elif name == points.AFTER_CONVERT:
            erase_tags(ports, principal, BANK, ["user:a"], "any")

    [operation_id] = keeper.sent(_NOTE, **_NAMED)
    bank_id = keeper.rows("SELECT bank_id FROM operations")[0]["bank_id"]
    monkeypatch.setattr("hindsight_aws.files.convert.reached", strike)

    outcome = keeper.deliver(operation_id)

    assert outcome is Outcome.DONE
    assert [key for key in keeper.files.objects if key.startswith("kept/")] == []
    assert keeper.rows("SELECT file_id FROM kept_files") == []
