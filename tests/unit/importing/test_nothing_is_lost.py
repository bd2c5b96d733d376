"""Whatever an export holds, it comes out whole, in its order, and as a retain takes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsight_aws.importing import Reading, read_mem0, read_zep
from hindsight_aws.importing.fitting import fitted
from hindsight_aws.importing.turns import parts
from hindsight_aws.retain import RetainItem, RetainRequest
from hindsight_aws.retain.intake.accept import accept

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ZONES = ("Z", "+02:00", "-09:30")
_words = some.text(min_size=1, max_size=12)
_long = some.builds(lambda word, times: word * times, _words, some.sampled_from([1, 50, 900]))


def _take(reading: Reading) -> None:
    for record in reading.records:
        _accept(
            RetainItem(record.content, document_id=record.document_id, metadata=dict(record.metadata), tags=record.tags)
        )


def _accept(item: RetainItem) -> None:
    accept(RetainRequest((item,)), NOW, may_fold=False)


@given(_long, some.lists(_long, max_size=8), some.dictionaries(_long, _long, max_size=8))
def test_what_is_fitted_is_what_a_retain_takes(content: str, tags: list[str], metadata: dict[str, str]) -> None:
    fit = fitted(content, tags, metadata)

    if fit.problem is None:
        _accept(RetainItem(fit.content, metadata=dict(fit.metadata or {}), tags=fit.tags))
        told = fit.content + "".join(fit.metadata or {}) + "".join((fit.metadata or {}).values())
        assert all(name in told and value in told for name, value in metadata.items())


@given(some.lists(some.tuples(some.integers(0, 9), some.sampled_from(ZONES), some.integers(0, 400_000)), max_size=12))
def test_messages_are_cut_into_documents_in_their_order_and_none_is_lost(drawn: list[tuple[int, str, int]]) -> None:
    messages = [
        {"content": "字" * size, "uuid": place, "created_at": f"2026-03-0{1 + day % 9}T10:00:00{zone}"}
        for place, (day, zone, size) in enumerate(drawn)
    ]

    cut = list(parts(messages))

    whole = [message for one in cut for message in one]
    assert whole == sorted(messages, key=lambda each: datetime.fromisoformat(str(each["created_at"])))
    assert all(len(one) == 1 or len(json.dumps(one, ensure_ascii=False).encode()) < 1_100_000 for one in cut)


@pytest.mark.parametrize(
    "more",
    [{"metadata": {"a": "b" * 9_000}}, {"blob": "z" * 300_000}, {"content": "字" * 400_000}],
    ids=["metadata", "unknown-field", "content"],
)
def test_no_conversation_is_too_long_that_can_be_several(more: dict[str, object]) -> None:
    messages = [{"role": "user", "content": "字" * 20_000, "uuid": str(n)} | more for n in range(40)]

    reading = read_zep([{"threads": [{"thread_id": "t", "messages": messages}]}])

    assert (reading.skipped, reading.counts["messages"]) == ([], 40)
    _take(reading)


@pytest.mark.parametrize(
    ("read", "record"),
    [
        (read_mem0, {"memory": "x", "hash": "one", "mood": "two", "mem0_mood": "three"}),
        (read_zep, {"content": "x", "source": "one", "mood": "two", "zep_mood": "three"}),
    ],
    ids=["mem0", "zep"],
)
def test_fields_that_come_to_one_name_are_all_kept(
    read: Callable[[list[object]], Reading], record: dict[str, object]
) -> None:
    own = {"mem0_mood": "four", "zep_mood": "five", "mem0_hash": "six", "ze\x00p_source": "seven"}

    [found] = read([[record | {"metadata": own}]]).records

    told = found.content + "".join(found.metadata.values())
    assert all(word in told for word in ("one", "two", "three", "four", "five", "six", "seven"))


def test_a_number_past_all_time_is_no_time() -> None:
    [record] = read_mem0([[{"memory": "x", "created_at": 10**400}]]).records

    assert record.timestamp is None
