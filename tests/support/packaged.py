"""What is shipped, run on this machine: archives unpacked outside the checkout, and a stack with them as functions."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infra.local.bootstrap import NoBootstrap
from infra.local.functions import Outcome, Success
from infra.topology import TOPOLOGY
from layers.mounted import Mounted, mount
from tests.support.stack import running_stack

if TYPE_CHECKING:
    from infra.local.stack import LocalStack

_ROOT: Final = Path(__file__).resolve().parents[2]
EVENTS: Final = _ROOT / "tests" / "events"


@contextmanager
def mounted_archives() -> Iterator[Mounted]:
    """Every function's archives as Lambda would mount them; layers that an earlier run built are taken from build/."""
    folder = Path(tempfile.mkdtemp(prefix="hs-mounted-"))
    try:
        yield mount(_ROOT, _ROOT / "build", folder, TOPOLOGY.functions)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_packaged(mounted: Mounted, **changed: Any) -> Iterator[LocalStack]:
    """A stack whose functions are those archives, on a database that the packaged migrate function has made ready."""
    with running_stack(
        mounted=mounted, bootstrap=NoBootstrap(), **{"prewarm": (), "snap_start": True, **changed}
    ) as stack:
        answered(stack.invoke("migrate", (EVENTS / "custom-resource-create.json").read_bytes()))
        command = {"Command": ["dev-tenant", "--tenant", str(stack.options.dev_tenant)]}
        assert answered(stack.invoke("migrate", json.dumps(command).encode()))["ExitCode"] == 0
        yield stack


def answered(outcome: Outcome) -> Any:
    """What the function returned, which it must have."""
    assert isinstance(outcome, Success), outcome.summary
    return json.loads(outcome.payload)
