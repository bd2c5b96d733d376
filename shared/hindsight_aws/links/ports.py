"""What link maintenance needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class LinkPorts:
    """No model is among them: what is linked has its vectors already."""

    store: Store
    wakeups: Wakeups
    settings: Settings
