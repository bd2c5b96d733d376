"""How execution environments are run on this machine; made by the supervisor, read by pool and environment."""

import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """One function's environments.

    `concurrency` bounds them; calls beyond it wait (Lambda would throttle, but here the bound is the laptop's cores,
    not an account's quota). `freeze` stops the process between events, as Lambda does. `idle_seconds` without an event
    end an environment, except the `keep_warm` newest. `interpreter` is the command of the Python that runs it;
    `search_path`, when it is not empty, stands in for the task root before whatever that finds by itself. Durations are
    seconds.
    """

    name: str
    task_root: Path
    handler: str
    timeout: float
    memory: int
    variables: dict[str, str]
    log: Path
    concurrency: int
    keep_warm: int
    freeze: bool = True
    idle_seconds: float = 600.0
    init_seconds: float = 60.0
    plain_runtime: bool = False
    interpreter: tuple[str, ...] = (sys.executable, "-P")
    search_path: tuple[Path, ...] = ()
    request_bytes: int = 6 * 1024 * 1024
    response_bytes: int = 6 * 1024 * 1024
