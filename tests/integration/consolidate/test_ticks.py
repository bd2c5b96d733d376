"""A schedule's tick comes at least once: two sweeps of one tick, at once or in turn, do what one does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from hindsight_aws.store.postgres import PostgresStore
from tests.support.consolidation import Workshop
from tests.support.invariants import broken
from tests.support.models import NotedWakeups
from tests.support.rebuilding import drain_woken, listening
from tests.support.sweeping import sweep_once


def test_a_tick_that_is_delivered_twice_at_once_costs_no_second_call_and_loses_nothing(workshop: Workshop) -> None:
    """Of each kind the sweep itself writes to: a failed fact to revive, a request that has ended, a window to open."""
    listening(workshop).remember("A is red.", tags=["a"])
    workshop.drain("a")
    workshop.remember("B is red.", tags=["b"])
    workshop.remember("C is red.", tags=["c"])
    workshop.sql(
        "UPDATE consolidation_work SET state = 'failed', revivals = 1, failed_at = now() - interval '1 day' "
        "WHERE scope_id = %s",
        workshop.scope("b"),
    )
    workshop.sql(
        "UPDATE scopes SET unmeasured_since = now() - interval '9 days' WHERE scope_id = %s", workshop.scope("a")
    )
    workshop.sql(
        "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, subject, payload) "
        "VALUES (%s, %s, gen_random_uuid(), 'consolidation', 's', '{\"scope_ids\": []}')",
        workshop.tenant, workshop.bank_id,
    )  # fmt: skip
    stores = [PostgresStore(lambda: workshop.database.write_url, connect_for_s=30.0) for _ in range(2)]
    noted, both = [NotedWakeups(), NotedWakeups()], Barrier(2)
    calls = len(workshop.model.calls)

    def tick(number: int) -> None:
        both.wait(60)
        sweep_once(stores[number], noted[number], workshop.settings)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(tick, range(2)))
    for store in stores:
        store.close()
    workshop.wakeups.scopes.extend([*noted[0].scopes, *noted[1].scopes])
    drain_woken(workshop)

    assert len(workshop.model.calls) - calls == 2
    assert [len(workshop.observations(tag)) for tag in "abc"] == [1, 1, 1]
    assert workshop.sql("SELECT count(*) AS windows FROM compactions") == [{"windows": 1}]
    assert workshop.sql("SELECT status FROM operations") == [{"status": "completed"}]
    assert workshop.sql("SELECT count(*) AS told FROM webhook_events") == [{"told": 1}]
    with workshop.watching() as rows:
        assert broken(rows, [workshop.bank_id]) == []
