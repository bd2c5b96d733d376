"""What .ci/install-ecosystem brought: an environment for the integrations, and the TypeScript client's packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.cloud.node import use_bundled_node

_ROOT = Path(__file__).parents[3]
_ENVIRONMENT = _ROOT / ".venv" / "ecosystem"
_WHERE_FROM = "make test (or .ci/install-ecosystem) brings it"


def integrations_python() -> str:
    """The Python that has the integrations."""
    python = _ENVIRONMENT / "bin" / "python"
    if not python.exists():
        pytest.skip(_WHERE_FROM)
    return str(python)


def packages() -> Path:
    """The folder in which the TypeScript client is installed."""
    found = _ENVIRONMENT / "npm"
    if not (found / "node_modules").is_dir():
        pytest.skip(_WHERE_FROM)
    return found


def node() -> str:
    """Node.js as it came with the lock."""
    return use_bundled_node()
