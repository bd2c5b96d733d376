"""`doctor`: says what a deployment stands on, what is wrong, and what to do.  Calls preflight/ for the looking."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from hindsight_aws.cli.command import Answer, Exit, add

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands

_MARKS = {"ok": "ok", "warning": "WARN", "wrong": "WRONG", "not known": "?"}


def register(commands: Commands) -> None:
    """Adds the command."""
    checks = add(
        commands, "doctor", run_doctor, "check settings, database, queues, models and quotas", needs_database=False
    )
    checks.add_argument(
        "--database-url",
        "--admin-database-url",
        default="",
        help="of an administrator: also check migrations, tenants and keys",
    )
    checks.add_argument("--call-models", action="store_true", help="call each model once, for a fraction of a cent")
    checks.add_argument(
        "--settings-of", metavar="FUNCTION", help="check with the settings of that deployed function (`sweep` has most)"
    )


def run_doctor(chosen: Namespace) -> Answer:
    """Checks what a deployment stands on; something wrong is exit code 1, a warning is not."""
    from hindsight_aws.cli.preflight import State, everything, variables_of

    if chosen.settings_of:
        os.environ.update(variables_of(chosen.settings_of))
    findings = list(everything(chosen.database_url, is_calling=chosen.call_models))
    counts = {state: sum(finding.state is state for finding in findings) for state in State}
    is_well = counts[State.WRONG] == 0
    lines = [f"{_MARKS[finding.state]:<6} {finding.sentence}" for finding in findings]
    summary = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return Answer(
        [*lines, summary],
        {
            "ok": is_well,
            "counts": {state.value: count for state, count in counts.items()},
            "findings": [{"state": finding.state.value, "sentence": finding.sentence} for finding in findings],
        },
        Exit.DONE if is_well else Exit.REFUSED,
    )
