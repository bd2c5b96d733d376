"""A bank erased: nothing of it is left but the receipt, however large it is and whoever still works for it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hindsight_aws.erasure import carry_on, digest_of, erase_bank, receipt, statement_of
from hindsight_aws.errors import NotFound, WorkSuperseded
from hindsight_aws.model.erasure import ErasureId, NewErasure
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.uploads import Upload
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.database import Database
from tests.support.erasing import NotingSigner, erasure_ports, tables_with
from tests.support.files import MemoryFiles
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

    assert gone.held > 0
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
    carry_on(ports, principal.tenant_id, gone.erasure_id, 5.0)
    after = receipt(ports, principal, gone.erasure_id)

    assert (before.state, before.objects) == ("objects", 0)
    assert (between.state, between.objects, files.objects) == ("unsigned", 2, {})
    assert after.state == "signed"
    assert after.digest == between.digest == signer.signed[0].hex()


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
    assert (second.held, second.erasure_id) == (0, None)


def _let_time_pass(database: Database) -> None:
    with admin(database.admin_url) as connection:
        connection.execute("UPDATE erasures SET due_at = now(), lease_until = '-infinity'")
