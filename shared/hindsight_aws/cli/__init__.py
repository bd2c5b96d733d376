"""The command line `hindsight-aws`: schema, tenants, keys, checks.  For people; the functions never call it.

Each command imports what it needs when it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hindsight_aws.cli.arguments import parser
from hindsight_aws.errors import HindsightError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns 0, or 1 after saying on stderr what was wrong."""
    chosen = parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen))
    except HindsightError as wrong:
        print(f"hindsight-aws: {wrong}", file=sys.stderr)
        return 1
