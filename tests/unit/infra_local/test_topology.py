"""The table refuses to contradict itself."""

from dataclasses import replace

import pytest

from hindsight_aws.api.app import GROUPS
from infra.topology import (
    TOPOLOGY,
    DatabaseRole,
    Function,
    Queue,
    QueueTrigger,
    Route,
    ScheduleTrigger,
    Topology,
    TopologyError,
    Trigger,
)


def function(name: str, *triggers: Trigger, timeout: int = 10) -> Function:
    return Function(name, triggers, timeout, 128, 1, DatabaseRole.READ)


def test_every_queue_of_the_product_has_a_consumer_and_every_url_a_setting_of_its_own() -> None:
    consumed = {trigger.queue for _, trigger in TOPOLOGY.each(QueueTrigger)}

    assert consumed == {queue.name for queue in TOPOLOGY.queues}
    assert TOPOLOGY.queue("ingest").url_setting == "HINDSIGHT_QUEUE_INGEST_URL"


def test_a_worker_whose_jobs_take_minutes_gets_one_message_at_a_time() -> None:
    batches = {
        worker.name: trigger.batch_size for worker, trigger in TOPOLOGY.each(QueueTrigger) if worker.timeout >= 300
    }

    assert batches == {"ingest": 1, "convert": 1, "transfer": 1, "consolidate": 1}


def test_only_recall_reads_without_the_right_to_write() -> None:
    readers = {function.name for function in TOPOLOGY.functions if function.database_role is DatabaseRole.READ}

    assert readers == {"recall"}
    assert DatabaseRole.READ.database_user == "hindsight_read"


def test_what_has_the_internet_has_no_database_and_what_has_none_has_the_internet() -> None:
    outside = [function for function in TOPOLOGY.functions if function.internet]

    assert [function.name for function in outside] == ["send"]
    for wrong in (replace(outside[0], database_role=DatabaseRole.WRITE), replace(outside[0], internet=False)):
        with pytest.raises(TopologyError, match="either a database role or the internet"):
            Topology((wrong,), TOPOLOGY.queues)


def test_a_queue_that_shows_messages_too_early_is_refused() -> None:
    worker = function("worker", QueueTrigger("work"), timeout=60)

    with pytest.raises(TopologyError, match="360 s"):
        Topology((worker,), (Queue("work", visibility=359),))


@pytest.mark.parametrize(
    ("functions", "named"),
    [
        ((function("a"), function("a")), "function named twice: a"),
        ((function("a", Route("GET", "/x")), function("b", Route("GET", "/x"))), "route named twice"),
        ((function("a", QueueTrigger("q")), function("b", QueueTrigger("q"))), "consumer of queue named twice"),
        ((function("a", ScheduleTrigger("t", 1)), function("b", ScheduleTrigger("t", 1))), "schedule named twice"),
        ((function("a", QueueTrigger("other")),), "no queue named 'other'"),
        ((replace(function("a"), sends_to=("other",)),), "no queue named 'other'"),
    ],
)
def test_a_contradiction_is_refused_by_name(functions: tuple[Function, ...], named: str) -> None:
    with pytest.raises(TopologyError, match=named):
        Topology(functions, (Queue("q", visibility=60),))


def test_whoever_may_end_an_operation_wakes_what_tells_of_it() -> None:
    ending = {"retain", "consolidation"}

    silent = [
        name
        for name, routers in GROUPS.items()
        if ending & set(routers) and "deliver" not in TOPOLOGY.function(name).sends_to
    ]

    assert silent == []
