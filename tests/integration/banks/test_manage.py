"""Banks changed, made and deleted by several callers at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from hindsight_aws.banks import template
from hindsight_aws.banks.manage import BankChange, configure, create_or_update
from hindsight_aws.banks.template import Template
from hindsight_aws.erasure import ErasurePorts, erase_bank
from hindsight_aws.errors import WorkRaced
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.model.ids import BankId, OperationId, TenantId
from hindsight_aws.model.operation import RETAIN, NewOperation
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.directives import DirectiveText
from hindsight_aws.ports.store import Transaction
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import NoWorkflows
from tests.support.contention import until_blocked
from tests.support.database import Database
from tests.support.erasing import take_away
from tests.support.models import NotedWakeups
from tests.support.units import Unit, insert_units, make_bank

SETTINGS = Settings()
OURS = {"retain_mission": "ours"}
THEIRS = {"observations_mission": "theirs"}


@pytest.fixture
def principal(tenant: TenantId) -> Principal:
    return Principal(tenant, "tester")


@pytest.fixture
def other(database: Database) -> Iterator[PostgresStore]:
    """The same database from another process."""
    store = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    yield store
    store.close()


def _overrides(store: PostgresStore, tenant: TenantId) -> dict[str, object]:
    with store.transaction(tenant) as tx:
        bank = tx.banks.find("b")
    assert bank is not None
    return dict(bank.overrides)


def _add_work(tx: Transaction, bank_id: BankId) -> None:
    tx.operations.add(bank_id, [NewOperation(OperationId(uuid4()), RETAIN, "tester")])


@pytest.mark.parametrize("by", ["configure", "create_or_update"])
def test_a_bank_made_meanwhile_loses_no_setting(
    database: Database, store: PostgresStore, other: PostgresStore, principal: Principal, by: str
) -> None:
    def change() -> object:
        if by == "configure":
            return configure(other, SETTINGS, principal, "b", OURS)
        return create_or_update(other, SETTINGS, principal, "b", BankChange(updates=OURS))

    with ThreadPoolExecutor(1) as pool:
        with store.transaction(principal.tenant_id) as tx:
            tx.banks.save(tx.banks.create_if_missing("b").bank_id, None, THEIRS)
            changing = pool.submit(change)
            until_blocked(database)
        changing.result(timeout=60)

    assert _overrides(store, principal.tenant_id) == OURS | THEIRS


def test_two_changes_of_one_bank_both_stand(
    database: Database, store: PostgresStore, other: PostgresStore, principal: Principal
) -> None:
    configure(store, SETTINGS, principal, "b", {})

    with ThreadPoolExecutor(1) as pool:
        with store.transaction(principal.tenant_id) as tx:
            bank = tx.banks.lock("b")
            assert bank is not None
            tx.banks.save(bank.bank_id, None, THEIRS)
            changing = pool.submit(configure, other, SETTINGS, principal, "b", OURS)
            until_blocked(database)
        changing.result(timeout=60)

    assert _overrides(store, principal.tenant_id) == OURS | THEIRS


def test_work_is_added_to_a_bank_whose_settings_are_being_changed(
    store: PostgresStore, other: PostgresStore, principal: Principal
) -> None:
    configure(store, SETTINGS, principal, "b", {})

    def add() -> None:
        with other.transaction(principal.tenant_id) as tx:
            _add_work(tx, tx.banks.create_if_missing("b").bank_id)

    with ThreadPoolExecutor(1) as pool, store.transaction(principal.tenant_id) as tx:
        tx.banks.lock("b")
        pool.submit(add).result(timeout=60)


def test_a_delete_waits_for_a_writer_and_neither_is_a_deadlocks_victim(
    database: Database, store: PostgresStore, other: PostgresStore, principal: Principal
) -> None:
    configure(store, SETTINGS, principal, "b", {})

    with ThreadPoolExecutor(1) as pool:
        with store.transaction(principal.tenant_id) as tx:
            bank_id = tx.banks.create_if_missing("b").bank_id
            _add_work(tx, bank_id)
            deleting = pool.submit(erase_bank, ErasurePorts(other, NotedWakeups(), SETTINGS), principal, "b")
            until_blocked(database)
            tx.memories.touch_bank(bank_id, None)
        deleting.result(timeout=60)

    with store.transaction(principal.tenant_id) as tx:
        assert tx.banks.find("b") is None


def test_of_two_deletes_one_counts_what_went(
    database: Database, store: PostgresStore, other: PostgresStore, principal: Principal
) -> None:
    bank_id = make_bank(database.admin_url, principal.tenant_id, "b")
    insert_units(database.admin_url, principal.tenant_id, bank_id, [Unit("One."), Unit("Two.")])

    with ThreadPoolExecutor(1) as pool:
        with store.transaction(principal.tenant_id) as tx:
            first = take_away(tx, bank_id)
            deleting = pool.submit(erase_bank, ErasurePorts(other, NotedWakeups(), SETTINGS), principal, "b")
            until_blocked(database)
        second = deleting.result(timeout=60).contents

    assert (first, second) == (2, 0)


def test_of_two_templates_laid_over_a_bank_at_once_one_adds_its_directive(
    database: Database, store: PostgresStore, other: PostgresStore, principal: Principal
) -> None:
    configure(store, SETTINGS, principal, "b", THEIRS)
    text = DirectiveText("polite", "Be polite.", 0, True, ())
    door = PagesDoor(other, NoWorkflows(), SystemClock(), SETTINGS)
    wanted = Template("1", OURS, directives=[text])

    with ThreadPoolExecutor(1) as pool:
        with store.transaction(principal.tenant_id) as tx:
            bank = tx.banks.lock("b")
            assert bank is not None
            tx.directives.add(bank.bank_id, uuid4(), text)
            laying = pool.submit(template.apply, door, principal, "b", wanted)
            until_blocked(database)
        with pytest.raises(WorkRaced):
            laying.result(timeout=60)

    assert _overrides(store, principal.tenant_id) == THEIRS
    again = template.apply(door, principal, "b", wanted)
    assert (again.directives_created, again.directives_updated) == ([], [])
    assert _overrides(store, principal.tenant_id) == OURS | THEIRS
