"""Counts over a bank.  Called through ports/stats.py; calls sql/stats.sql."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.stats import BankStats, TimelineField
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("stats")


class PostgresStats:
    """Counts of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def counts(self, bank_id: BankId) -> BankStats:
        units = self._session.tuples(_SQL["units"], bank_id=bank_id)
        links = self._session.tuples(_SQL["links"], bank_id=bank_id)
        operations = self._session.tuples(_SQL["operations_by_status"], bank_id=bank_id)
        evidence = self._session.tuples(_SQL["evidence_by_origin"], bank_id=bank_id)
        work = self._session.row(_SQL["work"], bank_id=bank_id)
        if work is None:
            raise AssertionError("an aggregate answers one row")
        return BankStats(
            units_by_type=dict(units),
            links_by_type=dict(links),
            documents=work["documents"],
            operations_by_status=dict(operations),
            last_consolidated_at=work["last_consolidated_at"],
            last_write_at=work["last_write_at"],
            pending_consolidation=work["pending"],
            failed_consolidation=work["failed"],
            evidence_by_origin=dict(evidence),
        )

    def units_by_type(self, bank_id: BankId, sight: Sight) -> Mapping[str, int]:
        return dict(self._session.tuples(_SQL["units_by_type"], bank_id=bank_id, **sight_params(sight)))

    def timeline(
        self, bank_id: BankId, sight: Sight, axis: TimelineField, unit: str, since: datetime
    ) -> Sequence[tuple[datetime, str, int]]:
        rows = self._session.tuples(
            _SQL["timeline"], bank_id=bank_id, axis=axis, unit=unit, since=since, **sight_params(sight)
        )
        return [(bucket, fact_type, units) for bucket, fact_type, units in rows]
