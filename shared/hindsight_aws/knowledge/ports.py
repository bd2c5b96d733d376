"""What searching the knowledge base needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder
from hindsight_aws.ports.store import Store
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class SearchPorts:
    """For the API."""

    store: Store
    embedder: Embedder
    settings: Settings
    clock: Clock
