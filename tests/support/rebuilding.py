"""A workshop whose scopes are rebuilt: a model that words facts as the mission wants, sweeps, drains to the end."""

from __future__ import annotations

from typing import Any

from hindsight_aws.consolidate.drain import Drained, drain
from hindsight_aws.jobs.sweep import SweepReport
from hindsight_aws.model.scope import ScopeAddress
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from tests.support.consolidation import Workshop, creates
from tests.support.models import NotedWakeups, ScriptedModel, block
from tests.support.sweeping import sweep_once

DETAIL, TRENDS = "Keep every detail.", "Name nobody."
CANARY = "Acme Robotics"


def worded(call: ModelCall) -> JsonObject:
    """One observation for each fact: in its own words, or without the name where the mission names nobody."""
    if call.task == "judge_duplicate":
        return {"action": "keep"}
    hides = block(call, "mission")["text"] == TRENDS
    facts: Any = block(call, "facts")
    told = [(f["text"].replace(CANARY, "A firm") if hides else f"Noted: {f['text']}", [f["id"]]) for f in facts]
    return creates(*told)


def listening(workshop: Workshop) -> Workshop:
    """The same workshop, its model wording each fact."""
    workshop.model = ScriptedModel(worded)
    return workshop


def run_sweep(workshop: Workshop) -> SweepReport:
    """One sweep; whom it wakes is noted."""
    return sweep_once(workshop.store, workshop.wakeups, workshop.settings)


def drain_woken(workshop: Workshop, seconds: float = 900.0) -> list[Drained]:
    """Drains every scope that was woken, and those woken by that, until nobody is."""
    ended: list[Drained] = []
    while workshop.wakeups.scopes:
        woken = dict.fromkeys(workshop.wakeups.scopes)
        workshop.wakeups = NotedWakeups()
        for tenant_id, bank_id, scope_id in woken:
            ended.append(drain(workshop.ports, ScopeAddress(tenant_id, bank_id, scope_id), lambda: seconds))
        assert len(ended) < 1_000, "scopes wake each other without end"
    return ended


def texts(workshop: Workshop, *tags: str) -> list[str]:
    """What the scope says."""
    return sorted(row["text"] for row in workshop.observations(*tags))


def drain_shadow(workshop: Workshop, *seconds_left: float) -> Drained:
    """Drains the one shadow with this time left at each question, then none; nobody is woken by it."""
    left = iter(seconds_left)
    (shadow,) = shadows(workshop)
    where = ScopeAddress(workshop.tenant, workshop.bank_id, shadow["scope_id"])
    ended = drain(workshop.ports, where, lambda: next(left, 0.0))
    workshop.wakeups.scopes.clear()
    return ended


def shadows(workshop: Workshop) -> list[dict[str, Any]]:
    """The rebuilds that are going on."""
    return workshop.sql("SELECT scope_id, rebuilds, tags FROM scopes WHERE rebuilds IS NOT NULL ORDER BY tags")


def operations(workshop: Workshop) -> list[dict[str, Any]]:
    """The rebuild operations, oldest first."""
    return workshop.sql(
        "SELECT operation_id, status, error_message, payload, result FROM operations "
        "WHERE kind = 'policy_rebuild' ORDER BY created_at"
    )


def everything_stored(workshop: Workshop) -> str:
    """Every row that the application keeps of the bank but its facts, documents and settings, as text."""
    tables = workshop.sql(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        "WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' AND a.attname = 'bank_id' "
        "AND c.relname NOT IN ('documents', 'chunks', 'banks')"
    )
    found = []
    for table in tables:
        kept = " AND fact_type NOT IN ('world', 'experience')" if table["relname"] == "memory_units" else ""
        rows = workshop.sql(
            f"SELECT row_to_json(t)::text AS row FROM {table['relname']} t WHERE bank_id = %s{kept}", workshop.bank_id
        )
        found += [row["row"] for row in rows]
    return "\n".join(found)
