"""Create, change and configure banks.  Called by api/; calls ports/banks in one unit of work each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hindsight_aws.access import bank_not_found, require, require_bank, require_whole_bank, sees_bank
from hindsight_aws.configuration.config import BankConfig, changed, resolve
from hindsight_aws.configuration.profile import BankProfile, profile
from hindsight_aws.errors import InvalidRequest, WorkRaced
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.settings import Settings

LONGEST_NAME = 500


@dataclass(frozen=True, slots=True)
class BankChange:
    """What a caller wants of a bank; `name` None leaves it, `updates` are settings as in a PATCH of the config."""

    name: str | None = None
    updates: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configured:
    """A bank's settings: all of them resolved, and the ones it overrides."""

    external_id: str
    config: BankConfig
    overrides: Mapping[str, object]


def create_or_update(
    store: Store, settings: Settings, principal: Principal, external_id: str, change: BankChange
) -> BankProfile:
    """Makes the bank if there is none, and applies the change.

    Guarantees: idempotent; atomic.  Settings need the admin permission, a bank alone only write.
    Raises: AccessDenied; NotFound for a bank the key does not cover; InvalidRequest for a wrong id or setting.
    """
    _require_change(principal, external_id, change)
    with store.transaction(principal.tenant_id) as tx:
        return _apply(tx, settings, _made_and_locked(tx, external_id), change)


def update(store: Store, settings: Settings, principal: Principal, external_id: str, change: BankChange) -> BankProfile:
    """Applies the change to a bank that exists.  As `create_or_update`, but raises NotFound when there is none."""
    _require_change(principal, external_id, change)
    with store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.lock(external_id)
        if bank is None:
            raise bank_not_found(external_id)
        return _apply(tx, settings, bank, change)


def configure(
    store: Store, settings: Settings, principal: Principal, external_id: str, updates: Mapping[str, object]
) -> Configured:
    """Lays the updates over the bank's settings, a null taking one away; makes the bank if there is none.

    Guarantees: atomic; checked together with what is there, under a lock.
    Raises: AccessDenied; NotFound for a bank the key does not cover; InvalidRequest naming the field.
    """
    _require_settings(principal, external_id)
    with store.transaction(principal.tenant_id) as tx:
        bank = _made_and_locked(tx, external_id)
        after = changed(settings, bank.overrides, updates)
        if after != dict(bank.overrides):
            tx.banks.save(bank.bank_id, bank.name, after)
    return Configured(bank.external_id, resolve(settings, after), after)


def add_background(store: Store, settings: Settings, principal: Principal, external_id: str, text: str) -> BankProfile:
    """Adds the text to the mission of a bank that exists, as a line of its own; one that it holds already is not added.

    Guarantees: idempotent; atomic.  No model rewords anything.
    Raises: AccessDenied; NotFound; InvalidRequest for a mission that would be too long or cannot be stored.
    """
    _require_settings(principal, external_id)
    with store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.lock(external_id)
        if bank is None:
            raise bank_not_found(external_id)
        lines = (resolve(settings, bank.overrides).reflect_mission or "").splitlines()
        added = [line for line in text.strip().splitlines() if line.strip() and line not in lines]
        updates = {"reflect_mission": "\n".join([*lines, *added])} if added else {}
        return _apply(tx, settings, bank, BankChange(updates=updates))


def reset(store: Store, settings: Settings, principal: Principal, external_id: str) -> Configured:
    """Takes every override away; a bank that is not there has none.  Raises AccessDenied."""
    require(principal, Permission.ADMIN)
    require_whole_bank(principal)
    if sees_bank(principal, external_id):
        with store.transaction(principal.tenant_id) as tx:
            bank = tx.banks.lock(external_id)
            if bank is not None:
                tx.banks.save(bank.bank_id, bank.name, {})
    return Configured(external_id, resolve(settings, {}), {})


def _made_and_locked(tx: Transaction, external_id: str) -> Bank:
    """The bank, made if need be, then locked.

    One that somebody else made meanwhile is waited for, and read as they left it.
    """
    made = tx.banks.create_if_missing(external_id)
    bank = tx.banks.lock(external_id)
    if bank is None:
        raise WorkRaced(f"bank '{made.external_id}' was deleted meanwhile")
    return bank


def _require_change(principal: Principal, external_id: str, change: BankChange) -> None:
    require(principal, Permission.WRITE)
    require_bank(principal, external_id)
    if change.updates:
        _require_settings(principal, external_id)
    if change.name is not None:
        # Whoever sees any part of the bank is shown its name.
        require_whole_bank(principal)
    if change.name is not None and len(change.name) > LONGEST_NAME:
        raise InvalidRequest(f"name must be at most {LONGEST_NAME} characters")
    if change.name is not None and "\x00" in change.name:
        raise InvalidRequest("name must not contain NUL characters")


def _require_settings(principal: Principal, external_id: str) -> None:
    require(principal, Permission.ADMIN)
    require_bank(principal, external_id)
    require_whole_bank(principal)


def _apply(tx: Transaction, settings: Settings, bank: Bank, change: BankChange) -> BankProfile:
    overrides = dict(bank.overrides)
    if change.updates:
        overrides = changed(settings, bank.overrides, change.updates)
    name = bank.name if change.name is None else change.name
    after = Bank(bank.bank_id, bank.external_id, name, overrides, bank.embedding_model)
    if after != bank:
        tx.banks.save(bank.bank_id, name, overrides)
    return profile(after, resolve(settings, overrides))
