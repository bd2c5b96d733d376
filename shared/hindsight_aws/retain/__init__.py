"""Retain: text becomes facts with vectors, terms, tags, entities, links and consolidation work, once and whole.

Ways in: `retain` and `submit` (API), `dry_run`, `run_retain` (the ingest job).  An attempt goes begin → precheck → plan
(body, delta) → extraction (checkpoint) → triage → assemble (vectors) → commit (versions, relabel, report), and settles
or is abandoned where it cannot.  Calls prompts and ports.
"""

from __future__ import annotations

from hindsight_aws.retain.abandon import abandon
from hindsight_aws.retain.dry_run import DryRun, DryRunRequest, dry_run
from hindsight_aws.retain.intake.requests import (
    USUAL_ENTITY_TYPE,
    EntityHint,
    RetainItem,
    RetainRequest,
    RetainResult,
    RetainTotals,
)
from hindsight_aws.retain.intake.timestamps import read_timestamp
from hindsight_aws.retain.outcome import Attempt
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.retain import retain
from hindsight_aws.retain.run import run_retain
from hindsight_aws.retain.submit import submit, submit_within

__all__ = [
    "USUAL_ENTITY_TYPE",
    "Attempt",
    "DryRun",
    "DryRunRequest",
    "EntityHint",
    "RetainItem",
    "RetainPorts",
    "RetainRequest",
    "RetainResult",
    "RetainTotals",
    "abandon",
    "dry_run",
    "read_timestamp",
    "retain",
    "run_retain",
    "submit",
    "submit_within",
]
