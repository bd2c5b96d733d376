"""Gives banks other names and takes them away.  Called by the API; one unit of work each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hindsight_aws.access import bank_not_found, require, require_bank, require_whole_bank
from hindsight_aws.errors import Conflict, InvalidRequest, NotFound
from hindsight_aws.model.bank import Bank, check_new_bank_id
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.aliases import Alias
from hindsight_aws.ports.store import Store, Transaction

MOST_ALIASES = 100


@dataclass(frozen=True, slots=True)
class Named:
    """A bank with its aliases, the primary one first."""

    external_id: str
    aliases: Sequence[Alias]


def add(store: Store, principal: Principal, external_id: str, name: str, *, is_primary: bool) -> Named:
    """Gives a bank another name, which may be the one that lists show.

    Raises: AccessDenied; NotFound for a bank that is not there, or a name that the key does not cover; InvalidRequest
    for a name that no bank may have; Conflict for one that is taken.
    """

    def change(tx: Transaction, bank: Bank) -> None:
        check_new_bank_id(name)
        if "/" in name:
            raise InvalidRequest("An alias must not contain '/': no address could name it")
        if name == bank.external_id:
            raise InvalidRequest(f"'{name}' is the bank's own id and cannot be its alias")
        if len(tx.aliases.of_bank(bank.bank_id)) >= MOST_ALIASES:
            raise Conflict(f"Bank '{bank.external_id}' has {MOST_ALIASES} aliases, and may not have more")
        if not tx.aliases.add(bank.bank_id, name):
            raise Conflict(f"'{name}' is already taken by another bank or alias")
        if is_primary:
            tx.aliases.mark(bank.bank_id, name, is_primary=True)

    return _changed(store, principal, external_id, change, covers=name)


def mark(store: Store, principal: Principal, external_id: str, name: str, *, is_primary: bool) -> Named:
    """Makes an alias the one that lists show, or an ordinary one.  Raises: AccessDenied, NotFound."""

    def change(tx: Transaction, bank: Bank) -> None:
        if not tx.aliases.mark(bank.bank_id, name, is_primary=is_primary):
            raise _no_alias(bank, name)

    return _changed(store, principal, external_id, change)


def remove(store: Store, principal: Principal, external_id: str, name: str) -> Named:
    """Takes a name of a bank away.  Raises: AccessDenied, NotFound."""

    def change(tx: Transaction, bank: Bank) -> None:
        if not tx.aliases.remove(bank.bank_id, name):
            raise _no_alias(bank, name)

    return _changed(store, principal, external_id, change)


def _changed(
    store: Store,
    principal: Principal,
    external_id: str,
    change: Callable[[Transaction, Bank], None],
    covers: str | None = None,
) -> Named:
    require(principal, Permission.ADMIN)
    require_bank(principal, external_id)
    require_whole_bank(principal)
    if covers is not None:
        require_bank(principal, covers)
    with store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.lock(external_id)
        if bank is None:
            raise bank_not_found(external_id)
        change(tx, bank)
        return Named(bank.external_id, tx.aliases.of_bank(bank.bank_id))


def _no_alias(bank: Bank, name: str) -> NotFound:
    return NotFound(f"Bank '{bank.external_id}' has no alias '{name}'")
