"""What became of one attempt at a retain operation, for whoever started it: the API's sync path or the ingest job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hindsight_aws.errors import HindsightError
from hindsight_aws.retain.intake.requests import RetainTotals

AttemptState = Literal["completed", "failed", "deferred", "busy", "absent"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt came to.

    `completed` and `failed` are on the row.  `deferred`: to be done later, for the reason in `error`, after `wait_s`.
    `busy`: somebody else holds the operation or its document, or it is not due.  `absent`: no such work, or none left.
    """

    state: AttemptState
    totals: RetainTotals = field(default_factory=RetainTotals)
    error: HindsightError | None = None
    wait_s: float = 0.0
