"""A database that pauses: how long it is waited for, and what lets it pause at all."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from types import SimpleNamespace

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from hindsight_aws.errors import DatabaseUnavailable
from hindsight_aws.settings import Settings
from hindsight_aws.store import connection
from hindsight_aws.store.connection import ConnectionHolder

_GATEWAY_S = 30.0
_CONNECT_S = 5.0


class Clock:
    """Time that passes only by sleeping and by failing to connect."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(connection, "time", made)
    monkeypatch.setattr(connection, "register_vector", lambda _: None)
    return made


def _database(clock: Clock, resumes_at: float, refuses_after: float) -> Callable[..., object]:
    """One that is there from a moment on, and before it refuses after so many seconds."""

    def connect(_conninfo: str, **options: object) -> object:
        if clock.now >= resumes_at:
            return SimpleNamespace(
                closed=False, prepare_threshold=2, info=SimpleNamespace(transaction_status=TransactionStatus.IDLE)
            )
        assert options["connect_timeout"] == _CONNECT_S
        clock.now += refuses_after
        raise psycopg.OperationalError("the database system is starting up")

    return connect


@pytest.mark.parametrize("refuses_after", [0.01, _CONNECT_S], ids=["refused", "no-answer"])
def test_a_database_that_resumes_in_time_is_waited_for(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, refuses_after: float
) -> None:
    monkeypatch.setattr(psycopg, "connect", _database(clock, 15.0, refuses_after))
    holder = ConnectionHolder(lambda: "", Settings().hindsight_database_connect_seconds)

    first, second = holder.get(), holder.get()

    assert first is second
    assert clock.now < 15.0 + 1.0 + _CONNECT_S


@pytest.mark.parametrize("refuses_after", [0.01, _CONNECT_S], ids=["refused", "no-answer"])
def test_one_that_does_not_is_told_before_the_gateway_gives_up(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, refuses_after: float
) -> None:
    monkeypatch.setattr(psycopg, "connect", _database(clock, 1e9, refuses_after))

    with pytest.raises(DatabaseUnavailable):
        ConnectionHolder(lambda: "", Settings().hindsight_database_connect_seconds).get()

    assert 18.0 < clock.now < _GATEWAY_S - 3


def test_idle_sessions_of_functions_end_on_rds() -> None:
    script = files("hindsight_aws.store").joinpath("sql", "bootstrap", "roles.sql").read_text("utf-8")

    for role in ("hindsight_write", "hindsight_read"):
        assert f"ALTER ROLE {role} SET idle_session_timeout = '60s'" in script
