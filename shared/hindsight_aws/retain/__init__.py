"""Retain: text becomes facts with vectors, terms, tags, entities, links and consolidation work, once and whole.

Called by the API (`retain`, `submit`) and by the ingest job (`run_retain`); calls prompts and ports.
"""

from __future__ import annotations

from hindsight_aws.retain.intake.requests import EntityHint, RetainItem, RetainRequest, RetainResult, RetainTotals
from hindsight_aws.retain.intake.timestamps import read_timestamp
from hindsight_aws.retain.outcome import Attempt
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.retain.retain import retain
from hindsight_aws.retain.run import run_retain
from hindsight_aws.retain.submit import submit

__all__ = [
    "Attempt",
    "EntityHint",
    "RetainItem",
    "RetainPorts",
    "RetainRequest",
    "RetainResult",
    "RetainTotals",
    "read_timestamp",
    "retain",
    "run_retain",
    "submit",
]
