"""`openapi`: the document of every route that is served, printed.  Calls api/documentation."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING

from hindsight_aws.cli.command import Answer, add

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands


def register(commands: Commands) -> None:
    """Adds the command."""
    add(commands, "openapi", print_openapi, "print docs/openapi.json as the code has it", needs_database=False)


def print_openapi(_chosen: Namespace) -> Answer:
    """Prints the OpenAPI document, which is JSON for people too."""
    from hindsight_aws.api.documentation.document import text

    document = text()
    return Answer(document.splitlines(), json.loads(document))
