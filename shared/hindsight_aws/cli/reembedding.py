"""`reembed`: a bank goes to another embedding model, and how far it is.  Calls the deployment's API."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import UUID

from hindsight_aws.cli.command import Answer, Exit, add, group
from hindsight_aws.cli.deployment import call, reach, said

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands
    from hindsight_aws.ports.model_gateway import JsonObject


def register(commands: Commands) -> None:
    """Adds the noun and its actions."""
    actions = group(commands, "reembed", "embed a bank anew by another model")
    started = add(actions, "start", start, "ask for it, and print the operation", needs_database=False)
    started.add_argument("bank")
    started.add_argument("--model", default="", help="default: that of new banks")
    shown = add(actions, "status", status, "how far it is", needs_database=False)
    shown.add_argument("bank")
    shown.add_argument("operation", type=UUID, help="as `start` printed it")
    for action in (started, shown):
        reach(action, "an administrator's API key that sees all of the bank")


def start(chosen: Namespace) -> Answer:
    """Asks for it; asked once more while it goes on, the operation is the same."""
    body = json.dumps({"model": chosen.model or None}).encode()
    told = _told(chosen, "POST", "reembed", body)
    again = ", which goes on already" if told.get("deduplicated") else ""
    return Answer([str(told["operation_id"]), f"by {told['model']}{again}"], told)


def status(chosen: Namespace) -> Answer:
    """Shows the operation, with what a failed one failed of as a refusal."""
    told = _told(chosen, "GET", f"operations/{chosen.operation}", None)
    lines = [f"status    {told.get('status')}"]
    progress = told.get("progress")
    if isinstance(progress, dict):
        lines.append(f"progress  {progress.get('stage')}, {progress.get('processed')} of {progress.get('total')}")
    lines += [f"{name}  {told[name]}" for name in ("next_retry_at", "parked_until", "error_message") if told.get(name)]
    return Answer(lines, told, Exit.REFUSED if told.get("status") in ("failed", "not_found") else Exit.DONE)


def _told(chosen: Namespace, method: str, path: str, body: bytes | None) -> JsonObject:
    whole = f"/v1/default/banks/{quote(chosen.bank, safe='')}/{path}"
    told: JsonObject = json.loads(said(call(chosen, method, whole, body, {"content-type": "application/json"})))
    return told
