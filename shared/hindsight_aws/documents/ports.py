"""What changing documents needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class DocumentPorts:
    """No model is among them: what has to be read again is written down as an operation."""

    store: Store
    wakeups: Wakeups
    settings: Settings
