"""Pages among other writers: what is deleted, merged, cleared or cancelled while a refresh is at work."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest

from hindsight_aws.mental_models import manage
from hindsight_aws.model.mental_model import Citation, PageChange
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import changing
from tests.support.database import Database
from tests.support.reflect import Said
from tests.support.refreshing import Garden, edits, page, ready
from tests.support.units import Unit

ROSES, TULIPS = Unit("Roses grow in the yard."), Unit("Tulips grow in the yard.")


def _change(*cited: Unit) -> PageChange:
    return PageChange(
        content="Text.\n",
        structure={"sections": []},
        vector=None,
        embedding_model=None,
        response={},
        query="q",
        is_full=True,
        seen=None,
        snapshot="1:1:",
        citations=tuple(Citation(unit.id, "world", unit.text) for unit in cited),
    )


def test_a_memory_that_goes_while_its_page_is_written_waits_and_then_withholds_it(
    database: Database, garden: Garden
) -> None:
    """The writer holds what it cites before it holds the page: the deleter waits, and neither waits for the other."""
    garden.rig.remember(ROSES, TULIPS)
    garden.plant()
    page_id = garden.model().page_id
    deleter = threading.Thread(target=garden.delete, args=(TULIPS.id, ROSES.id))
    other = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    with other.transaction(garden.rig.tenant) as tx:
        tx.mental_models.lock_memories(garden.rig.bank_id, sorted([ROSES.id, TULIPS.id]))
        deleter.start()
        deleter.join(0.2)
        assert deleter.is_alive()
        tx.mental_models.lock(garden.rig.bank_id, page_id)
        tx.mental_models.write(garden.rig.bank_id, page_id, _change(ROSES, TULIPS))
    deleter.join(60)
    other.close()

    assert garden.view().is_withheld


def test_what_was_cited_but_went_before_the_commit_withholds_the_page(garden: Garden) -> None:
    garden.rig.remember(ROSES)
    asked = garden.plant()

    def writes_late(_call: ModelCall) -> Said:
        garden.delete(ROSES.id)
        return page("Roses grow here.", cites=("f1",))

    garden.say(ready(), writes_late)

    garden.grow(asked)

    assert garden.outcome(garden.operation(asked.operation_id)) == ("completed", "content_written", None)
    assert garden.view().is_withheld


@pytest.mark.parametrize("how", ["cleared", "cancelled", "deleted"])
def test_a_refresh_that_somebody_overtook_writes_nothing(garden: Garden, how: str) -> None:
    garden.rig.remember(ROSES)
    garden.say(ready(), page("Roses grow here.", cites=("f1",)))
    garden.grow(garden.plant(mode="delta"))
    garden.rig.remember(TULIPS)
    model = garden.model()

    def writes_late(_call: ModelCall) -> Said:
        with garden.rig.store.transaction(garden.rig.tenant) as tx:
            if how == "cleared":
                manage.clear(tx, garden.rig.bank_id, model, keeps_past=True)
            elif how == "cancelled":
                tx.refreshes.cancel(garden.rig.bank_id, model.page_id)
            else:
                manage.delete(tx, garden.rig.bank_id, model.page_id)
        return edits({"op": "append_block", "section_id": "plants", "text": "Tulips too."})

    garden.say(ready(), writes_late)

    done = garden.refresh()

    assert done.status == ("pending" if how == "cleared" else "cancelled")
    if how != "deleted":
        assert garden.model().content == ("" if how == "cleared" else model.content)


def test_a_page_rests_on_what_its_observation_was_merged_into(database: Database, garden: Garden) -> None:
    garden.rig.remember(ROSES, TULIPS)
    garden.plant()
    page_id, heir = garden.model().page_id, Unit("Flowers grow here.")
    garden.rig.remember(heir)
    with garden.rig.store.transaction(garden.rig.tenant) as tx:
        tx.mental_models.write(garden.rig.bank_id, page_id, _change(ROSES, TULIPS))
        for absorbed in (ROSES, TULIPS):
            tx.mental_models.move(garden.rig.bank_id, absorbed.id, heir.id)

    garden.delete(ROSES.id, TULIPS.id)

    with garden.rig.store.snapshot(garden.rig.tenant) as tx:
        cited = tx.mental_models.citations(garden.rig.bank_id, page_id)
    assert [one.id for one in cited] == [heir.id]
    assert not garden.view().is_withheld


def test_a_refresh_that_meets_vectors_being_replaced_comes_again_and_has_one(garden: Garden) -> None:
    """Written without one, its page would be found by its words alone until it is refreshed some day."""
    garden.rig.remember(ROSES)
    asked = garden.plant()
    closed = "UPDATE banks SET vectors_closed_until = now() + interval '1 minute'"
    with changing(garden.rig.database.admin_url) as connection:
        connection.execute(closed)
    garden.say(ready(), page("Roses grow here.", cites=("f1",)), ready(), page("Roses grow here.", cites=("f1",)))

    garden.grow(asked)
    waits = garden.operation(asked.operation_id)
    written = garden.model().content
    with changing(garden.rig.database.admin_url) as connection:
        connection.execute("UPDATE banks SET vectors_closed_until = '-infinity'")
        connection.execute("UPDATE operations SET due_at = now()")
    garden.grow(asked)

    assert (waits.status, written) == ("pending", "")
    assert garden.operation(asked.operation_id).status == "completed"
    with changing(garden.rig.database.admin_url) as connection:
        kept = connection.execute("SELECT embedding_model, embedding IS NULL FROM mental_models").fetchall()
    assert kept == [(garden.rig.embedder.model, False)]


def test_an_unknown_refresh_starts_nothing(garden: Garden) -> None:
    with garden.rig.store.transaction(garden.rig.tenant) as tx:
        assert tx.refreshes.claim(garden.rig.bank_id, uuid4(), 1.0) is None  # type: ignore[arg-type]  # any id will do
