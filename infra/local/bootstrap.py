"""Brings an empty database to where functions can use it: roles, schema, dev tenant. Called by the supervisor."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID


class BootstrapError(RuntimeError):
    """The database could not be prepared; the message holds the last lines of what said so."""


@dataclass(frozen=True, slots=True)
class BootstrapTarget:
    """A database and who may change everything in it."""

    superuser_url: str
    dev_tenant: UUID
    repository: Path


class Bootstrap(Protocol):
    """Prepares a database, again and again without harm."""

    def __call__(self, target: BootstrapTarget) -> None:
        """Promises roles, schema and dev tenant; blocks. Raises: BootstrapError."""
        ...


class CommandLineBootstrap:
    """The product's own command line, as an operator would run it."""

    def __call__(self, target: BootstrapTarget) -> None:
        """Runs `migrate`, then `dev-tenant`."""
        where = ("--database-url", target.superuser_url)
        _run(target, ["migrate", *where])
        _run(target, ["dev-tenant", *where, "--tenant", str(target.dev_tenant)])


class NoBootstrap:
    """Leaves the database as it is, for tests of the stack itself."""

    def __call__(self, target: BootstrapTarget) -> None:
        """Does nothing."""


def _run(target: BootstrapTarget, arguments: Sequence[str]) -> None:
    environment = dict(os.environ) | {"PYTHONPATH": str(target.repository / "shared")}
    done = subprocess.run(
        [sys.executable, "-m", "hindsight_aws.cli", *arguments],
        check=False,
        cwd=target.repository,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        words = "\n".join((done.stderr or done.stdout).strip().splitlines()[-15:])
        raise BootstrapError(f"hindsight-aws {arguments[0]} failed:\n{words}")
