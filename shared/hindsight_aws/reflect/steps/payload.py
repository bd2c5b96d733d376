"""What travels between the workflow's states.  Called by the steps prepare and plan."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.steps.rows import RunRef


def payload(ref: RunRef, turn: int, action: str, names: Sequence[str] = ()) -> JsonObject:
    """The payload of the next state: ids, the turn, the action's name, and which steps a map is to run."""
    calls: list[JsonValue] = [{"step": name} for name in names]
    return {
        "tenant_id": str(ref.tenant_id),
        "bank_id": str(ref.bank_id),
        "run_id": str(ref.run_id),
        "turn": turn,
        "action": action,
        "calls": calls,
    }
