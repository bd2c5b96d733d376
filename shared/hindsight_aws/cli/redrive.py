"""`redrive`: dead messages go back to their queues.  Calls aws/dead_letters.py with the queues of the settings.

A message is a wake-up: what it was about is in the rows, and the sweep finds it without this.
"""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from hindsight_aws.cli.command import Answer, add
from hindsight_aws.errors import InvalidRequest

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands


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
    from hindsight_aws.cli.queues import queue_urls
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
