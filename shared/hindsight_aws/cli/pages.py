"""`settings`, `metrics` and `model-contract`: what the code says of itself, printed.  Calls the pages and prompts/."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING

from hindsight_aws.cli.command import Answer, add

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands


def register(commands: Commands) -> None:
    """Adds the three commands."""
    add(commands, "model-contract", print_model_contract, "print every model task as JSON", needs_database=False)
    add(commands, "metrics", print_metrics, "print the table of metrics as the code has it", needs_database=False)
    add(commands, "settings", print_settings, "print docs/settings.md as the code has it", needs_database=False)


def print_model_contract(_chosen: Namespace) -> Answer:
    """Prints every model task with its tool schema as JSON, for people too."""
    from hindsight_aws.prompts.contract import as_json

    text = as_json()
    return Answer([text], json.loads(text))


def print_metrics(_chosen: Namespace) -> Answer:
    """Prints the table of docs/howto/observability.md as the code has it; as JSON, in a string."""
    from hindsight_aws.cli.metrics_page import table

    text = table()
    return Answer(text.splitlines(), {"markdown": text})


def print_settings(_chosen: Namespace) -> Answer:
    """Prints docs/settings.md as the code has it; as JSON, its one page in a string."""
    from hindsight_aws.cli.settings_page import page

    text = page()
    return Answer(text.splitlines(), {"markdown": text})
