"""Create, change and delete directives.  Called by the API; calls the store ports in one unit of work each."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

from hindsight_aws.access import bank_not_found, require, sees_bank, sight
from hindsight_aws.errors import AccessDenied, InvalidField, NotFound
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.directive import Directive
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.directives import DirectiveText
from hindsight_aws.ports.store import Store, Transaction
from hindsight_aws.text.sanitise import clean
from hindsight_aws.text.tags import check_tags

LONGEST_NAME = 256
LONGEST_CONTENT = 32_000


@dataclass(frozen=True, slots=True)
class DirectiveChange:
    """What to change; None leaves it as it is, no tags take them all away."""

    name: str | None = None
    content: str | None = None
    priority: int | None = None
    is_active: bool | None = None
    tags: tuple[str, ...] | None = None


def create(store: Store, principal: Principal, bank: str, text: DirectiveText) -> Directive:
    """Gives the bank a new directive; several may have one name.

    Raises: NotFound for a bank that is not there; InvalidField; AccessDenied when the caller could not read it back.
    """
    require(principal, Permission.WRITE)
    sound = checked(principal, text)
    with store.transaction(principal.tenant_id) as tx:
        found = _bank(tx, principal, bank, bank_not_found(bank))
        return tx.directives.add(found.bank_id, uuid4(), sound)


def update(store: Store, principal: Principal, bank: str, directive_id: UUID, change: DirectiveChange) -> Directive:
    """Changes a directive; answers that are kept for equal requests, and may quote it, are forgotten.

    Raises: NotFound; InvalidField; AccessDenied when the caller could not read the result.
    """
    require(principal, Permission.WRITE)
    absent = directive_not_found(directive_id)
    with store.transaction(principal.tenant_id) as tx:
        found = _bank(tx, principal, bank, absent)
        locked = tx.directives.lock(found.bank_id, sight(principal).tags, directive_id)
        if locked is None:
            raise absent
        before = DirectiveText(locked.name, locked.content, locked.priority, locked.is_active, locked.tags)
        after = checked(principal, _changed(before, change))
        if after == before:
            return locked
        saved = tx.directives.save(found.bank_id, directive_id, after)
        tx.reflect.forget_answers(found.bank_id)
        return saved


def delete(store: Store, principal: Principal, bank: str, directive_id: UUID) -> None:
    """Removes a directive, and the kept answers that may quote it.  Raises NotFound."""
    require(principal, Permission.WRITE)
    absent = directive_not_found(directive_id)
    with store.transaction(principal.tenant_id) as tx:
        found = _bank(tx, principal, bank, absent)
        if tx.directives.lock(found.bank_id, sight(principal).tags, directive_id) is None:
            raise absent
        tx.directives.delete(found.bank_id, directive_id)
        tx.reflect.forget_answers(found.bank_id)


def directive_not_found(directive_id: object) -> NotFound:
    """The error for a directive that is not there, or not there for this caller."""
    return NotFound(f"Directive '{directive_id}' not found")


def _bank(tx: Transaction, principal: Principal, bank: str, absent: NotFound) -> Bank:
    found = tx.banks.find(bank) if sees_bank(principal, bank) else None
    if found is None:
        raise absent
    return found


def _changed(before: DirectiveText, change: DirectiveChange) -> DirectiveText:
    return DirectiveText(
        before.name if change.name is None else change.name,
        before.content if change.content is None else change.content,
        before.priority if change.priority is None else change.priority,
        before.is_active if change.is_active is None else change.is_active,
        before.tags if change.tags is None else change.tags,
    )


def checked(principal: Principal, text: DirectiveText) -> DirectiveText:
    """The directive as it is stored.  Raises: InvalidField; AccessDenied when the caller could not read it back."""
    name, content, tags = clean(text.name), clean(text.content), check_tags(text.tags, "tags")
    if len(name) > LONGEST_NAME:
        raise InvalidField("name", f"must be at most {LONGEST_NAME} characters")
    if len(content) > LONGEST_CONTENT:
        raise InvalidField("content", f"must be at most {LONGEST_CONTENT} characters")
    if not sight(principal).tags.matches(tags):
        raise AccessDenied("This key may only write directives with its own tags")
    return DirectiveText(name, content, text.priority, text.is_active, tags)
