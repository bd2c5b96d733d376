"""`redrive`: dead messages go back to their queues.  Calls aws/dead_letters.py with the queues of the settings.

A message is a wake-up: what it was about is in the rows, and the sweep finds it without this.
"""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hindsight_aws.cli.command import Answer, add
from hindsight_aws.errors import InvalidRequest

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands
    from hindsight_aws.settings import Settings

_QUEUE_SETTING: Final = re.compile(r"hindsight_queue_(\w+)_url")


def register(commands: Commands) -> None:
    """Adds the command."""
    command = add(
        commands,
        "redrive",
        redrive,
        "count the dead messages of the queues, and move those of the named ones back",
        needs_database=False,
    )
    command.add_argument("queues", nargs="*", metavar="QUEUE", help="without one, and without --all: only count")
    command.add_argument("--all", action="store_true", help="move those of every queue")
    command.add_argument(
        "--settings-of", metavar="FUNCTION", help="of the queues that this deployed function sends to (`sweep`: most)"
    )


def redrive(chosen: Namespace) -> Answer:
    """Counts, and moves what was asked for; the queues are those whose URLs the settings hold."""
    from hindsight_aws.aws.dead_letters import SqsDeadLetters
    from hindsight_aws.cli.preflight import variables_of
    from hindsight_aws.settings import load_settings

    if chosen.settings_of:
        os.environ.update(variables_of(chosen.settings_of))
    settings = load_settings()
    urls = queue_urls(settings)
    if not urls:
        raise InvalidRequest("name the queues: --settings-of a function, or HINDSIGHT_QUEUE_INGEST_URL and the others")
    unknown = sorted(set(chosen.queues) - urls.keys())
    if unknown:
        raise InvalidRequest(f"no URL of queue {unknown[0]!r} is set; known are {', '.join(urls)}")
    dead_letters = SqsDeadLetters(settings.aws_region)
    lines, rows = [], []
    for name, url in urls.items():
        found = dead_letters.look(url)
        is_moved = found.dead > 0 and (chosen.all or name in chosen.queues)
        if is_moved:
            dead_letters.redrive(url, found)
        lines.append(f"{name:12}  {found.waiting:7} waiting  {found.dead:7} dead{', moving back' if is_moved else ''}")
        rows.append({"queue": name, "waiting": found.waiting, "dead": found.dead, "moving": is_moved})
    return Answer(lines, rows)


def queue_urls(settings: Settings) -> Mapping[str, str]:
    """The URL of each queue that the settings know, by the queue's name; queues without one are left out."""
    named = {name: str(getattr(settings, setting)) for name, setting in queue_settings().items()}
    return {name: url for name, url in named.items() if url}


def queue_settings() -> Mapping[str, str]:
    """The setting that holds the URL of each queue, by the queue's name."""
    from hindsight_aws.settings import Settings

    return {found[1]: name for name in Settings.model_fields if (found := _QUEUE_SETTING.fullmatch(name))}
