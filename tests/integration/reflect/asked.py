"""What the tests of runs ask about, and how they read what was asked of models."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import psycopg

from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.reflect.request import ReflectRequest
from tests.support.database import Database
from tests.support.units import Unit

WHERE = ReflectRequest("Where does Bea live?", shows_facts=True)
ROME = Unit("Bea moved to Rome.", mentioned_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
THAI = Unit("Bea speaks Thai.")


def prompt_of(call: ModelCall) -> str:
    """Everything of a call that the model reads."""
    results = [json.dumps(result.document) for turn in call.history for result in turn.results]
    closings = [text for turn in call.history for text in turn.closing]
    return "\n".join((call.system, *call.blocks, *results, *closings))


def ledger(database: Database, tenant: TenantId) -> list[tuple[str, str]]:
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute(
            "SELECT task, status FROM hindsight.usage_ledger WHERE tenant_id = %s AND run_id IS NOT NULL ORDER BY at",
            (tenant,),
        )
        return [(row[0], row[1]) for row in rows]
