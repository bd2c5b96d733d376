"""The usage ledger in Postgres.  Called through ports/usage.py; calls sql/usage.sql."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.ports.model_gateway import TokenUsage
from hindsight_aws.ports.usage import LedgerEntry, RunCall, UsageLine, UsageSum
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("usage")


class PostgresUsageLedger:
    """The ledger of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        if entries:
            self._session.execute(_SQL["record"], entries=Jsonb([_row(entry) for entry in entries]))

    def of_bank(self, bank_id: BankId, start: datetime | None, end: datetime | None) -> Sequence[UsageLine]:
        return [_line(row) for row in self._session.rows(_SQL["of_bank"], bank_id=bank_id, start=start, end=end)]

    def of_tenant(
        self, start: datetime, end: datetime, by: Literal["day", "bank", "task", "model"]
    ) -> Sequence[UsageSum]:
        return [
            UsageSum(row["name"], row["calls"], row["failed_calls"], _tokens(row), row["usd"], row["unpriced_calls"])
            for row in self._session.rows(_SQL["of_tenant"], start=start, end=end, by=by)
        ]

    def of_run(self, run_id: RunId) -> Sequence[RunCall]:
        return [
            RunCall(row["task"], row["status"], _tokens(row), row["usd"], row["latency_ms"] or 0)
            for row in self._session.rows(_SQL["of_run"], run_id=run_id)
        ]


def _line(row: Row) -> UsageLine:
    return UsageLine(
        task=row["task"],
        model=row["model_id"],
        calls=row["calls"],
        failed_calls=row["failed_calls"],
        tokens=_tokens(row),
        usd=row["usd"],
        unpriced_calls=row["unpriced_calls"],
    )


def _tokens(row: Row) -> TokenUsage:
    return TokenUsage(
        input=row["input_tokens"],
        output=row["output_tokens"],
        cache_read=row["cache_read_tokens"],
        cache_write=row["cache_write_tokens"],
    )


def _row(entry: LedgerEntry) -> dict[str, object]:
    usage = entry.usage
    return {
        "entry_id": str(entry.entry_id),
        "bank_id": _text(entry.bank_id),
        "operation_id": _text(entry.operation_id),
        "run_id": _text(entry.run_id),
        "subject": entry.subject,
        "task": usage.task,
        "model_id": usage.model,
        "prompt": usage.prompt,
        "status": usage.status,
        "input_tokens": usage.tokens.input,
        "output_tokens": usage.tokens.output,
        "cache_read_tokens": usage.tokens.cache_read,
        "cache_write_tokens": usage.tokens.cache_write,
        "calls": usage.calls,
        "usd": None if usage.usd is None else str(usage.usd),
        "latency_ms": round(usage.latency_ms),
        "at": None if entry.at is None else entry.at.isoformat(),
    }


def _text(id_: UUID | None) -> str | None:
    return None if id_ is None else str(id_)
