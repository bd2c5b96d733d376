"""Times the statements of a pipeline on the server, for a trace.  Called by store/recall.py and store/expansion.py."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import psycopg

from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_CLOCK = queries("recall")["clock"]


class Stopwatch:
    """Asks the server for the time between statements, if it is wanted: a statement more for each."""

    def __init__(self, session: Session, is_wanted: bool) -> None:
        self._session = session
        self._is_wanted = is_wanted
        self._lapped: list[tuple[tuple[str, str] | None, psycopg.Cursor[tuple[Any, ...]]]] = []

    def lap(self, arm: str | None = None, fact_type: str = "") -> None:
        """Ends the time of an arm's search of a type, which began where the last lap ended."""
        if self._is_wanted:
            key = None if arm is None else (arm, fact_type)
            self._lapped.append((key, self._session.send(_CLOCK)))

    def seconds(self) -> dict[tuple[str, str], float]:
        """How long each search took, once the pipeline is through."""
        read = [(key, cursor.fetchall()[0][0]) for key, cursor in self._lapped]
        return {key: max(at - before, 0.0) for (_, before), (key, at) in pairwise(read) if key is not None}
