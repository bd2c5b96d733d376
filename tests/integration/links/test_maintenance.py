"""What becomes of the facts and entities that removed facts leave behind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

import psycopg
import pytest

from hindsight_aws.access import DocumentSight
from hindsight_aws.links import maintain as maintenance
from hindsight_aws.links.maintain import Maintained
from hindsight_aws.model.tags import TagFilter
from tests.integration.links.conftest import Web, at, new_id, towards
from tests.support.units import Unit, make_bank


def _count_pairs(web: Web) -> None:
    """Counts who occurs with whom, as retain would have."""
    web.change(
        "INSERT INTO entity_cooccurrences (tenant_id, bank_id, entity_id_1, entity_id_2, cooccurrences) "
        "SELECT a.tenant_id, a.bank_id, a.entity_id, b.entity_id, count(*) FROM unit_entities a JOIN unit_entities b "
        "ON b.unit_id = a.unit_id AND b.entity_id > a.entity_id GROUP BY 1, 2, 3, 4"
    )


def _pairs(web: Web) -> dict[tuple[str, ...], int]:
    rows = web.rows(
        "SELECT a.canonical_name AS a, b.canonical_name AS b, o.cooccurrences FROM entity_cooccurrences o "
        "JOIN entities a ON a.entity_id = o.entity_id_1 JOIN entities b ON b.entity_id = o.entity_id_2"
    )
    return {tuple(sorted((row["a"], row["b"]))): row["cooccurrences"] for row in rows}


def test_survivors_of_a_removed_fact_find_other_neighbours(web: Web) -> None:
    crowd = web.insert(*(at(n / 60) for n in range(24)))
    web.link(crowd[:21])
    first = crowd[0]
    assert set(web.neighbours(first, "temporal")) == set(crowd[1:21])

    web.remove(*crowd[1:4])
    assert web.queued()["fact"] == {first, *crowd[4:21]}
    assert web.maintain() is Maintained.DONE

    assert set(web.neighbours(first, "temporal")) == set(crowd[4:24])
    assert web.queued() == {}


def test_survivors_are_linked_by_meaning_up_to_twenty(web: Web) -> None:
    (hub,) = web.insert(towards(1.0))
    near = web.insert(*(towards(0.99 - n / 100) for n in range(23)))
    web.link([hub])
    assert set(web.neighbours(hub, "semantic")) == set(near[:20])

    web.remove(near[0], near[5])
    web.maintain()

    assert set(web.neighbours(hub, "semantic")) == set(near[1:22]) - {near[5]} | {near[21]}


def test_many_links_are_taken_out_in_several_statements(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindsight_aws.store.links._MOST_TAKEN_OUT", 7)
    crowd = web.insert(*(at(n / 60) for n in range(10)))
    web.link(crowd)

    web.remove(*crowd[:5])

    assert all(set(web.neighbours(one, "temporal")) == set(crowd[5:]) - {one} for one in crowd[5:])
    assert web.queued()["fact"] == set(crowd[5:])


def test_links_of_a_removed_fact_are_gone_and_causes_queue_nobody(web: Web) -> None:
    effect, cause = web.insert(Unit("The road flooded"), Unit("It rained"))
    web.cause(effect, cause)

    web.remove(cause)

    assert web.rows("SELECT * FROM memory_links") == []
    assert web.queued() == {}


def test_a_changed_fact_keeps_its_causes_and_is_linked_anew(web: Web) -> None:
    moved, before, after, cause = web.insert(at(0), at(1), at(200), at(-400))
    web.link([moved, before, after])
    web.cause(moved, cause)

    with web.store.transaction(web.tenant) as tx:
        tx.links.will_change(web.bank_id, [moved])
    assert web.queued() == {"fact": {moved, before}}
    web.change("UPDATE memory_units SET event_date = event_date + interval '201 hours' WHERE id = %s", moved)
    web.maintain()

    assert list(web.neighbours(moved, "temporal")) == [after]
    assert list(web.neighbours(moved, "caused_by")) == [cause]


def test_an_entity_without_facts_goes_and_others_stay(web: Web) -> None:
    going, _ = web.insert(Unit("Ada met Bo", entities=("Ada", "Bo")), Unit("Bo sleeps", entities=("Bo",)))

    web.remove(going)
    web.maintain()

    assert web.entities() == {"Bo"}
    assert web.queued() == {}


def test_an_entity_that_an_archived_fact_may_bring_back_stays(web: Web) -> None:
    (going,) = web.insert(Unit("Ada rows", entities=("Ada",)))
    web.archive()

    web.remove(going)
    web.maintain()

    assert web.entities() == {"Ada"}


def test_an_entity_goes_with_the_last_archived_fact_that_names_it(web: Web) -> None:
    facts = web.insert(Unit("Ada rows", entities=("Ada",), document="d"), Unit("Bo rows", entities=("Bo",)))
    web.archive()
    web.remove(*facts)
    web.maintain()
    assert web.entities() == {"Ada", "Bo"}

    with web.store.transaction(web.tenant) as tx:
        assert tx.documents.remove(web.bank_id, DocumentSight(TagFilter()), "d") is not None
    web.maintain()

    assert web.entities() == {"Bo"}


def test_pairs_count_the_facts_that_are_left(web: Web) -> None:
    going, *_ = web.insert(
        Unit("Ada met Bo and Cy", entities=("Ada", "Bo", "Cy")),
        Unit("Ada met Bo again", entities=("Ada", "Bo")),
        Unit("Bo and Di", entities=("Bo", "Di")),
    )
    _count_pairs(web)
    assert _pairs(web)["Ada", "Bo"] == 2

    web.remove(going)
    web.maintain()

    assert _pairs(web) == {("Ada", "Bo"): 1, ("Bo", "Di"): 1}
    assert web.entities() == {"Ada", "Bo", "Di"}


def test_an_entity_that_somebody_is_writing_to_is_looked_at_again_later(web: Web) -> None:
    (going,) = web.insert(Unit("Ada rows", entities=("Ada",)))
    web.remove(going)

    with psycopg.connect(web.database.admin_url) as writer:
        writer.execute("UPDATE hindsight.entities SET mention_count = mention_count + 1")
        assert web.maintain() is Maintained.DONE

    assert web.entities() == {"Ada"}
    assert web.wakeups.links == [(web.tenant, web.bank_id, maintenance.RETRY_AFTER_S)]
    web.change("UPDATE link_maintenance SET due_at = now()")
    web.maintain()
    assert web.entities() == set()


def test_an_entity_mentioned_again_before_anybody_looked_stays(web: Web) -> None:
    (going,) = web.insert(Unit("Ada rows", entities=("Ada",)))
    web.remove(going)
    web.insert(Unit("Ada swims", entities=("Ada",)))

    web.maintain()

    assert web.entities() == {"Ada"}


def test_what_is_gone_by_the_time_it_is_looked_at_is_skipped(web: Web) -> None:
    web.queue(new_id(), new_id())
    web.queue(new_id(), kind="entity")

    assert web.maintain() is Maintained.DONE
    assert web.queued() == {}


def test_maintenance_twice_changes_nothing(web: Web) -> None:
    crowd = web.insert(*(at(n, vector=[1.0]) for n in range(30)))
    web.link(crowd)
    before = web.rows("SELECT * FROM memory_links ORDER BY from_unit, to_unit, link_type")

    web.link(crowd)

    assert web.rows("SELECT * FROM memory_links ORDER BY from_unit, to_unit, link_type") == before


def test_a_bank_is_worked_off_in_batches_and_the_rest_after_another_wake_up(web: Web) -> None:
    crowd = web.insert(*(at(n) for n in range(120)))
    web.queue(*crowd)
    seconds: Iterator[float] = chain([300.0], repeat(5.0))

    assert web.maintain(lambda: next(seconds)) is Maintained.UNFINISHED

    assert len(web.queued()["fact"]) == 120 - maintenance.AT_ONCE
    assert web.wakeups.links == [(web.tenant, web.bank_id, 0)]
    assert web.maintain() is Maintained.DONE
    assert web.queued() == {}


def test_facts_of_another_bank_are_never_linked(web: Web) -> None:
    (mine,) = web.insert(at(0, vector=[1.0]))
    elsewhere = Web(web.database, web.tenant, make_bank(web.database.admin_url, web.tenant, "other"), web.store)
    elsewhere.insert(at(0, vector=[1.0]), at(0, vector=[1.0]))

    web.link([mine])

    assert web.rows("SELECT * FROM memory_links") == []
