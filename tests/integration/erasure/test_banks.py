"""A bank erased: nothing of it is left but the receipt, however large it is and whoever still works for it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast
from uuid import uuid4

import pytest

from hindsight_aws.erasure import carry_on, digest_of, erase_bank, receipt, statement_of
from hindsight_aws.errors import FilesUnavailable, NotFound, WorkSuperseded
from hindsight_aws.jobs.erasures import carry_erasure_on
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.model.erasure import ErasureId, NewErasure
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.uploads import Upload
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.database import Database
from tests.support.erasing import NotingSigner, erasure_ports, tables_with
from tests.support.files import MemoryFiles
from tests.support.models import NotedWakeups
from tests.support.seed import seed_bank

MARK = "Xanthippe"
KEPT = {"audit_log", "erasures"}
"""The seed names an action and an erasure's tag after its mark: what the product keeps of a bank is no memory."""


@pytest.fixture
def principal(tenant: TenantId) -> Principal:
    return Principal(tenant, "tester")


@pytest.mark.parametrize("at_once", [20_000, 0], ids=["in-one-transaction", "slice-by-slice"])
def test_nothing_of_a_bank_is_left_but_its_receipt(
    database: Database, store: PostgresStore, principal: Principal, at_once: int
) -> None:
    seeded = seed_bank(database, principal.tenant_id, "b", MARK)
    files = MemoryFiles({seeded.archive: b"an archive"})
    ports = erasure_ports(store, files)

    gone = erase_bank(ports, principal, "b", at_once)

    assert gone.contents > 0
    assert gone.erasure_id is not None
    assert receipt(ports, principal, gone.erasure_id).state == "objects"
    _let_time_pass(database)
    carry_on(ports, principal.tenant_id, gone.erasure_id, 5.0)
    found = receipt(ports, principal, gone.erasure_id)
    assert (found.objects, files.objects) == (1, {})
    assert (found.state, found.bank, found.bank_id, found.subject) == ("unsigned", "b", seeded.bank_id, "tester")
    assert tables_with(database, principal.tenant_id, MARK) <= KEPT
    assert {"banks": 1, "documents": 1, "memory_units": 7, "directives": 1}.items() <= found.erased.items()
    assert found.erased["unit_terms"] > 0
    assert found.digest == digest_of(statement_of(principal.tenant_id, found))


def test_a_bank_that_goes_slice_by_slice_is_out_of_reach_at_once(
    database: Database, store: PostgresStore, principal: Principal
) -> None:
    seeded = seed_bank(database, principal.tenant_id, "b", MARK)
    with store.transaction(principal.tenant_id) as tx:
        made = tx.banks.by_id(seeded.bank_id)
    assert made is not None

    # What a request does before it carries on, and no more.
    new = NewErasure(ErasureId(uuid4()), seeded.bank_id, "b", "bank", "tester")
    with store.transaction(principal.tenant_id) as tx:
        gone = tx.erasures.begin_bank(new, 0)

    with store.transaction(principal.tenant_id) as tx:
        assert (gone is not None and gone.is_over) is False
        assert tx.banks.find("b") is None
        assert tx.banks.by_id(seeded.bank_id) is None
        assert tx.banks.page(None, None, 10, 0).total == 0
        again = tx.banks.create_if_missing("b")
        assert again.bank_id != seeded.bank_id
    with pytest.raises(WorkSuperseded), store.transaction(principal.tenant_id) as tx:
        tx.memories.touch_bank(seeded.bank_id, None)
    carry_on(erasure_ports(store), principal.tenant_id, new.erasure_id, 10.0)
    with store.transaction(principal.tenant_id) as tx:
        assert tx.banks.find("b") is not None
        assert tx.erasures.tombstone(seeded.bank_id) == new.erasure_id
        assert tx.erasures.tombstone(again.bank_id) is None


def test_an_erasure_that_stops_with_rows_left_goes_on_without_the_sweep(
    database: Database, store: PostgresStore, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindsight_aws.erasure.carry.SLICE", 2)
    seeded = seed_bank(database, principal.tenant_id, "b", MARK)
    ports, new = erasure_ports(store), NewErasure(ErasureId(uuid4()), seeded.bank_id, "b", "bank", "tester")
    with store.transaction(principal.tenant_id) as tx:
        tx.erasures.begin_bank(new, 0)
    woken = cast(NotedWakeups, ports.wakeups).erasures

    carry_on(ports, principal.tenant_id, new.erasure_id, 0.0)
    turns = 0
    while woken:
        body = _message(*woken.pop())
        carry_erasure_on(ports, body, 0.0)
        turns += 1

    assert turns > 1
    assert receipt(ports, principal, new.erasure_id).state != "running"
    assert tables_with(database, principal.tenant_id, MARK) <= KEPT


def test_a_message_about_an_erasure_that_is_carried_on_or_over_wakes_nobody(
    database: Database, store: PostgresStore, principal: Principal
) -> None:
    seeded = seed_bank(database, principal.tenant_id, "b", MARK)
    ports, new = erasure_ports(store), NewErasure(ErasureId(uuid4()), seeded.bank_id, "b", "bank", "tester")
    body = _message(principal.tenant_id, new.erasure_id, 0)
    with store.transaction(principal.tenant_id) as tx:
        tx.erasures.begin_bank(new, 0)
        tx.erasures.take_lease(new.erasure_id, 60.0)

    held = carry_erasure_on(ports, body, 5.0), receipt(ports, principal, new.erasure_id).state
    _let_time_pass(database)
    over = [carry_erasure_on(ports, body, 5.0) for _ in range(2)]

    assert held == (Outcome.DONE, "running")
    assert over == [Outcome.DONE] * 2
    assert cast(NotedWakeups, ports.wakeups).erasures == []


def test_a_message_that_comes_twice_has_no_file_deleted_while_its_ticket_is_good(
    database: Database, store: PostgresStore, principal: Principal
) -> None:
    seed_bank(database, principal.tenant_id, "b", MARK)
    gone = erase_bank(erasure_ports(store), principal, "b")
    assert gone.erasure_id is not None
    before = _due(database)

    carry_erasure_on(erasure_ports(store), _message(principal.tenant_id, gone.erasure_id, 0), 5.0)

    assert _due(database) == before


def _due(database: Database) -> list[tuple[object, ...]]:
    with admin(database.admin_url) as connection:
        return connection.execute("SELECT due_at, fence FROM erasures").fetchall()


def _message(tenant_id: TenantId, erasure_id: ErasureId, _delay_s: int) -> str:
    return json.dumps({"kind": "erasure", "tenant_id": str(tenant_id), "erasure_id": str(erasure_id)})


def test_stored_files_go_after_their_tickets_and_then_the_receipt_is_signed(
    database: Database, store: PostgresStore, principal: Principal
) -> None:
    seeded = seed_bank(database, principal.tenant_id, "b", MARK)
    key = f"tenants/{principal.tenant_id}/banks/{seeded.bank_id}/x"
    with store.transaction(principal.tenant_id) as tx:
        tx.uploads.add(seeded.bank_id, Upload(uuid4(), "tester", key, "notes.txt", "text/plain", 5))
    files, signer = MemoryFiles({key: b"notes"}), NotingSigner(is_down=True)
    ports = erasure_ports(store, files, signer)
    gone = erase_bank(ports, principal, "b")
    assert gone.erasure_id is not None

    before = receipt(ports, principal, gone.erasure_id)
    _let_time_pass(database)
    carry_on(ports, principal.tenant_id, gone.erasure_id, 5.0)
    between = receipt(ports, principal, gone.erasure_id)
    signer.is_down = False
    _let_time_pass(database)
    carry_on(ports, principal.tenant_id, gone.erasure_id, 5.0)
    after = receipt(ports, principal, gone.erasure_id)

    assert (before.state, before.objects) == ("objects", 0)
    assert (between.state, between.objects, files.objects) == ("unsigned", 2, {})
    assert after.state == "signed"
    assert after.digest == between.digest == signer.signed[0].hex()


def test_more_files_than_one_turn_deletes_go_over_several_turns(
    database: Database, store: PostgresStore, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindsight_aws.erasure.carry.FILES_AT_ONCE", 2)
    seeded = seed_bank(database, principal.tenant_id, "b", MARK)
    keys = [f"tenants/{principal.tenant_id}/banks/{seeded.bank_id}/{n}" for n in range(6)]
    with store.transaction(principal.tenant_id) as tx:
        for key in keys:
            tx.uploads.add(seeded.bank_id, Upload(uuid4(), "tester", key, "notes.txt", "text/plain", 5))
    files = _TiringFiles(dict.fromkeys(keys, b"notes"))
    ports = erasure_ports(store, files)
    gone = erase_bank(ports, principal, "b")
    assert gone.erasure_id is not None

    turns = []
    for seconds in (0.0, 5.0, 5.0, 5.0):
        _let_time_pass(database)
        files.strength = 3
        carry_on(ports, principal.tenant_id, gone.erasure_id, seconds)
        turns.append(receipt(ports, principal, gone.erasure_id).objects)

    assert turns == [0, 2, 4, 7]
    assert (files.objects, receipt(ports, principal, gone.erasure_id).state) == ({}, "unsigned")


@dataclass
class _TiringFiles(MemoryFiles):
    """Files of which so many can be deleted, and then none any more."""

    strength: int = 0

    def delete(self, key: str) -> None:
        if self.strength == 0:
            raise FilesUnavailable("tired")
        self.strength -= 1
        super().delete(key)


def test_a_receipt_is_of_no_other_tenant_and_of_no_bank_that_the_key_does_not_cover(
    database: Database, store: PostgresStore, principal: Principal
) -> None:
    seed_bank(database, principal.tenant_id, "b", MARK)
    ports = erasure_ports(store)
    gone = erase_bank(ports, principal, "b")
    assert gone.erasure_id is not None

    for other in (Principal(TenantId(uuid4()), "x"), Principal(principal.tenant_id, "x", bank_patterns=("c*",))):
        with pytest.raises(NotFound):
            receipt(ports, other, gone.erasure_id)
        with store.transaction(other.tenant_id) as tx:
            assert tx.erasures.page(other.bank_patterns, 10, 0).total == 0


def test_a_bank_erased_twice_has_one_receipt(database: Database, store: PostgresStore, principal: Principal) -> None:
    seed_bank(database, principal.tenant_id, "b", MARK)
    ports = erasure_ports(store)

    first, second = (erase_bank(ports, principal, "b") for _ in range(2))

    assert first.erasure_id is not None
    assert (second.contents, second.erasure_id) == (0, None)


def _let_time_pass(database: Database) -> None:
    with admin(database.admin_url) as connection:
        connection.execute("UPDATE erasures SET due_at = now(), lease_until = '-infinity'")
