"""What mental models need of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder
from hindsight_aws.ports.reflect import Workflows
from hindsight_aws.ports.store import Store
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class PagesDoor:
    """For whoever keeps models and starts their refreshes, but takes no step of one."""

    store: Store
    workflows: Workflows
    clock: Clock
    settings: Settings


@dataclass(frozen=True, slots=True)
class PagePorts:
    """For the steps of a refresh."""

    store: Store
    embedder: Embedder
    settings: Settings
