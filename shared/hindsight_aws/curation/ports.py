"""What curation needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import Embedder
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class CurationPorts:
    """A text model is not among them: what people write is taken as they wrote it."""

    store: Store
    embedder: Embedder
    wakeups: Wakeups
    settings: Settings
