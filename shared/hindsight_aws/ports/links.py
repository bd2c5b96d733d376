"""Links between facts, and what is left to do about them after facts went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from hindsight_aws.model.ids import BankId, UnitId
from hindsight_aws.ports.memories import NewFact


@dataclass(frozen=True, slots=True)
class LinkRule:
    """When two facts of a type are linked, `most` of each kind chosen by each fact.

    By meaning: cosine from `min_similarity`, the nearest first; `exact` compares with every fact of the type, otherwise
    the vector index proposes.  By time: events less than `within` apart, the nearest first.
    """

    min_similarity: float
    most: int
    exact: bool
    within: timedelta


@dataclass(frozen=True, slots=True)
class LinkLease:
    """The right to tend a bank's links, until it runs out or another takes it: then its fence has moved on."""

    bank_id: BankId
    fence: int


@dataclass(frozen=True, slots=True)
class Tended:
    """What a look at the queue came to: items done with, and items put off because somebody is writing to them."""

    done: int
    put_off: int = 0


class Links(Protocol):
    """The links of the transaction's tenant.

    A pair is stored once for each kind, from the fact that chose the other, and holds from both ends; `caused_by` leads
    from the effect to its cause.  No statement here waits for a fact that somebody else is about to remove.
    """

    def add(self, bank_id: BankId, facts: Sequence[NewFact], rule: LinkRule) -> None:
        """Links facts already added: to their causes, and to the nearest of their type in time and in meaning.

        Facts that are being removed meanwhile get no link.
        """
        ...

    def add_later(self, bank_id: BankId, facts: Sequence[NewFact]) -> None:
        """Links facts already added to their causes, and queues them for the rest: there are too many to do at once."""
        ...

    def will_lose(self, bank_id: BankId, fact_ids: Sequence[UnitId]) -> None:
        """Takes the links of facts that are about to go out, and queues what they leave behind.

        Queued are the facts at the other ends and the entities that these facts mention.  The facts must be locked by
        the caller, and their rows in unit_entities still be there; who wants to keep their causes reads them before.
        """
        ...

    def will_change(self, bank_id: BankId, fact_ids: Sequence[UnitId]) -> None:
        """Takes out what was measured of facts whose text, type or date changes; causes stay.

        Queued are these facts, those at the other ends, and the entities that these facts mention until now.
        """
        ...

    def take_lease(self, bank_id: BankId, seconds: float) -> LinkLease | None:
        """The lease on the bank's link maintenance, or None: its holder then is told to look again."""
        ...

    def lock_lease(self, lease: LinkLease) -> bool:
        """Keeps the bank from being deleted until the transaction ends; False when the lease is another's by now."""
        ...

    def renew_lease(self, lease: LinkLease, seconds: float) -> bool:
        """Holds the lease for longer, from the transaction's end on; False when it is another's by now.

        Locks the bank: it comes last in a transaction.
        """
        ...

    def release_lease(self, lease: LinkLease, *, even_if_woken: bool = False) -> bool:
        """Gives the lease back; False when a wake-up came, or entries are due, and the holder has to look again."""
        ...

    def relink_due(self, bank_id: BankId, rule: LinkRule, at_most: int) -> Tended:
        """Fills the links of facts that are due up to what the rule allows, and takes them off the queue."""
        ...

    def prune_due(self, bank_id: BankId, at_most: int, retry_after_s: float) -> Tended:
        """Removes entities that are due and that no fact mentions, and lowers with whom the others occur to what is so.

        One that somebody is writing to is put off for `retry_after_s` seconds.
        """
        ...
