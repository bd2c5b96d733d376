"""What retain needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder, TextModel
from hindsight_aws.ports.screening import ContentGuard
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class RetainPorts:
    """`text_model` None means that there is no model (`HINDSIGHT_API_LLM_PROVIDER=none`).

    Chunks are stored as they are.  `guard` is a deployment's own, beside the built-in detectors of screening.
    """

    store: Store
    embedder: Embedder
    text_model: TextModel | None
    wakeups: Wakeups
    clock: Clock
    settings: Settings
    guard: ContentGuard | None = None
