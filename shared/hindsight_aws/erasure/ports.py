"""What erasures need of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.ports.files import FileStore
from hindsight_aws.ports.signing import Signer
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class ErasurePorts:
    """Whoever may not delete files or sign has None there, and leaves that to the sweep."""

    store: Store
    wakeups: Wakeups
    settings: Settings
    files: FileStore | None = None
    signer: Signer | None = None
