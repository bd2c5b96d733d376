"""What transfers need of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.files import FileStore
from hindsight_aws.ports.model_gateway import Embedder
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings

MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class TransferPorts:
    """For the API, which asks for transfers, and for the function that does them."""

    store: Store
    files: FileStore
    embedder: Embedder
    wakeups: Wakeups
    clock: Clock
    settings: Settings
