"""Time in recall: the temporal arm, the window it looks in, and the bounds that leave everything else out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.recalled import RecallAnswer
from hindsight_aws.model.tags import TagFilter, TagsMatch
from hindsight_aws.recall import MinScores, RecallQuery, TimeFilter, fact_types_of
from tests.support.database import Database
from tests.support.recalling import EAST, NORTH, Asking
from tests.support.units import Unit, insert_links, insert_units, make_bank

NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)
YESTERDAY = NOW - timedelta(days=1)
LONG_AGO = NOW - timedelta(days=900)
FAINT = (0.2, 1.0, 0.0)
"""A little like the question's vector: enough for the temporal arm, not for the semantic one."""


def _asked(text: str = "what happened yesterday", **more: Any) -> RecallQuery:
    return RecallQuery(text, now=NOW, with_trace=True, **more)


def _trace(answer: RecallAnswer) -> dict[str, Any]:
    assert answer.trace is not None
    return dict(answer.trace)


def _arm(answer: RecallAnswer, method: str, fact_type: str = "world") -> list[str]:
    """The texts that an arm found of a type, best first."""
    arms = [arm for arm in _trace(answer)["retrieval_results"] if arm["method"] == method]
    return [hit["text"] for arm in arms if arm["fact_type"] == fact_type for hit in arm["results"]]


def _methods(answer: RecallAnswer) -> set[str]:
    return {arm["method"] for arm in _trace(answer)["retrieval_results"]}


def _configure(database: Database, config: str) -> None:
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("UPDATE hindsight.banks SET config = %s::jsonb", (config,))


def test_what_only_its_date_speaks_for_is_found_and_the_trace_shows_the_window(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    units = [Unit("the tram was late", vector=FAINT, mentioned_at=YESTERDAY), Unit("milk", vector=EAST)]
    insert_units(database.admin_url, tenant, bank, units)

    answer = asking.ask(_asked())

    assert [result.unit.text for result in answer.results] == ["the tram was late"]
    assert _arm(answer, "temporal") == ["the tram was late"]
    assert _trace(answer)["query"]["temporal_constraint"] == {
        "start": "2026-03-10T00:00:00+00:00",
        "end": "2026-03-10T23:59:59.999999+00:00",
    }
    assert [window["text"] for window in _trace(answer)["query"]["temporal_windows"]] == ["yesterday"]


def test_a_question_without_time_has_three_arms(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q031]."""
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH, mentioned_at=YESTERDAY)])

    answer = asking.ask(_asked("tea"))

    assert _methods(answer) == {"semantic", "bm25", "graph"}
    assert _trace(answer)["query"]["temporal_constraint"] is None


@pytest.mark.parametrize(
    ("start", "end", "mentioned", "is_found"),
    [
        pytest.param(YESTERDAY, None, LONG_AGO, True, id="it began then"),
        pytest.param(LONG_AGO, YESTERDAY, LONG_AGO, True, id="it ended then"),
        pytest.param(LONG_AGO, NOW + timedelta(days=9), LONG_AGO, True, id="it lasted all the while"),
        pytest.param(None, YESTERDAY, LONG_AGO, True, id="only its end is known"),
        pytest.param(LONG_AGO, LONG_AGO, YESTERDAY, True, id="it was told of then"),
        pytest.param(LONG_AGO, LONG_AGO + timedelta(days=1), LONG_AGO, False, id="it was over by then"),
        pytest.param(NOW, NOW + timedelta(days=1), NOW, False, id="it came after"),
        pytest.param(None, None, None, False, id="nobody knows"),
    ],
)
def test_a_memory_is_of_a_time_if_it_touches_it(
    database: Database,
    tenant: TenantId,
    bank: BankId,
    asking: Asking,
    start: datetime | None,
    end: datetime | None,
    mentioned: datetime | None,
    is_found: bool,
) -> None:
    unit = Unit("rain", vector=FAINT, occurred_start=start, occurred_end=end, mentioned_at=mentioned)
    insert_units(database.admin_url, tenant, bank, [unit, Unit("tram", vector=NORTH)])
    day = (datetime(2026, 3, 10, tzinfo=UTC), datetime(2026, 3, 10, 23, 59, tzinfo=UTC))

    assert _arm(asking.ask(_asked()), "temporal") == (["rain"] if is_found else [])
    assert asking.texts(RecallQuery("rain", times=TimeFilter(only_between=day))) == (["rain"] if is_found else [])


def test_a_given_window_takes_the_place_of_the_words(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q039]."""
    units = [Unit("old", vector=FAINT, mentioned_at=LONG_AGO), Unit("new", vector=FAINT, mentioned_at=YESTERDAY)]
    insert_units(database.admin_url, tenant, bank, units)

    answer = asking.ask(_asked(temporal_window=(LONG_AGO, LONG_AGO)))

    assert _arm(answer, "temporal") == ["old"]
    assert _trace(answer)["query"]["temporal_constraint"] == {
        "start": LONG_AGO.isoformat(),
        "end": LONG_AGO.isoformat(),
    }


def test_a_bank_may_turn_its_temporal_arm_off(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q040]."""
    insert_units(database.admin_url, tenant, bank, [Unit("rain", vector=FAINT, mentioned_at=YESTERDAY)])
    _configure(database, '{"enable_temporal_retrieval": false}')

    for query in (_asked(), _asked(temporal_window=(YESTERDAY, YESTERDAY))):
        answer = asking.ask(query)
        assert "temporal" not in _methods(answer)
        assert _trace(answer)["query"]["temporal_constraint"] is None
        assert answer.results == ()


def test_either_of_two_times_is_enough(database: Database, tenant: TenantId, bank: BankId, asking: Asking) -> None:
    insert_units(
        database.admin_url, tenant, bank,
        [
            Unit("winter", vector=FAINT, mentioned_at=datetime(2025, 1, 10, 9, tzinfo=UTC)),
            Unit("spring", vector=FAINT, mentioned_at=datetime(2026, 3, 4, tzinfo=UTC)),
            Unit("summer", vector=FAINT, mentioned_at=datetime(2025, 7, 1, tzinfo=UTC)),
        ],
    )  # fmt: skip

    answer = asking.ask(_asked("on 2025-01-10 and last week"))

    assert set(_arm(answer, "temporal")) == {"winter", "spring"}
    assert len(_trace(answer)["query"]["temporal_windows"]) == 2


def test_a_crowd_of_one_day_gives_its_ten_most_similar(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q032]."""
    units = [
        Unit(f"rain {number}", vector=(1.0, number / 10, 0.0), mentioned_at=datetime(2026, 3, 10, 12, tzinfo=UTC))
        for number in range(200)
    ]
    insert_units(database.admin_url, tenant, bank, units)

    assert set(_arm(asking.ask(_asked()), "temporal")) == {f"rain {number}" for number in range(10)}


def test_a_week_gives_some_of_each_of_its_parts(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q033]."""
    start, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC)
    crowd = [
        Unit(f"monday {number}", vector=(1.0, number / 100, 0.0), mentioned_at=start + timedelta(hours=number % 24))
        for number in range(30)
    ]
    days = [Unit(f"day {day}", vector=FAINT, mentioned_at=start + timedelta(days=day, hours=9)) for day in range(1, 8)]
    insert_units(database.admin_url, tenant, bank, crowd + days)

    found = set(_arm(asking.ask(_asked("rain", temporal_window=(start, end))), "temporal"))

    assert len(found) == 10
    assert {day.text for day in days} <= found


def test_a_floor_of_the_semantic_arm_leaves_the_temporal_arm_alone(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q018]."""
    insert_units(database.admin_url, tenant, bank, [Unit("rain", vector=FAINT, mentioned_at=YESTERDAY)])

    (only,) = asking.ask(_asked(min_scores=MinScores(semantic=0.9))).results

    assert only.scores.semantic is None


def test_endless_dates_of_old_rows_count_as_unknown(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q038]."""
    units = [Unit("tea", vector=NORTH), Unit("milk", vector=NORTH, mentioned_at=YESTERDAY)]
    insert_units(database.admin_url, tenant, bank, units)
    with _before_the_rule(database) as admin:
        admin.execute("UPDATE hindsight.memory_units SET occurred_start = 'infinity', event_date = 'infinity'")
        admin.execute("UPDATE hindsight.memory_units SET occurred_end = '-infinity' WHERE text = 'tea'")
        admin.execute("UPDATE hindsight.memory_units SET occurred_end = 'infinity' WHERE text = 'milk'")

    answer = asking.ask(_asked())

    assert {result.unit.text for result in answer.results} == {"tea", "milk"}
    assert {result.unit.occurred_start for result in answer.results} == {None}
    assert _arm(answer, "temporal") == ["milk"]


@contextmanager
def _before_the_rule(database: Database) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A transaction of the time before the rule that no date is endless; it asks nothing of rows that are there."""
    rule = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'memory_units_finite_dates'"
    with psycopg.connect(database.admin_url) as admin:
        (definition,) = admin.execute(rule).fetchone() or ("",)
        admin.execute("ALTER TABLE hindsight.memory_units DROP CONSTRAINT memory_units_finite_dates")
        yield admin
        admin.execute(
            f"ALTER TABLE hindsight.memory_units ADD CONSTRAINT memory_units_finite_dates {definition}".encode()
        )


def test_no_new_row_has_an_endless_date(database: Database, tenant: TenantId, bank: BankId) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea")])

    with psycopg.connect(database.admin_url) as admin, pytest.raises(psycopg.errors.CheckViolation):
        admin.execute("UPDATE hindsight.memory_units SET occurred_end = 'infinity'")


def test_a_link_leads_on_from_what_the_window_holds(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    rain = Unit("rain", vector=FAINT, mentioned_at=YESTERDAY)
    flood, drought, hidden = (
        Unit(text, vector=FAINT, mentioned_at=LONG_AGO, tags=tags)
        for text, tags in (("flood", ("a",)), ("drought", ("a",)), ("secret", ("b",)))
    )
    unlike = Unit("tram", vector=EAST, mentioned_at=LONG_AGO, tags=("a",))
    insert_units(database.admin_url, tenant, bank, [rain, flood, drought, hidden, unlike])
    insert_links(
        database.admin_url, tenant, bank,
        [
            (rain.id, flood.id, "causes", 0.9),
            (drought.id, rain.id, "temporal", 0.5),
            (rain.id, hidden.id, "causes", 1.0),
            (rain.id, unlike.id, "causes", 1.0),
        ],
    )  # fmt: skip

    answer = asking.ask(_asked(tags=TagFilter.flat(["a"])))

    assert _arm(answer, "temporal") == ["flood", "rain", "drought"]


def test_the_arm_keeps_to_tags_types_and_bank(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    other = make_bank(database.admin_url, tenant, "next")
    insert_units(database.admin_url, tenant, other, [Unit("elsewhere", vector=FAINT, mentioned_at=YESTERDAY)])
    insert_units(
        database.admin_url, tenant, bank,
        [
            Unit("mine", vector=FAINT, mentioned_at=YESTERDAY, tags=("a",)),
            Unit("hers", vector=FAINT, mentioned_at=YESTERDAY, tags=("b",)),
            Unit("seen", "experience", vector=FAINT, mentioned_at=YESTERDAY, tags=("a",)),
        ],
    )  # fmt: skip
    tags = TagFilter.flat(["a"], TagsMatch.ANY_STRICT)

    assert asking.texts(_asked(tags=tags, fact_types=fact_types_of(["world"]))) == ["mine"]


def test_being_of_the_time_asked_about_lifts_what_other_arms_found(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q043]."""
    noon = datetime(2026, 3, 10, 12, tzinfo=UTC)
    units = [
        Unit("tea", vector=NORTH, mentioned_at=noon - timedelta(days=2)),
        Unit("tea or so", vector=NORTH, mentioned_at=noon),
    ]
    insert_units(database.admin_url, tenant, bank, units)

    plain = asking.ask(_asked("tea"))
    timed = asking.ask(_asked("tea yesterday"))

    lifted = {hit.unit.text: hit.scores.final for hit in timed.results}
    before = {hit.unit.text: hit.scores.final for hit in plain.results}
    assert lifted["tea or so"] > before["tea or so"] * 1.09
    merged = {candidate["text"]: candidate for candidate in _trace(timed)["rrf_merged"]}
    assert merged["tea or so"]["temporal_proximity"] == pytest.approx(1.0, abs=0.01)
    assert {"semantic", "keyword", "temporal"} == set(merged["tea or so"]["source_ranks"])


@pytest.mark.parametrize("text", ["what runs on port 9077", "issue 2031 status", "what may Alice do"])
def test_what_is_no_date_makes_no_window(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking, text: str
) -> None:
    """[Q076]."""
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH)])

    assert _trace(asking.ask(_asked(text)))["query"]["temporal_constraint"] is None


def test_the_time_of_the_last_change_bounds_every_arm(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q026] in every arm: both bounds are excluded."""
    seed = Unit("tea", vector=NORTH, entities=("Mara",), tags=("a",), mentioned_at=YESTERDAY)
    late = Unit("tea leaves", vector=NORTH, entities=("Mara",), tags=("a",), mentioned_at=YESTERDAY)
    linked = Unit("cups", vector=EAST, entities=("Mara",), tags=("a",), mentioned_at=LONG_AGO)
    insert_units(database.admin_url, tenant, bank, [seed, late, linked])
    bound = datetime(2026, 3, 1, tzinfo=UTC)
    _change(database, {seed.id: bound + timedelta(seconds=1), late.id: bound, linked.id: bound})

    for tags in (TagFilter(), TagFilter.flat(["a"], TagsMatch.ANY_STRICT)):
        after = asking.ask(_asked("tea yesterday", tags=tags, times=TimeFilter(updated_after=bound)))
        before = asking.ask(
            _asked("tea yesterday", tags=tags, times=TimeFilter(updated_before=bound + timedelta(seconds=1)))
        )

        assert [hit.unit.text for hit in after.results] == ["tea"]
        for method in ("semantic", "bm25", "temporal"):
            assert _arm(after, method) == ["tea"]
        assert {hit.unit.text for hit in before.results} == {"tea leaves", "cups"}
        assert _arm(before, "graph") == ["cups"]


def _change(database: Database, changed: dict[UUID, datetime]) -> None:
    with psycopg.connect(database.admin_url) as admin:
        for unit_id, at in changed.items():
            admin.execute("UPDATE hindsight.memory_units SET updated_at = %s WHERE id = %s", (at, unit_id))


def test_only_between_leaves_everything_else_out_of_every_arm(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    seed = Unit("tea", vector=NORTH, entities=("Mara",), mentioned_at=YESTERDAY)
    old = Unit("tea once", vector=NORTH, entities=("Mara",), mentioned_at=LONG_AGO)
    undated = Unit("tea at some time", vector=NORTH, entities=("Mara",))
    insert_units(database.admin_url, tenant, bank, [seed, old, undated])

    answer = asking.ask(_asked("tea", times=TimeFilter(only_between=(YESTERDAY, YESTERDAY))))

    assert [hit.unit.text for hit in answer.results] == ["tea"]
    assert _arm(answer, "semantic") == _arm(answer, "bm25") == ["tea"]
    assert _arm(answer, "graph") == []


def test_the_trace_times_each_arm(database: Database, tenant: TenantId, bank: BankId, asking: Asking) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH, mentioned_at=YESTERDAY)])

    arms = _trace(asking.ask(_asked("tea yesterday")))["retrieval_results"]

    assert {(arm["method"], arm["candidates"]) for arm in arms} >= {("semantic", 1), ("bm25", 1), ("temporal", 1)}
    assert all(arm["duration_seconds"] > 0 for arm in arms)
