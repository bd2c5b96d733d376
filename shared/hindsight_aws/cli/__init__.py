"""The command line `hindsight-aws`: schema, tenants, keys, checks.  For people, at a terminal or through `migrate`.

One file a noun, registered in arguments.py; each command imports what it needs when it runs.  Of the functions the
migrate door alone calls it, for administrators who cannot reach the database themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.cli.arguments import parser
from hindsight_aws.cli.command import Exit, NotConfirmed, complain, show
from hindsight_aws.errors import DatabaseUnavailable, HindsightError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, *, database_url: str = "") -> int:
    """Runs one command; returns an Exit, after saying on stderr what was wrong where something was.

    `database_url`: of the database where the command asks for one and names none.  It is no argument of the command:
    what a parser cannot read it repeats, and this holds a password.
    """
    chosen = parser().parse_args(arguments)
    if getattr(chosen, "database_url", None) == "":
        chosen.database_url = database_url
    try:
        answer = chosen.run(chosen)
    except NotConfirmed as wrong:
        complain(str(wrong), as_json=chosen.json)
        return Exit.USAGE
    except DatabaseUnavailable as wrong:
        complain(str(wrong), as_json=chosen.json)
        return Exit.OUT_OF_REACH
    except HindsightError as wrong:
        complain(str(wrong), as_json=chosen.json)
        return Exit.REFUSED
    show(answer, as_json=chosen.json)
    return int(answer.exit_code)
