"""Marks a bank as written: the last thing that a transaction does which changes what a bank remembers.

Called by every use case that does so; calls the store ports.  Here the answers are locked before the bank.
"""

from __future__ import annotations

from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.store import Transaction


def mark_written(tx: Transaction, bank_id: BankId, embedding_model: str | None = None, *, forgets: bool = True) -> None:
    """Takes what was answered from before out of reach, and notes the write: the bank's row is locked last.

    `embedding_model` made vectors that were written, if any were.  Without `forgets`, for what only adds to what was
    there, answers stay.
    """
    if forgets:
        tx.reflect.forget_answers(bank_id)
    tx.memories.touch_bank(bank_id, embedding_model)
