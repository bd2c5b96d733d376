"""Carries erasures on that are not over: rows and stored files that are left, receipts that nobody signed yet.

Called by the sweep; calls erasure.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Final

from hindsight_aws.erasure import ErasurePorts, carry_on
from hindsight_aws.errors import HindsightError
from hindsight_aws.model.erasure import ErasureId
from hindsight_aws.ports.store import DueWork

_log = logging.getLogger(__name__)

LONGEST_S: Final = 25.0
"""How long one sweep works on erasures; its function may run for 60 s."""


def tend_erasures(ports: ErasurePorts, due: Iterable[DueWork], seconds: float = LONGEST_S) -> None:
    """Works on each erasure that is due, those due for longest first, while there is time.

    Guarantees: one that fails is logged and costs no other its turn.
    """
    until = time.monotonic() + seconds
    for work in due:
        left = until - time.monotonic()
        if work.kind != "erasure" or left <= 0:
            continue
        try:
            carry_on(ports, work.tenant_id, ErasureId(work.id), left)
        except HindsightError as error:
            _log.warning("erasure %s was not carried on: %s: %s", work.id, type(error).__name__, error)
