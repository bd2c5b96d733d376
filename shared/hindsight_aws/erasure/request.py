"""The ways in: a bank is to be gone, or what carries tags; and the receipts of what went.  Called by the API."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from hindsight_aws.access import bank_not_found, bank_patterns, require, require_bank, require_whole_bank, sees_bank
from hindsight_aws.erasure.carry import carry_on
from hindsight_aws.erasure.ports import ErasurePorts
from hindsight_aws.errors import DatabaseTooSlow, HindsightError, InvalidField, NotFound
from hindsight_aws.model.erasure import Erasure, ErasureId, Match, NewErasure
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.store import Transaction
from hindsight_aws.text.sanitise import can_be_stored

_log = logging.getLogger(__name__)

AT_ONCE: Final = 20_000
"""Memories up to which a bank goes in the transaction of the request; a larger one is out of reach, then goes."""
WAITS_S: Final = 15.0
"""How long a request works on its erasure before it leaves the rest to the sweep; the gateway waits 30 s."""
MOST_TAGS: Final = 100


@dataclass(frozen=True, slots=True)
class BankErased:
    """How many facts, observations, entities and documents went, and the erasure's id; None where nothing was there."""

    contents: int
    erasure_id: ErasureId | None


def erase_bank(ports: ErasurePorts, principal: Principal, external_id: str, at_once: int = AT_ONCE) -> BankErased:
    """Takes a bank with all it holds out for good; its name is free at once, for another bank.

    Guarantees: idempotent: a bank that is not there, or not covered by the key, counts 0 and has no receipt.  From the
    commit on nobody finds it, and no worker writes to it; a large one's rows go afterwards.

    Raises: AccessDenied.
    """
    _may_erase(principal)
    if not sees_bank(principal, external_id):
        return BankErased(0, None)
    try:
        gone = _begin_bank(ports, principal, external_id, at_once)
    except DatabaseTooSlow:
        if at_once == 0:
            raise
        # It holds more than its memories let expect.
        gone = _begin_bank(ports, principal, external_id, 0)
    if gone.erasure_id is not None:
        _work_on(ports, principal, gone.erasure_id)
    return gone


def erase_tags(
    ports: ErasurePorts, principal: Principal, external_id: str, tags: Sequence[str], match: Match
) -> Erasure:
    """Takes out what carries the tags and was there before the call, with all that rests on it.

    Works on it for a while; what is left then is done by the sweep, and the erasure is still `running`.

    Raises: AccessDenied; NotFound; InvalidField for no tags, too many, or an empty one.
    """
    _may_erase(principal)
    require_bank(principal, external_id)
    wanted = tuple(dict.fromkeys(tags))
    if not wanted or len(wanted) > MOST_TAGS:
        raise InvalidField("tags", f"must hold between 1 and {MOST_TAGS} tags")
    if not all(tag and can_be_stored(tag) for tag in wanted):
        # Nothing is cleaned here, as retain does: what is left might be another tag.
        raise InvalidField("tags", "must hold texts that a tag can be: not empty, and whole Unicode")
    with ports.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id)
        if bank is None:
            raise bank_not_found(external_id)
        erasure_id = ErasureId(uuid4())
        new = NewErasure(erasure_id, bank.bank_id, bank.external_id, "tags", principal.subject, wanted, match)
        tx.erasures.begin_tags(new)
    _work_on(ports, principal, erasure_id)
    with ports.store.transaction(principal.tenant_id) as tx:
        return _found(tx, erasure_id)


def receipts(ports: ErasurePorts, principal: Principal, limit: int, offset: int) -> Page[Erasure]:
    """The erasures of the banks that the key covers, the latest first; erased banks are among them."""
    _may_erase(principal)
    with ports.store.snapshot(principal.tenant_id) as tx:
        return tx.erasures.page(bank_patterns(principal), limit, offset)


def receipt(ports: ErasurePorts, principal: Principal, erasure_id: UUID) -> Erasure:
    """One erasure.  Raises: AccessDenied; NotFound, also for one of a bank that the key does not cover."""
    _may_erase(principal)
    with ports.store.snapshot(principal.tenant_id) as tx:
        found = _found(tx, ErasureId(erasure_id))
    if not sees_bank(principal, found.bank):
        raise _absent()
    return found


def _begin_bank(ports: ErasurePorts, principal: Principal, external_id: str, at_once: int) -> BankErased:
    with ports.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id)
        if bank is None:
            return BankErased(0, None)
        new = NewErasure(ErasureId(uuid4()), bank.bank_id, bank.external_id, "bank", principal.subject)
        gone = tx.erasures.begin_bank(new, at_once)
    return BankErased(0, None) if gone is None else BankErased(gone.contents, new.erasure_id)


def _work_on(ports: ErasurePorts, principal: Principal, erasure_id: ErasureId) -> None:
    """Works on the erasure for as long as a caller waits; what fails now is done by the sweep: it is written down."""
    try:
        carry_on(ports, principal.tenant_id, erasure_id, WAITS_S)
    except HindsightError as error:
        _log.warning("erasure %s is left to the sweep: %s: %s", erasure_id, type(error).__name__, error)


def _may_erase(principal: Principal) -> None:
    require(principal, Permission.ADMIN)
    require_whole_bank(principal)


def _found(tx: Transaction, erasure_id: ErasureId) -> Erasure:
    found = tx.erasures.find(erasure_id)
    if found is None:
        raise _absent()
    return found


def _absent() -> NotFound:
    return NotFound("Erasure not found")
