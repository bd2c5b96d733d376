"""The sweep, for tests that are about something else than mental models: no workflow of theirs is run."""

from __future__ import annotations

from hindsight_aws.erasure import ErasurePorts
from hindsight_aws.jobs.sweep import SweepReport, sweep
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings
from tests.support.api import NoWorkflows


def quiet_pages(store: Store, settings: Settings, clock: Clock | None = None) -> PagesDoor:
    """What keeps mental models, and starts no refresh of them."""
    return PagesDoor(store, NoWorkflows(), clock or SystemClock(), settings)


def sweep_once(
    store: Store,
    wakeups: Wakeups,
    settings: Settings,
    clock: Clock | None = None,
    erasures: ErasurePorts | None = None,
) -> SweepReport:
    """One tick of the sweep; whom it wakes is noted."""
    ports = erasures or ErasurePorts(store, wakeups, settings)
    return sweep(store, wakeups, settings, clock or SystemClock(), quiet_pages(store, settings, clock), ports)
