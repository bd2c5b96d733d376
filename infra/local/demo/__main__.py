"""`python -m infra.local.demo`: the acts in order on a stack with a fresh state, then its end (KEEP=1: it stays up)."""

import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from infra.local.demo import asking, changing, remembering
from infra.local.demo.cost import show_cost
from infra.local.demo.doors import Door, company_key
from infra.local.demo.expectations import ClaimBroken
from infra.local.demo.screen import say
from infra.local.options import DEFAULT_PORT, StackOptions
from infra.local.stack import LocalStack

_HOST: Final = "127.0.0.1"
_WARM: Final = ("retain", "recall", "admin", "consolidate", "reflect", "reflect_step")


def main() -> int:
    """Tells the story; the answer is the exit status."""
    logging.basicConfig(level=logging.ERROR, format="%(name)s: %(message)s", stream=sys.stderr)
    keep = os.environ.get("KEEP", "") not in {"", "0"}
    begun = time.monotonic()
    say("Starting the local stack: Postgres, queues, functions, models, gateway ...")
    with _fresh_state() as state, LocalStack(_options(state, keep=keep)) as stack:
        say(f"The stack is up after {time.monotonic() - begun:.1f} s: a whole deployment on this machine.")
        say("Its text model is a set of rules, not a language model, and writes like one. Its embeddings are real.")
        try:
            _tell(stack)
        except ClaimBroken as broken:
            print(f"\nThe demo stops: {broken}", file=sys.stderr)
            return 1
        say("")
        say(f"Everything shown was checked. {time.monotonic() - begun:.1f} s in all.")
        if keep:
            _stay(stack)
    return 0


def _tell(stack: LocalStack) -> None:
    tenant = stack.options.dev_tenant
    with closing(Door(stack.base_url)) as door:
        remembering.retain_notes(door)
        remembering.show_facts(door)
        remembering.watch_drain(door)
        remembering.show_beliefs(door)
        changing.contradict(door)
        with closing(Door(stack.base_url, company_key(tenant, stack.superuser_url))) as company:
            asking.look_as_company(company)
        asking.recall(door)
        asking.reflect(door)
    show_cost(tenant, stack.superuser_url)


def _stay(stack: LocalStack) -> None:
    interrupted = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: interrupted.set())
    say(f"It stays up at {stack.base_url} (API pages: {stack.base_url}/docs) until Ctrl-C; then its data is gone.")
    interrupted.wait()


def _options(state: Path, *, keep: bool) -> StackOptions:
    return StackOptions(state=state, port=_port() if keep else 0, prewarm=_WARM)


def _port() -> int:
    """The usual port, or 0 for any free one when somebody has it."""
    with socket.socket() as probe:
        return 0 if probe.connect_ex((_HOST, DEFAULT_PORT)) == 0 else DEFAULT_PORT


@contextmanager
def _fresh_state() -> Iterator[Path]:
    """A folder that the database's user may pass through, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="hindsight-demo-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
