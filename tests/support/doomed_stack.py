"""Runs a stack of fakes until it is killed: `python -m tests.support.doomed_stack STATE`; prints its pids as JSON."""

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

from infra.local.stack import LocalStack
from tests.support.fake_system import fake_options


def main(state: Path) -> None:
    with LocalStack(replace(fake_options(state), prewarm=("front",))) as stack:
        sys.stdout.write(json.dumps(stack.pids()) + "\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
