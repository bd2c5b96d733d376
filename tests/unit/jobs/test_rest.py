"""When a paused database is left alone, and that no order of marks and sweeps leaves work behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.errors import DatabaseUnavailable, FilesUnavailable
from hindsight_aws.jobs.rest import LONGEST_REST, sweep_if_wanted
from hindsight_aws.jobs.sweep import SweepReport
from hindsight_aws.ports.marks import Swept
from hindsight_aws.ports.store import DueBy
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SETTINGS = Settings(hindsight_environment="local")
TICK = timedelta(minutes=5)


@dataclass
class Marks:
    """Both marks in memory; `lost`: the bucket does not answer."""

    touched: datetime | None = None
    last: Swept | None = None
    lost: bool = False
    read_only: bool = False

    def touched_at(self) -> datetime | None:
        if self.lost:
            raise FilesUnavailable("no answer")
        return self.touched

    def swept(self) -> Swept | None:
        if self.lost:
            raise FilesUnavailable("no answer")
        return self.last

    def note(self, swept: Swept) -> None:
        if self.lost or self.read_only:
            raise FilesUnavailable("no answer")
        self.last = swept


@dataclass
class Rows:
    """A database: rows that are due at these times.  Counts how often it was asked, which wakes it."""

    due: list[datetime] = field(default_factory=list)
    asked: int = 0

    def next_due(self, due_by: DueBy) -> datetime | None:
        return min(self.due, default=None)


def tick(
    marks: Marks | None, rows: Rows, now: datetime, *, settings: Settings = SETTINGS, always: bool = False
) -> bool:
    """One tick, whose sweep does what is due; whether the database was asked."""
    before = rows.asked

    def do() -> SweepReport:
        rows.asked += 1
        rows.due = [at for at in rows.due if at > now]
        return SweepReport({})

    sweep_if_wanted(marks, rows, settings, now, do, always=always)  # type: ignore[arg-type]  # the part of a store that is asked
    return rows.asked > before


def rested(due: datetime | None = None) -> Marks:
    """Marks after a sweep ten minutes ago, since which nobody came."""
    marks = Marks(touched=NOW - timedelta(hours=1))
    tick(marks, Rows([due] if due else []), NOW - 2 * TICK)
    return marks


def test_a_database_in_which_nothing_is_due_is_left_alone() -> None:
    assert not tick(rested(), Rows(), NOW)
    assert not tick(rested(due=NOW + timedelta(seconds=1)), Rows(), NOW)


def _lost(marks: Marks) -> None:
    marks.lost = True


def _touched(marks: Marks) -> None:
    marks.touched = NOW - TICK


def _forgotten(marks: Marks) -> None:
    marks.last = None


@pytest.mark.parametrize(
    "change", [_lost, _touched, _forgotten], ids=["marks are lost", "somebody came", "never swept"]
)
def test_a_database_is_asked_when_the_marks_do_not_speak_against_it(change: Callable[[Marks], None]) -> None:
    marks = rested()

    change(marks)

    assert tick(marks, Rows(), NOW)


def test_a_database_is_asked_when_its_next_row_is_due() -> None:
    assert tick(rested(due=NOW), Rows(), NOW)


def test_a_database_is_asked_after_the_longest_rest_and_when_a_clock_went_back() -> None:
    marks = rested()

    assert not tick(marks, Rows(), NOW - 2 * TICK + LONGEST_REST - timedelta(seconds=1))
    assert tick(marks, Rows(), NOW - 2 * TICK + LONGEST_REST)
    assert tick(rested(), Rows(), NOW - 3 * TICK)


def test_a_database_is_asked_when_an_operator_says_so_or_the_server_takes_other_things_for_due() -> None:
    other = Settings(hindsight_environment="local", hindsight_api_enable_auto_consolidation=False)

    assert tick(rested(), Rows(), NOW, always=True)
    assert tick(rested(), Rows(), NOW, settings=other)


def test_without_marks_the_database_is_asked_at_each_tick() -> None:
    assert tick(None, Rows(), NOW)


def test_a_sweep_that_failed_or_could_not_be_noted_is_done_again() -> None:
    broken, unheard = rested(due=NOW), rested(due=NOW)
    unheard.read_only = True

    def fail() -> SweepReport:
        raise DatabaseUnavailable("resuming")

    with pytest.raises(DatabaseUnavailable):
        sweep_if_wanted(broken, Rows(), SETTINGS, NOW, fail)  # type: ignore[arg-type]  # the part of a store that is asked
    tick(unheard, Rows(), NOW)

    assert tick(broken, Rows(), NOW + TICK)
    assert tick(unheard, Rows(), NOW + TICK)


@given(
    commits=st.lists(
        st.tuples(st.integers(0, 3_600), st.integers(0, 110), st.integers(-30, 9_000)), min_size=1, max_size=8
    ),
    shift=st.integers(0, 299),
    skew=st.integers(-2, 2),
)
def test_no_work_waits_longer_than_ten_minutes_after_it_is_due(
    commits: list[tuple[int, int, int]], shift: int, skew: int
) -> None:
    """Each commit: when, how long after its mark, and in how many seconds its row is due."""
    marks, rows, waiting = Marks(), Rows(), sorted(commits)
    now = start = NOW + timedelta(seconds=shift)
    worst = timedelta(0)
    for number in range(48):
        now = start + number * TICK
        seconds = (now - NOW).total_seconds()
        for at, lag, due_in in [each for each in waiting if each[0] <= seconds]:
            rows.due.append(NOW + timedelta(seconds=at + due_in))
            marks.touched = max(marks.touched or NOW, NOW + timedelta(seconds=at - lag + skew))
            waiting.remove((at, lag, due_in))
        for at, lag, _ in waiting:
            if at - lag + skew <= seconds:
                marks.touched = max(marks.touched or NOW, NOW + timedelta(seconds=at - lag + skew))
        if not tick(marks, rows, now):
            worst = max([worst, *(now - at for at in rows.due)])

    assert worst <= timedelta(minutes=10)
    assert [at for at in rows.due if at <= now - timedelta(minutes=10)] == []
    assert rows.asked < 48


def test_a_mark_is_set_before_a_transaction_and_whatever_becomes_of_it() -> None:
    class Mark:
        touched = 0

        def touch(self) -> None:
            self.touched += 1

    mark = Mark()
    store = PostgresStore(lambda: "host=/nowhere", connect_for_s=0.01, mark=mark)

    with pytest.raises(DatabaseUnavailable), store.transaction(SETTINGS.hindsight_dev_tenant):  # type: ignore[arg-type]  # none is reached
        raise AssertionError("nothing is there to connect to")

    assert mark.touched == 1
