"""What consolidation needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder, TextModel
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class ConsolidationPorts:
    """`text_model` None means that there is no model: facts then stay pending."""

    store: Store
    embedder: Embedder
    text_model: TextModel | None
    wakeups: Wakeups
    clock: Clock
    settings: Settings
