"""Workers die, time runs out, names are taken, people change their minds: the old state or the new one."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from uuid import UUID

import pytest

from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.model.ids import OperationId
from hindsight_aws.operations.attempt import Attempt
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.transfer import export, merge, points, restore, run
from tests.integration.transfer.conftest import Ferry, members
from tests.integration.transfer.test_round_trip import in_no_order
from tests.support.contention import until_blocked
from tests.support.deaths import Killed, Strike, striking
from tests.support.models import HashEmbedder
from tests.support.seed import Seeded

_MODELS = """
SELECT DISTINCT b.embedding_model AS of_bank, u.embedding_model AS model
FROM (SELECT tenant_id, bank_id, embedding_model FROM hindsight.memory_units
      UNION ALL SELECT tenant_id, bank_id, embedding_model FROM hindsight.invalidated_memory_units
      UNION ALL SELECT tenant_id, bank_id, embedding_model FROM hindsight.observation_revisions
      UNION ALL SELECT tenant_id, bank_id, embedding_model FROM hindsight.mental_models) AS u
JOIN hindsight.banks b USING (tenant_id, bank_id)
WHERE b.external_id = 'copy' AND u.embedding_model IS NOT NULL
"""


@pytest.fixture
def strike(monkeypatch: pytest.MonkeyPatch) -> Strike:
    return striking(monkeypatch, (run, export, restore, merge))


def survive(ferry: Ferry, operation_id: str) -> None:
    """The worker dies; its lease runs out, and the sweep wakes another."""
    with pytest.raises(Killed):
        ferry.work()
    ferry.sql(
        "UPDATE hindsight.operations SET lease_until = '-infinity' WHERE operation_id = %s RETURNING 1", operation_id
    )
    ferry.services.noted.transfers.append((ferry.tenant, OperationId(UUID(operation_id)), 0))


_POINTS = [
    (points.BEFORE_BATCH, 1),
    (points.AFTER_BATCH, 9),
    (points.BEFORE_REVEAL, 1),
    (points.BEFORE_END, 1),
    (points.AFTER_END, 1),
]


@pytest.mark.parametrize(("point", "number"), _POINTS, ids=lambda part: str(part).removeprefix("transfer."))
def test_a_restore_goes_on_where_a_killed_worker_left_it(
    ferry: Ferry, seeded: Seeded, strike: Strike, point: str, number: int
) -> None:
    archive = ferry.exported("source")
    accepted = ferry.post("source", "/transfer/import", archive, target_bank_id="copy").json()
    strike(point, number)

    survive(ferry, accepted["operation_id"])
    seen = ferry.call("GET", "/v1/default/banks").json()["banks"]
    ferry.work()

    assert [bank["bank_id"] for bank in seen if bank["bank_id"] != "source"] == (
        ["copy"] if "after_end" in point else []
    )
    ended = ferry.operation("source", accepted["operation_id"])
    assert (ended["status"], ended["error_message"]) == ("completed", None)
    assert ferry.banks() == ["copy", "source"]
    counted = {name: len(rows) for name, rows in members(ferry.exported("copy")).items()}
    assert counted == {name: len(rows) for name, rows in members(archive).items()}


@pytest.mark.parametrize("point", [points.AFTER_ARCHIVE, points.BEFORE_END, points.AFTER_END])
def test_an_export_whose_worker_dies_is_made_once_more(
    ferry: Ferry, seeded: Seeded, strike: Strike, point: str
) -> None:
    expected = members(ferry.exported("source"))
    accepted = ferry.post("source", "/transfer/export", include_history=True).json()
    strike(point, 1)

    survive(ferry, accepted["operation_id"])
    ferry.work()

    ended = ferry.operation("source", accepted["operation_id"])
    archive = ferry.services.stored.objects[ended["result_metadata"]["storage_key"]]
    assert in_no_order(members(archive)) == in_no_order(expected)
    assert len(ferry.services.stored.objects) == 2


def test_time_that_runs_out_is_no_attempt_and_another_message_goes_on(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    accepted = ferry.post("source", "/transfer/import", archive, target_bank_id="copy").json()
    left = list(ferry.services.noted.transfers)

    ferry.services.noted.transfers[:] = left
    one = ferry.services.noted.transfers.pop()
    run.run_transfer(ferry.services.transfer_ports, one[0], one[1], -1.0)
    waiting = ferry.sql("SELECT status, attempts FROM hindsight.operations WHERE operation_id = %s", one[1])
    ferry.services.noted.transfers.append(one)
    ferry.work()

    assert waiting == [{"status": "pending", "attempts": 0}]
    assert ferry.operation("source", accepted["operation_id"])["status"] == "completed"


def test_an_export_that_takes_too_long_fails_at_once_and_says_so(ferry: Ferry, seeded: Seeded) -> None:
    accepted = ferry.post("source", "/transfer/export").json()

    ferry.work(seconds=-1.0)

    ended = ferry.operation("source", accepted["operation_id"])
    assert (ended["status"], ferry.services.noted.transfers) == ("failed", [])
    assert "too large to be exported within the time" in ended["error_message"]


def test_an_export_whose_workers_die_each_time_is_given_up(ferry: Ferry, seeded: Seeded) -> None:
    accepted = ferry.post("source", "/transfer/export").json()
    most = ferry.services.settings.hindsight_transfer_max_attempts
    ferry.sql("UPDATE hindsight.operations SET attempts = %s WHERE kind LIKE 'export%%' RETURNING 1", most)

    ferry.work()

    ended = ferry.operation("source", accepted["operation_id"])
    assert ended["status"] == "failed"
    assert ended["error_message"].startswith(f"given up after {most} attempts that did not come to an end; an export")


def test_a_restore_that_a_deployment_with_another_model_goes_on_with_is_of_one_model(
    ferry: Ferry, seeded: Seeded
) -> None:
    archive = ferry.exported("source")
    accepted = ferry.post("source", "/transfer/import", archive, target_bank_id="copy").json()
    former, newer = HashEmbedder(), HashEmbedder("another-model")
    newer.others[former.model] = former
    (message,) = ferry.services.noted.transfers
    memories = 0
    while not memories:
        run.run_transfer(ferry.services.transfer_ports, message[0], message[1], -1.0)
        memories = len(
            ferry.sql(
                "SELECT u.id FROM hindsight.memory_units u JOIN hindsight.banks b USING (tenant_id, bank_id) "
                "WHERE b.restored_by IS NOT NULL"
            )
        )

    ferry.services.__dict__["embedder"] = newer
    ferry.services.__dict__.pop("transfer_ports", None)
    ferry.work()

    assert ferry.operation("source", accepted["operation_id"])["status"] == "completed"
    assert ferry.sql(_MODELS) == [{"of_bank": former.model, "model": former.model}]


def test_a_doubled_message_leaves_one_bank(ferry: Ferry, seeded: Seeded) -> None:
    accepted = ferry.post("source", "/clone", target_bank_id="copy")

    ferry.services.noted.transfers *= 3
    ended = ferry.done("source", accepted)

    assert ended["status"] == "completed"
    assert ferry.banks() == ["copy", "source"]
    assert ferry.services.stored.objects == {}


def test_a_name_that_was_taken_meanwhile_fails_the_restore_and_leaves_nothing(ferry: Ferry, seeded: Seeded) -> None:
    accepted = ferry.post("source", "/clone", target_bank_id="copy")
    ferry.call("PUT", "/v1/default/banks/copy", {"name": "Mine"})

    ended = ferry.done("source", accepted)

    assert (ended["status"], "already taken" in ended["error_message"]) == ("failed", True)
    assert ferry.banks() == ["copy", "source"]
    assert ferry.call("GET", "/v1/default/banks/copy/memories/list").json()["total"] == 0


def test_a_cancelled_restore_leaves_nothing_and_can_be_tried_again(
    ferry: Ferry, seeded: Seeded, strike: Strike
) -> None:
    operation_id = ferry.post("source", "/clone", target_bank_id="copy").json()["operation_id"]
    strike(points.AFTER_BATCH, 5)
    survive(ferry, operation_id)
    begun = ferry.banks()
    url = f"/v1/default/banks/source/operations/{operation_id}"

    assert ferry.call("DELETE", url).status == 200
    ferry.work()
    between = ferry.banks()
    assert ferry.call("POST", f"{url}/retry").status == 200
    ferry.work()

    assert (len(begun), between) == (2, ["source"])
    assert ferry.banks() == ["copy", "source"]
    assert len(members(ferry.exported("copy"))["memories"]) == 7


def test_deleting_the_bank_that_keeps_the_operation_leaves_no_half_of_another(
    ferry: Ferry, seeded: Seeded, strike: Strike
) -> None:
    operation_id = ferry.post("source", "/clone", target_bank_id="copy").json()["operation_id"]
    strike(points.AFTER_BATCH, 5)
    survive(ferry, operation_id)

    assert ferry.call("DELETE", "/v1/default/banks/source").status == 200
    ferry.work()

    assert ferry.banks() == []


def test_a_bucket_that_cannot_be_reached_is_tried_again_and_then_given_up(ferry: Ferry, seeded: Seeded) -> None:
    accepted = ferry.post("source", "/transfer/export").json()
    ferry.services.stored.is_down = True
    waits = []

    for _ in range(5):
        tenant_id, operation_id, wait = ferry.services.noted.transfers[0]
        waits.append(wait)
        ferry.sql("UPDATE hindsight.operations SET due_at = now() WHERE operation_id = %s RETURNING 1", operation_id)
        ferry.services.noted.transfers.clear()
        attempt = run.run_transfer(ferry.services.transfer_ports, tenant_id, operation_id, 30)
        if attempt.state == "deferred":
            ferry.services.noted.transfers.append((tenant_id, operation_id, round(attempt.wait_s)))

    assert waits == [0, 5, 10, 20, 40]
    ended = ferry.operation("source", accepted["operation_id"])
    assert ended["status"] == "failed"
    assert FilesUnavailable.__name__ not in ended["error_message"]


@pytest.mark.parametrize("path", ["/transfer/export", "/clone?target_bank_id=copy"], ids=["export", "clone"])
def test_what_is_deleted_while_its_archive_is_made_leaves_none(
    ferry: Ferry, seeded: Seeded, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    url = f"/v1/default/banks/source/operations/{ferry.post('source', path).json()['operation_id']}"

    def ended_meanwhile(point: str) -> None:
        if point == points.AFTER_ARCHIVE:
            assert [ferry.call("DELETE", url).status, ferry.call("DELETE", f"{url}/delete").status] == [200, 200]

    monkeypatch.setattr(export, "reached", ended_meanwhile)
    ferry.work()

    assert ferry.services.stored.objects == {}
    assert ferry.banks() == ["source"]


def test_deleting_the_record_of_an_import_deletes_what_was_sent_for_it(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    before = set(ferry.services.stored.objects)
    done = ferry.done("source", ferry.post("source", "/transfer/import", archive, target_bank_id="copy"))
    waits = ferry.post("source", "/transfer/import", archive, target_bank_id="other").json()
    sent = set(ferry.services.stored.objects) - before

    for operation_id in (done["operation_id"], waits["operation_id"]):
        url = f"/v1/default/banks/source/operations/{operation_id}"
        ferry.call("DELETE", url)
        assert ferry.call("DELETE", f"{url}/delete").status == 200

    assert len(sent) == 2
    assert set(ferry.services.stored.objects) == before


def test_of_two_restores_under_one_name_one_wins_and_the_other_says_why(
    ferry: Ferry, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when neither could see the other's bank before it was named."""
    archive = ferry.exported("source")
    for _ in range(2):
        ferry.post("source", "/transfer/import", archive, target_bank_id="copy")
    first, second = ferry.services.noted.transfers
    other = PostgresStore(lambda: ferry.database.write_url, connect_for_s=30.0)
    ports = replace(ferry.services.transfer_ports, store=other)
    with ThreadPoolExecutor(1) as beside:
        begun: list[Future[Attempt]] = []

        def meets_the_other(point: str) -> None:
            if point == points.BEFORE_END and not begun:
                begun.append(beside.submit(run.run_transfer, ports, second[0], second[1], 30.0))
                until_blocked(ferry.database)

        monkeypatch.setattr(run, "reached", meets_the_other)
        run.run_transfer(ferry.services.transfer_ports, first[0], first[1], 30.0)
        begun[0].result()
    other.close()

    told = [ferry.operation("source", str(each[1])) for each in (first, second)]
    assert [each["status"] for each in told] == ["completed", "failed"]
    assert "'copy' is already taken" in told[1]["error_message"]
    assert ferry.banks() == ["copy", "source"]
