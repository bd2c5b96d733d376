"""Several who change one tree at once: what they would each be allowed alone never makes it unsound together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

from hindsight_aws.access import page_sight
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.knowledge import manage
from hindsight_aws.knowledge.manage import NodeChanges, PageRequest
from hindsight_aws.mental_models.manage import ModelChanges
from hindsight_aws.mental_models.manage import delete as delete_model
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.store.postgres import PostgresStore
from tests.support.contention import until_blocked
from tests.support.database import Database
from tests.support.knowledge import Shelf

NOTHING = ModelChanges(None, None, None, None, None)


class Crowd:
    """Callers who all wait for the tree, and are let at it at once."""

    def __init__(self, shelf: Shelf, database: Database) -> None:
        self._shelf, self._database = shelf, database

    def at_once(self, *works: Callable[[PagesDoor], object]) -> list[str]:
        """What became of each: `done`, or the error."""
        rig = self._shelf.garden.rig
        with ThreadPoolExecutor(len(works)) as pool, self._store() as first:
            with first.transaction(rig.tenant) as tx:
                tx.knowledge.lock_tree(rig.bank_id)
                running = [pool.submit(self._do, work) for work in works]
                until_blocked(self._database, len(works))
            return [_outcome(one) for one in running]

    def _do(self, work: Callable[[PagesDoor], object]) -> None:
        with self._store() as store:
            work(replace(self._shelf.garden.door, store=store))

    @contextmanager
    def _store(self) -> Iterator[PostgresStore]:
        store = PostgresStore(lambda: self._database.write_url, connect_for_s=30.0)
        try:
            yield store
        finally:
            store.close()


def _outcome(running: Future[None]) -> str:
    try:
        running.result(60)
    except InvalidRequest as refused:
        return type(refused).__name__
    return "done"


@pytest.fixture
def crowd(shelf: Shelf, database: Database) -> Crowd:
    return Crowd(shelf, database)


def _moves(shelf: Shelf, node: str, place: str) -> Callable[[PagesDoor], object]:
    rig = shelf.garden.rig
    return lambda door: manage.change_node(door, rig.principal, rig.bank, node, NodeChanges(place, NOTHING))


def test_two_folders_are_not_moved_into_each_other(shelf: Shelf, crowd: Crowd) -> None:
    one, other = shelf.folder("One"), shelf.folder("Other")
    low = shelf.folder("Low", other)

    outcomes = crowd.at_once(_moves(shelf, one, low), _moves(shelf, other, one))

    assert sorted(outcomes) == ["InvalidRequest", "done"]
    assert shelf.tree() in ({"Other": {"Low": {"One": {}}}}, {"One": {"Other": {"Low": {}}}})


def test_of_two_pages_of_one_name_one_is_made(shelf: Shelf, crowd: Crowd) -> None:
    rig, folder = shelf.garden.rig, shelf.folder("One")
    request = PageRequest("Roses", "What of roses?", folder, [], None, {})

    def makes(door: PagesDoor) -> object:
        return manage.create_page(door, rig.principal, rig.bank, request)

    assert sorted(crowd.at_once(makes, makes)) == ["Conflict", "done"]
    assert shelf.tree() == {"One": {"Roses": None}}


def test_a_page_is_not_left_behind_by_a_folder_that_goes(shelf: Shelf, crowd: Crowd) -> None:
    rig, folder = shelf.garden.rig, shelf.folder("One")
    page = shelf.page("Roses")

    def deletes(door: PagesDoor) -> None:
        with door.store.transaction(rig.tenant) as tx:
            manage.delete_node(tx, rig.principal, rig.bank_id, folder)

    outcomes = crowd.at_once(deletes, _moves(shelf, page, folder))

    assert (outcomes, shelf.tree()) in (
        (["done", "InvalidRequest"], {"Roses": None}),
        (["done", "done"], {}),
    )


def test_a_model_is_deleted_by_itself_while_its_page_is_moved(shelf: Shelf, crowd: Crowd) -> None:
    """Neither waits for the other in a circle: the model is locked before its page by both."""
    rig, folder = shelf.garden.rig, shelf.folder("One")
    page = shelf.page("Roses")
    with rig.store.snapshot(rig.tenant) as tx:
        (model,) = tx.knowledge.seen(rig.bank_id, page_sight(rig.principal))

    def deletes(door: PagesDoor) -> None:
        with door.store.transaction(rig.tenant) as tx:
            tx.knowledge.lock_tree(rig.bank_id)  # only to begin with the others
            delete_model(tx, rig.bank_id, model)

    outcomes = crowd.at_once(deletes, _moves(shelf, page, folder))

    assert outcomes in (["done", "done"], ["done", "NotFound"])
    assert shelf.tree() == {"One": {}}
