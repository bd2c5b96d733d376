"""Which tests of a parallel run stay on one worker: those of a file, and all that share what is dear to start.

Called by tests/conftest.py, for pytest-xdist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # publishes no types

SHARED: Final[Mapping[str, tuple[str, ...]]] = {
    "the stack": (
        "tests/cases/",
        "tests/contract/ecosystem/",
        "tests/contract/test_mcp_howto.py",
        "tests/contract/test_official_",
        "tests/contract/test_smoke.py",
        "tests/faults/",
    ),
    "the stack of fakes": ("tests/integration/infra_local/",),
    "the synthesised templates": ("tests/infra/test_",),
}
"""By what they share: how the names of the files begin. Two workers would start it twice, or wait for one another."""


class SchedulingByWhatIsShared(LoadFileScheduling):  # type: ignore[misc]  # its own has no types
    """Gives a worker a file at a time, the files that share something together, what has most tests first."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((what for what, begins in SHARED.items() if file.startswith(begins)), file)
