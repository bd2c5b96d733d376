"""What a request may hold, and what it becomes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.errors import InvalidField, InvalidRequest, TooLarge
from hindsight_aws.retain import EntityHint, RetainItem, RetainRequest, read_timestamp
from hindsight_aws.retain.intake.accept import accept
from hindsight_aws.retain.intake.accepted import from_json, to_json

_NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_ITEM = RetainItem("Some text.")


def _accept(*items: RetainItem, may_fold: bool = True, **fields: Any) -> Any:
    return accept(RetainRequest(items, **fields), _NOW, may_fold=may_fold)


def _part(**fields: Any) -> Any:
    (task,) = _accept(replace(_ITEM, **fields))
    return task.parts[0]


@pytest.mark.parametrize("content", ["", " \n\t", "\x00\x00", "\u200b\ufeff", "\ud83d"], ids=repr)
def test_content_that_shows_nothing_is_refused_by_name(content: str) -> None:
    with pytest.raises(InvalidField, match=r"items\[1\]\.content must hold text"):
        _accept(_ITEM, RetainItem(content))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"document_id": "d" * 513}, "document_id"),
        ({"tags": ("t" * 513,)}, r"tags"),
        ({"tags": tuple(str(number) for number in range(101))}, "tags"),
        ({"entities": (EntityHint("e" * 513),)}, r"entities\[0\]\.text"),
        ({"observation_scopes": "all"}, "observation_scopes"),
        ({"observation_scopes": "all_combinations", "tags": tuple("abcdef")}, "observation_scopes"),
        ({"metadata": {"k": 1}}, r"metadata\.k"),
        ({"timestamp": datetime(9999, 1, 1, tzinfo=UTC)}, "timestamp"),
        ({"timestamp": datetime(1, 1, 1, tzinfo=UTC)}, "timestamp"),
    ],
    ids=["document", "tag", "tags", "entity", "mode", "C015-combinations", "metadata", "year-9999", "year-1"],
)
def test_a_field_over_its_limit_is_refused_by_name(fields: Any, named: str) -> None:
    with pytest.raises(InvalidField, match=rf"items\[0\]\.{named}"):
        _part(**fields)


def test_sizes_are_bounded() -> None:
    with pytest.raises(TooLarge, match=r"items\[0\]\.content"):
        _part(content="é" * 2_500_001)
    with pytest.raises(TooLarge, match="at most 1000"):
        _accept(*[_ITEM] * 1001)


def test_labels_are_cleaned() -> None:
    part = _part(
        tags=(" a ", "b\x00", "a", "", "\u200b"),
        metadata={"k\x00": "v\x00", "gone": None},
        entities=(EntityHint("  Ana\x00  Lee "), EntityHint(" ")),
        context="\x00 ",
    )

    assert part.tags == ("a", "b")
    assert part.metadata == {"k": "v"}
    assert part.entities == ("Ana Lee",)
    assert part.context is None


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("unset", "unset"), ("UNSET", "unset"), ("", None), (None, None),
        ("2024-01-15", datetime(2024, 1, 15, tzinfo=UTC)), ("20240115", datetime(2024, 1, 15, tzinfo=UTC)),
        ("2024-W03-1", datetime(2024, 1, 15, tzinfo=UTC)),
        ("2024-01-15T10:00:00.123456789Z", datetime(2024, 1, 15, 10, 0, 0, 123456, tzinfo=UTC)),
        ("2024-02-29T10:00+05:30", datetime(2024, 2, 29, 4, 30, tzinfo=UTC)),
    ],
)  # fmt: skip
def test_timestamps_are_read(raw: str | None, expected: Any) -> None:
    assert read_timestamp(raw, "items[0].timestamp") == expected


@pytest.mark.parametrize(
    "raw",
    [
        "15/01/2024",
        "tomorrow",
        "0001-01-01",
        "9999-12-31",
        "now",
        "1705312800",
        "9998-12-31T23:59:59-12:00",
        "0002-01-01T00:00:00+12:00",
        "9999-12-31T23:59:59-12:00",
    ],
)
def test_what_is_no_time_is_refused_by_name(raw: str) -> None:
    with pytest.raises(InvalidField, match=r"items\[0\]\.timestamp"):
        read_timestamp(raw, "items[0].timestamp")


def test_an_item_is_dated_when_it_comes_in_and_keeps_its_offset() -> None:
    zone = timezone(timedelta(hours=-5))

    assert (_part().happened, _part().is_dated) == (_NOW, False)
    assert _part(timestamp="unset").happened is None
    assert _part(timestamp=datetime(2026, 6, 1, 19, tzinfo=zone)).happened.utcoffset() == timedelta(hours=-5)


def test_items_without_ids_share_a_document() -> None:
    (task,) = _accept(_ITEM, _ITEM)

    assert (task.external_id, len(task.parts)) == (None, 2)


def test_items_without_ids_share_a_document_with_those_of_their_strategy() -> None:
    """A document is read under one strategy: that of another item would be lost."""
    of_a, of_b = replace(_ITEM, strategy="a"), replace(_ITEM, strategy="b")

    tasks = _accept(of_a, of_b, _ITEM, of_a)

    assert [[(part.position, part.strategy) for part in task.parts] for task in tasks] == [
        [(0, "a"), (3, "a")], [(1, "b")], [(2, None)],
    ]  # fmt: skip
    assert [task.place for task in tasks] == [0, 1, 2]


def test_items_of_one_id_have_one_strategy() -> None:
    with pytest.raises(InvalidRequest, match=r"items\[1\]\.strategy must be that of the document's other items"):
        _accept(replace(_ITEM, document_id="d", strategy="a"), replace(_ITEM, document_id="d"))


def test_items_stand_alone_once_one_has_an_id() -> None:
    tasks = _accept(_ITEM, replace(_ITEM, document_id="d"), _ITEM)

    assert [(task.external_id, task.place) for task in tasks] == [(None, 0), ("d", 1), (None, 2)]


def test_items_of_one_id_are_folded_or_refused() -> None:
    twice = (replace(_ITEM, document_id="d"), replace(_ITEM, document_id="d"))

    (task,) = _accept(*twice)
    assert len(task.parts) == 2
    with pytest.raises(InvalidRequest, match="occurs twice"):
        _accept(*twice, may_fold=False)


def test_an_append_needs_a_document() -> None:
    with pytest.raises(InvalidRequest, match="requires a document_id"):
        _part(update_mode="append")


_OFFSETS = st.integers(-720, 840).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=_OFFSETS)  # noqa: DTZ001  bounds are naive
_SCOPES = st.sampled_from([None, "shared", (("a", "b*"), ())])


@given(st.text(), _SCOPES, _MOMENTS)
def test_what_was_accepted_survives_its_row(context: str, scopes: Any, moment: datetime) -> None:
    tasks = _accept(replace(_ITEM, context=context, observation_scopes=scopes, timestamp=moment, tags=("a",)))

    assert list(from_json(json.loads(json.dumps(to_json(tasks))))) == tasks
