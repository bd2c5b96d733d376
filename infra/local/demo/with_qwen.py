"""`python -m infra.local.demo.with_qwen`: the same stack with a small real model, told three short things, slowly.

Run by `HINDSIGHT_LOCAL_MODEL=qwen make demo`. Goes over the Function URLs, which wait as long as the functions run. It
checks nothing of what the model says: a model of this size is often wrong, and what it says is shown as it is.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException

from infra.local.bootstrap import BootstrapError
from infra.local.demo.doors import Door, ledger
from infra.local.demo.remembering import show_belief
from infra.local.demo.screen import heading, item, say, table
from infra.local.demo.story import BANK
from infra.local.options import LocalModel, StackOptions
from infra.local.postgres import PostgresError
from infra.local.sidecar import SidecarError
from infra.local.stack import LocalStack
from infra.local.text_models import TextModelError, threads_of

_NOTES: Final = (
    "Nora: From now on I commute by bike only, because parking at the harbour costs too much.",
    "Nora: I sold my car last week and bought a blue cargo bike from Tidewell.",
    "Per runs the workshop. He decided that every cargo bike gets a free brake check after 500 km.",
)
_SAID_AT: Final = "2026-06-03T09:00:00+02:00"
_QUESTION: Final = "How does Nora get to work, and why?"
_PATIENCE: Final = 3_000.0  # seconds
_LOOK_EVERY: Final = 2.0


def main() -> int:
    """Tells the story; the answer is the exit status."""
    say("Starting the stack with Qwen2.5-Coder-1.5B-Instruct. Each of its calls may take minutes.")
    with tempfile.TemporaryDirectory(prefix="hindsight-qwen-") as folder:
        Path(folder).chmod(0o711)  # the database's own user passes through
        try:
            options = StackOptions(
                state=Path(folder), local_model=LocalModel.QWEN, model_threads=threads_of(os.environ)
            )
            with LocalStack(options) as stack:
                _tell(stack)
        except (BootstrapError, PostgresError, SidecarError, TextModelError) as why:
            print(why, file=sys.stderr)
            return 1
    return 0


def _tell(stack: LocalStack) -> None:
    urls = stack.function_urls
    with closing(Door(stack.base_url)) as door:
        door.client.create_bank(BANK)
        heading(1, "Three notes, retained over the retain function's own URL")
        _timed("retain", lambda: _retain(urls["retain"]))
        for fact in reversed(door.client.list_memories(BANK).items):
            item(f"{fact.fact_type}:", fact.text or "", width=12)
        heading(2, "What consolidation makes of them")
        _timed("consolidate", lambda: _drained(door))
        for belief in door.observations():
            show_belief(belief)
        heading(3, f"Reflect over its own URL: {_QUESTION}")
        answer = _timed("reflect", lambda: _reflect(urls["reflect"]))
        say(str(answer))
    heading(4, "What was asked of the model")
    spent = ledger(stack.options.dev_tenant, stack.superuser_url)
    rows = [[s.task, str(s.calls), str(s.input_tokens), str(s.output_tokens)] for s in spent if "embed" not in s.task]
    table(["task", "calls", "tokens read", "tokens written"], rows, right=frozenset({1, 2, 3}))


def _retain(url: str) -> None:
    with closing(_client(url)) as client:
        items = [{"content": note, "timestamp": _SAID_AT} for note in _NOTES]
        answer = client.retain_batch(BANK, items)
        say(f"{answer.items_count} items; left to a worker: {'yes' if answer.var_async else 'no'}.")


def _drained(door: Door) -> None:
    """Waits until no fact is pending in any scope, and tells how many facts came to nothing."""
    give_up_at = time.monotonic() + _PATIENCE
    while any(scope["pending_count"] for scope in door.scopes()) and time.monotonic() < give_up_at:
        time.sleep(_LOOK_EVERY)
    stats = door.get("/stats")
    say(f"Facts still pending: {stats['pending_consolidation']}; failed: {stats['failed_consolidation']}.")


def _reflect(url: str) -> str:
    with closing(_client(url)) as client:
        try:
            return str(client.reflect(BANK, _QUESTION, budget="low").text)
        except ApiException as why:
            return f"No answer: {why.status} {why.body}"


def _client(url: str) -> Any:
    return Hindsight(base_url=url, timeout=_PATIENCE)


def _timed(what: str, work: Callable[[], Any]) -> Any:
    begun = time.monotonic()
    result = work()
    say(f"({what}: {(time.monotonic() - begun) / 60:.1f} minutes)")
    return result


if __name__ == "__main__":
    sys.exit(main())
