"""Workers and deletes that meet on one bank: each waits its turn or passes, and none commits over another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain

import pytest

from hindsight_aws.links import maintain as maintenance
from hindsight_aws.links.maintain import Maintained
from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.links import LinkLease
from hindsight_aws.store.links import PostgresLinks
from hindsight_aws.store.postgres import PostgresTransaction
from tests.integration.links.conftest import Web, at
from tests.support.contention import until_blocked
from tests.support.erasing import take_away
from tests.support.units import Unit


def test_two_workers_never_tend_a_bank_at_once(web: Web, twin: Web) -> None:
    facts = web.insert(at(0), at(1))
    web.queue(facts[0])

    def look_in(left: Iterator[float]) -> Callable[[], float]:
        def seconds() -> float:
            if next(left, None) is not None:
                assert twin.maintain() is Maintained.HELD
                web.queue(facts[1])
            return 300.0

        return seconds

    assert web.maintain(look_in(iter([1.0]))) is Maintained.DONE

    assert web.queued() == {}
    assert web.rows("SELECT link_woken, link_lease_until = '-infinity' AS free FROM banks") == [
        {"link_woken": False, "free": True}
    ]


def test_a_worker_whose_lease_ran_out_commits_nothing(web: Web, twin: Web) -> None:
    facts = web.insert(at(0), at(1))
    web.queue(*facts)

    def slept() -> float:
        web.change("UPDATE banks SET link_lease_until = now() - interval '1 second' WHERE link_fence = 1")
        twin.maintain()
        web.queue(*facts)
        return 300.0

    assert web.maintain(slept) is Maintained.SUPERSEDED

    assert web.queued() == {"fact": set(facts)}
    assert list(web.neighbours(facts[0], "temporal")) == [facts[1]]


@pytest.mark.parametrize(
    "point", ["links.after_lease", "links.before_commit", "links.after_commit", "links.before_release"]
)
def test_a_worker_that_dies_leaves_work_that_another_finishes(
    web: Web, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = web.insert(at(0), at(1))
    (going,) = web.insert(Unit("Ada rows", entities=("Ada",)))
    web.remove(going)
    web.queue(*facts)

    def strike(reached: str) -> None:
        if reached == point:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(maintenance, "reached", strike)
        with pytest.raises(KeyboardInterrupt):
            web.maintain()
    assert web.maintain() is Maintained.HELD
    web.change("UPDATE banks SET link_lease_until = now() - interval '1 second'")
    assert web.maintain() is Maintained.DONE

    assert list(web.neighbours(facts[0], "temporal")) == [facts[1]]
    assert (web.entities(), web.queued()) == (set(), {})


def test_who_deletes_a_bank_waits_for_the_batch_and_the_rest_is_nobodys_work(
    web: Web, twin: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.queue(*web.insert(*(at(n) for n in range(60))))
    deleting: list[Future[None]] = []

    with ThreadPoolExecutor(1) as pool:

        def delete() -> None:
            with twin.store.transaction(web.tenant) as tx:
                take_away(tx, web.bank_id)

        def renew(links: PostgresLinks, lease: LinkLease, seconds: float) -> bool:
            if not deleting:
                deleting.append(pool.submit(delete))
                until_blocked(web.database)
            return renew_lease(links, lease, seconds)

        renew_lease = PostgresLinks.renew_lease
        monkeypatch.setattr(PostgresLinks, "renew_lease", renew)
        ended = web.maintain()
        deleting[0].result(timeout=60)

    assert ended in {Maintained.SUPERSEDED, Maintained.DONE}
    assert web.rows("SELECT * FROM banks") == []


def test_a_bank_that_is_gone_is_nobodys_work(web: Web) -> None:
    web.change("DELETE FROM banks")

    assert web.maintain() is Maintained.GONE


def test_two_deletes_of_linked_facts_pass_each_other(web: Web, twin: Web) -> None:
    """Case [R128]. Each holds facts that the other's are linked to, and takes links that the other wants to take."""
    left, right = web.insert(at(0), at(2)), web.insert(at(1), at(3))
    web.link([*left, *right])

    with ThreadPoolExecutor(1) as pool, twin.store.transaction(web.tenant) as other:
        with web.store.transaction(web.tenant) as tx:
            _lock(tx, left)
            _lock(other, right)
            tx.links.will_lose(web.bank_id, left)
            losing = pool.submit(other.links.will_lose, web.bank_id, right)
            until_blocked(web.database)
            tx.memories.remove(web.bank_id, left)
        losing.result(timeout=60)
        other.memories.remove(web.bank_id, right)

    assert web.rows("SELECT count(*) AS n FROM memory_units") == [{"n": 0}]
    assert web.rows("SELECT count(*) AS n FROM memory_links") == [{"n": 0}]
    assert web.queued() == {"fact": set(right)}
    web.maintain()
    assert web.queued() == {}


@pytest.mark.parametrize("attempt", range(4))
def test_many_deletes_and_relinks_at_once_meet_no_deadlock(web: Web, attempt: int) -> None:
    """Case [R128]. No pause anywhere: whatever order the server gives them."""
    crowd = web.insert(*(at(n / 60, vector=[1.0], entities=(f"E{n % 5}", f"E{n % 7}x")) for n in range(80)))
    web.link(crowd)
    twins = [web.open_twin() for _ in range(4)]
    shares = [crowd[place::4][:: 1 if place % 2 else -1] for place in range(4)]
    doomed = [share[:15] for share in shares]

    def tend() -> None:
        for _ in range(5):
            web.maintain()

    with ThreadPoolExecutor(5) as pool:
        removals = [pool.submit(_remove_in_steps, one, share) for one, share in zip(twins, doomed, strict=True)]
        tending = pool.submit(tend)
        for future in [*removals, tending]:
            future.result(timeout=60)
    web.maintain()

    left = {row["id"] for row in web.rows("SELECT id FROM memory_units")}
    assert left == set(crowd) - set(chain(*doomed))
    assert all(set(web.neighbours(one, kind)) == left - {one} for one in left for kind in ("temporal", "semantic"))


def _lock(tx: PostgresTransaction, ids: list[UnitId]) -> None:
    """Locks facts as their removal does first of all."""
    tx.session.connection.execute(
        b"SELECT id FROM memory_units WHERE id = ANY (%s::uuid[]) ORDER BY id FOR UPDATE", (ids,)
    )


def _remove_in_steps(worker: Web, ids: list[UnitId]) -> None:
    for start in range(0, len(ids), 5):
        worker.remove(*ids[start : start + 5])
