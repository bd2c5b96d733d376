"""Banks that go whole, and banks that nobody can name.

Called by store/erasure.py and store/transfers.py; calls sql/banks.sql.
"""

from __future__ import annotations

from typing import Final

from hindsight_aws.model.ids import BankId
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session

_SQL = queries("banks")
_WITHIN_MS: Final = "55000"
"""Some 100,000 memories with all that hangs on them; less than the 60 s that the function may run."""


def hidden_name(bank_id: BankId) -> str:
    """What a bank is called that no caller can name: ids of banks hold no control character."""
    return f"\x1f{bank_id}"


def lock_whole(session: Session, bank_id: BankId) -> bool:
    """Keeps the bank from change and from new rows until the transaction ends; waits for whoever is adding to it.

    False when it is gone.
    """
    return session.row(_SQL["lock_whole"], bank_id=bank_id) is not None


def take_time(session: Session) -> None:
    """Lets the statements that follow in this transaction take as long as a whole bank needs."""
    session.row(_SQL["take_time"], timeout_ms=_WITHIN_MS)


def count_contents(session: Session, bank_id: BankId) -> int:
    """How many facts, observations, entities and documents are in the bank."""
    row = session.row(_SQL["count_contents"], bank_id=bank_id)
    return 0 if row is None else int(row["contents"])


def delete_whole(session: Session, bank_id: BankId) -> None:
    """Removes the bank, which the caller has locked, and all that is in it."""
    session.execute(_SQL["delete"], bank_id=bank_id)
