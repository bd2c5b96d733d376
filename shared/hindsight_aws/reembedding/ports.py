"""What re-embedding needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class ReembeddingPorts:
    """For the API, which asks for it, and for the function that does it."""

    store: Store
    embedder: Embedder
    wakeups: Wakeups
    clock: Clock
    settings: Settings
