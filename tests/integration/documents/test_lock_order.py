"""Whoever changes a document and whoever corrects a fact lock the same rows of a bank in the same order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.integration.documents.conftest import Shelf, item
from tests.support.admin import admin
from tests.support.contention import until_blocked

_ENDED_RUN = """
INSERT INTO reflect_runs (tenant_id, bank_id, run_id, request_hash, subject, request, bank_write_at, deadline_at,
                          status, ended_at)
SELECT tenant_id, bank_id, gen_random_uuid(), 'h', 'tester', '{}', last_write_at, now(), 'completed', now() FROM banks
"""


def _delete(shelf: Shelf) -> None:
    shelf.delete("d1")


def _patch(shelf: Shelf) -> None:
    shelf.patch("d1", tags=("other",))


def _replace(shelf: Shelf) -> None:
    shelf.retain(item("Uma rows.", "d1"))


@pytest.mark.parametrize("change", [_delete, _patch, _replace])
def test_answers_are_forgotten_before_the_bank_is_locked(shelf: Shelf, change: Callable[[Shelf], None]) -> None:
    """The bank comes last: a correction, which forgets answers first, could hold a run and wait for the bank."""
    shelf.retain(item("Uma plays the cello.", "d1"))
    shelf.change(_ENDED_RUN)
    worker = shelf.open_twin()
    assert isinstance(worker, Shelf)

    with ThreadPoolExecutor(1) as pool:
        with admin(shelf.database.admin_url) as other:
            other.execute("BEGIN")
            other.execute("SELECT FROM reflect_runs FOR UPDATE")
            changing = pool.submit(change, worker)
            until_blocked(shelf.database)
            with psycopg.connect(shelf.database.admin_url) as third:
                free = third.execute("SELECT FROM hindsight.banks FOR NO KEY UPDATE SKIP LOCKED").fetchall()
            other.execute("ROLLBACK")
        changing.result()

    assert len(free) == 1
