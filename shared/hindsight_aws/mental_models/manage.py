"""Makes, changes, clears and deletes mental models.  Called by the API; each is one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from hindsight_aws.access import (
    page_sight,
    require,
    require_bank,
    require_page,
    require_tags,
    sees_bank,
    sight,
)
from hindsight_aws.configuration.config import resolve
from hindsight_aws.errors import Conflict, InvalidRequest, NotFound
from hindsight_aws.mental_models.check import checked_id
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.mental_models.refresh.decide import question_of
from hindsight_aws.mental_models.schedule import next_look
from hindsight_aws.mental_models.submit import RefreshRequest, submit
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.model.mental_model import MentalModel, NewMentalModel
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.trigger import Creator, Trigger, checked_changes, checked_trigger, own_filter, patched
from hindsight_aws.ports.mental_models import ModelView
from hindsight_aws.ports.store import Transaction
from hindsight_aws.text.tags import check_tags

MOST_MODELS: Final = 500
"""Of one bank: reflect compares its question with each, and consolidation looks at each that may be stale."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A model to be made; `trigger` holds the fields that were sent, in their JSON form."""

    id: str | None
    name: str
    source_query: str
    tags: list[str]
    max_tokens: int
    trigger: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ModelChanges:
    """What is to change of a model; None leaves a thing as it is."""

    name: str | None
    source_query: str | None
    tags: list[str] | None
    max_tokens: int | None
    trigger: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class QueuedRefresh:
    """A refresh that was asked for, and how many memories its model's scope reaches now."""

    bank_id: BankId
    model_id: str
    operation_id: OperationId
    scope_matches: int


def create(door: PagesDoor, principal: Principal, bank: str, request: ModelRequest) -> QueuedRefresh:
    """Writes a model without text, and its first refresh; an unknown bank is made.

    Guarantees: both or neither.

    Raises: AccessDenied, NotFound, Conflict for an id that is taken and for one model too many, InvalidField.
    """
    require(principal, Permission.WRITE)
    require_bank(principal, bank)
    require_model(door)
    new = new_model(door, principal, request)
    with door.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.create_if_missing(bank)
        require_room(tx, found.bank_id, 1)
        if not tx.mental_models.add(found.bank_id, new):
            raise Conflict(f"Mental model '{new.id}' already exists in bank '{bank}'")
        model = tx.mental_models.find(found.bank_id, new.page_id)
        if model is None:
            raise AssertionError("a model that was just written is not there")
        return ask(door, tx, found, principal, model, full=False)


def refresh(door: PagesDoor, principal: Principal, bank: str, model_id: str, *, full: bool) -> QueuedRefresh:
    """Asks for a refresh of a model in sight.  Raises: AccessDenied, NotFound."""
    require(principal, Permission.WRITE)
    require_model(door)
    with door.store.transaction(principal.tenant_id) as tx:
        absent = NotFound(f"Mental model {model_id} not found in bank {bank}")
        found, view = look_up(tx, principal, bank, model_id, absent)
        return ask(door, tx, found, principal, view.model, full=full)


def change(
    tx: Transaction, principal: Principal, bank_id: BankId, model: MentalModel, asked: ModelChanges, now: datetime
) -> None:
    """Changes what is asked, a trigger field by field; refreshes nothing.

    A key that sees less than the creator's changes nothing that the page is written from: name and size alone.

    Raises: AccessDenied, InvalidField, Conflict for a page of the knowledge base whose folder has one of that name.
    """
    tags = None if asked.tags is None else check_tags(asked.tags, "tags")
    changes = None if asked.trigger is None else checked_changes(asked.trigger)
    if asked.name is not None:
        tx.knowledge.lock_tree(bank_id)
    locked = tx.mental_models.lock(bank_id, model.page_id)
    if locked is None:
        raise model_not_found(model.id)
    changed = replace(
        locked,
        name=locked.name if asked.name is None else asked.name,
        source_query=locked.source_query if asked.source_query is None else asked.source_query,
        max_tokens=locked.max_tokens if asked.max_tokens is None else asked.max_tokens,
        tags=locked.tags if tags is None else tags,
        trigger=locked.trigger if changes is None else checked_trigger(patched(locked.trigger, changes)),
    )
    require_tags(principal, changed.tags)
    if _written_from(changed) != _written_from(locked):
        require_page(principal, locked.creator.forced_tags)
    if changed.name != locked.name and not tx.knowledge.rename_page(bank_id, locked.page_id, changed.name):
        raise name_taken(changed.name)
    tx.mental_models.change(bank_id, changed, next_look(changed.trigger, changed.page_id, now))


def clear(tx: Transaction, bank_id: BankId, model: MentalModel, *, keeps_past: bool) -> None:
    """Takes the text away; what is running for it writes nothing any more."""
    tx.refreshes.open(bank_id, model.page_id)
    if tx.mental_models.lock(bank_id, model.page_id) is None:
        raise model_not_found(model.id)
    tx.mental_models.clear(bank_id, model.page_id, keeps_past=keeps_past)


def delete(tx: Transaction, bank_id: BankId, *pages: UUID) -> None:
    """Removes the models, and the kept answers that may quote them; their open refreshes are cancelled."""
    in_order = sorted(pages)
    for page_id in in_order:
        tx.refreshes.cancel(bank_id, page_id)
    for page_id in in_order:
        tx.mental_models.remove(bank_id, page_id)
    for page_id in in_order:
        tx.refreshes.stop_all(bank_id, page_id)
    tx.reflect.forget_answers(bank_id)


def look_up(
    tx: Transaction, principal: Principal, bank: str, model_id: str, absent: NotFound | None = None
) -> tuple[Bank, ModelView]:
    """The model with its bank.  Raises: NotFound where there is none in sight, alike without the bank."""
    missing = absent or model_not_found(model_id)
    found = tx.banks.find(bank) if sees_bank(principal, bank) else None
    view = None if found is None else tx.mental_models.view(found.bank_id, model_id, page_sight(principal))
    if found is None or view is None:
        raise missing
    return found, view


def model_not_found(model_id: str) -> NotFound:
    """The error for a model that is not there, or not there for this caller."""
    return NotFound(f"Mental model '{model_id}' not found")


def name_taken(name: str) -> Conflict:
    """The error for a page of the knowledge base whose folder has one of that name."""
    return Conflict(f"A page named '{name}' already exists in this folder")


def require_model(door: PagesDoor) -> None:
    """Lets pass where there is a language model.  Raises InvalidRequest."""
    if door.settings.hindsight_api_llm_provider == "none":
        raise InvalidRequest("Mental models need a language model, and HINDSIGHT_API_LLM_PROVIDER is none")


def require_room(tx: Transaction, bank_id: BankId, more: int) -> None:
    """Lets so many more models be made in a bank.  Raises Conflict."""
    if tx.mental_models.count(bank_id) + more > MOST_MODELS:
        raise Conflict(f"A bank may have at most {MOST_MODELS} mental models")


def _written_from(model: MentalModel) -> tuple[object, ...]:
    """All that decides what the page says: its question as refreshes ask it, its tags and its trigger."""
    return question_of(model), model.tags, model.trigger


def new_model(door: PagesDoor, principal: Principal, request: ModelRequest) -> NewMentalModel:
    """The model that is to be made, checked but not written.  Raises: AccessDenied, InvalidField."""
    tags = check_tags(request.tags, "tags")
    require_tags(principal, tags)
    trigger = checked_trigger(patched(Trigger(), checked_changes(request.trigger)))
    page_id = uuid4()
    return NewMentalModel(
        page_id=page_id,
        id=f"mm-{uuid4().hex}" if request.id is None else checked_id(request.id),
        name=request.name,
        source_query=request.source_query,
        tags=tags,
        max_tokens=request.max_tokens,
        trigger=trigger,
        creator=Creator.of(principal),
        due_at=next_look(trigger, page_id, door.clock.now()),
    )


def ask(
    door: PagesDoor, tx: Transaction, bank: Bank, principal: Principal, model: MentalModel, *, full: bool
) -> QueuedRefresh:
    """Asks for a refresh of the model, within the caller's transaction; whoever commits starts it."""
    config = resolve(door.settings, bank.overrides)
    asked = RefreshRequest(principal.subject, full)
    operation_id = submit(tx, bank.bank_id, model, config, asked, door.clock.now())
    if operation_id is None:
        raise AssertionError("a refresh that somebody asks for is never left out")
    scope = sight(
        model.creator.reader(principal.tenant_id), model.trigger.fact_types, own_filter(model.tags, model.trigger)
    )
    matches = tx.mental_models.count_in(bank.bank_id, scope.tags, scope.fact_types)
    return QueuedRefresh(bank.bank_id, model.id, operation_id, matches)
