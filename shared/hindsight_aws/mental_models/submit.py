"""Asks for refreshes of mental models: folded into one that waits, put off while the last one is young.

Called by the API and by triggers.py, inside their transactions; starts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.errors import WorkRaced
from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.ports.refreshes import OpenRefresh, RefreshWish
from hindsight_aws.ports.store import Transaction

AUTOMATIC_SUBJECT: Final = "automatic"


@dataclass(frozen=True, slots=True)
class RefreshRequest:
    """What is asked of a refresh; `subject` None: it comes by itself.  `mends`: its text is withheld until then."""

    subject: str | None
    full: bool = False
    mends: bool = False

    @property
    def automatic(self) -> bool:
        """Whether nobody asked."""
        return self.subject is None


def submit(
    tx: Transaction, bank_id: BankId, model: MentalModel, config: BankConfig, asked: RefreshRequest, now: datetime
) -> OperationId | None:
    """The operation that the refresh is, or has become part of; None for an automatic one of a model that is paused.

    Guarantees: one refresh of a model waits at most.  One that somebody asked for runs now, and makes one that is put
    off run now; while one runs, it waits behind it.  An automatic one becomes part of whatever waits or runs, and
    waits until the model's least interval is over.  A full one makes one that waits full.

    Raises: WorkRaced when others keep asking at the same time.
    """
    if asked.automatic and not asked.mends and model.is_paused:
        return None
    wish = RefreshWish(asked.full, asked.automatic, due_at(model, config, asked, now))
    for _ in range(2):
        open_ones = tx.refreshes.open(bank_id, model.page_id)
        joined = join(open_ones, wish)
        if joined is not None:
            operation_id, changed = joined
            if changed is not None:
                tx.refreshes.change(bank_id, operation_id, changed)
            return operation_id
        operation_id = OperationId(uuid4())
        subject = asked.subject or AUTOMATIC_SUBJECT
        if tx.refreshes.add(bank_id, model.page_id, model.id, operation_id, subject, wish):
            return operation_id
    raise WorkRaced(f"others ask for refreshes of mental model {model.id!r} at the same time")


def join(open_ones: Sequence[OpenRefresh], wish: RefreshWish) -> tuple[OperationId, RefreshWish | None] | None:
    """The open refresh that does what is wished, with what is asked of it then if that changes; None: a new one."""
    waiting = next((one for one in open_ones if not one.is_running), None)
    if waiting is not None:
        before = waiting.wish
        after = RefreshWish(
            before.full or wish.full, before.automatic and wish.automatic, min(before.due_at, wish.due_at)
        )
        return waiting.operation_id, None if after == before else after
    running = next((one for one in open_ones if one.is_running), None)
    return (running.operation_id, None) if running is not None and wish.automatic else None


def due_at(model: MentalModel, config: BankConfig, asked: RefreshRequest, now: datetime) -> datetime:
    """When the refresh may run: at once if somebody asked or a text is withheld, else after the least interval."""
    if not asked.automatic or asked.mends or model.last_refreshed_at is None:
        return now
    own = model.trigger.min_refresh_interval_seconds
    seconds = config.mental_model_min_refresh_interval_seconds if own is None else own
    return max(now, model.last_refreshed_at + timedelta(seconds=seconds))
