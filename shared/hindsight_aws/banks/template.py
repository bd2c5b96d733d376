"""Bank templates: settings, mental models and directives as one document, laid over a bank or taken from one.

Called by the API; calls what mental models and directives are kept by, in one unit of work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import uuid4

from hindsight_aws.access import page_sight, require, require_bank, require_whole_bank
from hindsight_aws.configuration.config import changed
from hindsight_aws.directives.manage import checked
from hindsight_aws.errors import Conflict, InvalidField, InvalidRequest, NotFound, WorkRaced
from hindsight_aws.mental_models.manage import (
    ModelChanges,
    ModelRequest,
    ask,
    change,
    new_model,
    require_model,
    require_room,
)
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.model.bank import Bank, check_new_bank_id
from hindsight_aws.model.directive import Directive
from hindsight_aws.model.ids import BankId, OperationId
from hindsight_aws.model.mental_model import MentalModel, NewMentalModel
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.model.trigger import trigger_to_json
from hindsight_aws.ports.directives import DirectiveText
from hindsight_aws.ports.store import Transaction

VERSION: Final = "1"
MOST_PARTS: Final = 200
MODES: Final = ("concise", "verbose", "custom", "verbatim", "chunks")
_MODEL_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_ALL: Final = 10_000
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Template:
    """What a template says; `settings` are those of a bank, as a PATCH of its config names them."""

    version: str
    settings: Mapping[str, object]
    models: Sequence[ModelRequest] = ()
    directives: Sequence[DirectiveText] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a template: ids of models and names of directives, and the refreshes to be started."""

    bank_id: BankId | None
    external_id: str
    overrides: Mapping[str, object]
    is_configured: bool
    models_created: Sequence[str] = ()
    models_updated: Sequence[str] = ()
    directives_created: Sequence[str] = ()
    directives_updated: Sequence[str] = ()
    operations: Sequence[OperationId] = ()


@dataclass(frozen=True, slots=True)
class _Checked:
    """A template that holds to its rules, in the form in which it is written."""

    template: Template
    models: Sequence[NewMentalModel]
    directives: Sequence[DirectiveText]


def apply(door: PagesDoor, principal: Principal, external_id: str, template: Template) -> Imported:
    """Lays the template over the bank, which is made if there is none.

    Models are matched by id and directives by name; what is so already is left alone.  Each model that is made or
    changed is to be refreshed.

    Guarantees: all of it or nothing.
    Raises: AccessDenied; NotFound for a bank the key does not cover; InvalidRequest; Conflict when the bank is deleted
    meanwhile; WorkRaced.
    """
    _require(principal, external_id)
    sound = _check(door, principal, template)
    with door.store.transaction(principal.tenant_id) as tx:
        return _lay(door, tx, principal, tx.banks.create_if_missing(external_id), sound)


def make(door: PagesDoor, principal: Principal, external_id: str, template: Template) -> Imported | None:
    """Makes the bank as the template says; None where there is one already, which stays as it is.

    Guarantees and raises: as `apply`.
    """
    _require(principal, external_id)
    sound = _check(door, principal, template)
    with door.store.transaction(principal.tenant_id) as tx:
        bank = tx.banks.create(external_id)
        return None if bank is None else _lay(door, tx, principal, bank, sound)


def rehearse(door: PagesDoor, principal: Principal, external_id: str, template: Template) -> Imported:
    """Checks the template as `apply` does, and writes nothing; all that it holds is told as created.

    Raises: as `apply`.
    """
    _require(principal, external_id)
    sound = _check(door, principal, template)
    with door.store.snapshot(principal.tenant_id) as tx:
        bank = tx.banks.find(external_id)
    if bank is None:
        check_new_bank_id(external_id)
    overrides = _lay_settings(door, bank, template)
    models, directives = [model.id for model in sound.models], [text.name for text in sound.directives]
    return Imported(None, external_id, overrides, bool(template.settings), models, (), directives)


def read(tx: Transaction, principal: Principal, bank: Bank) -> Template:
    """The bank as a template: its own settings as they are stored, its models by id, its directives by weight.

    Without the pages of its knowledge base, which are no part of a template.

    Raises: AccessDenied for a key that sees part of the bank.
    """
    require_whole_bank(principal)
    among = page_sight(principal)
    models = tx.mental_models.page(bank.bank_id, among, TagFilter(), _ALL, 0, in_knowledge_base=False).items
    return Template(
        VERSION,
        bank.overrides,
        [_request_of(view.model) for view in sorted(models, key=lambda view: view.model.id)],
        [DirectiveText(one.name, one.content, one.priority, one.is_active, one.tags) for one in _directives(tx, bank)],
    )


def _require(principal: Principal, external_id: str) -> None:
    require(principal, Permission.ADMIN)
    require_bank(principal, external_id)
    require_whole_bank(principal)


def _check(door: PagesDoor, principal: Principal, template: Template) -> _Checked:
    if template.models:
        require_model(door)
    _told(lambda: _check_rules(template))
    models = _told(lambda: [new_model(door, principal, request) for request in template.models])
    directives = _told(lambda: [checked(principal, text) for text in template.directives])
    return _Checked(template, models, directives)


def _check_rules(template: Template) -> None:
    """What is asked of a template beyond what is asked of its parts."""
    if template.version != VERSION:
        raise InvalidRequest(f"version must be {VERSION!r}, got {template.version[:20]!r}")
    if max(len(template.models), len(template.directives)) > MOST_PARTS:
        raise InvalidRequest(f"mental_models and directives may hold at most {MOST_PARTS} each")
    mode = template.settings.get("retain_extraction_mode")
    if mode is not None and mode not in MODES:
        raise InvalidRequest(f"bank.retain_extraction_mode must be one of {', '.join(MODES)}")
    if template.settings.get("retain_custom_instructions") is not None and mode != "custom":
        raise InvalidRequest("bank.retain_custom_instructions needs bank.retain_extraction_mode `custom`")
    for place, model in enumerate(template.models):
        if not _MODEL_ID.fullmatch(model.id or ""):
            raise InvalidRequest(f"mental_models[{place}].id must be lowercase letters, digits and hyphens")
        _require_words(f"mental_models[{place}]", name=model.name, source_query=model.source_query)
    for place, text in enumerate(template.directives):
        _require_words(f"directives[{place}]", name=text.name, content=text.content)
    _require_distinct("mental_models", "id", [model.id or "" for model in template.models])
    _require_distinct("directives", "name", [text.name for text in template.directives])


def _require_words(where: str, **texts: str) -> None:
    for name, text in texts.items():
        if not text.strip():
            raise InvalidRequest(f"{where}.{name} must not be blank")


def _require_distinct(where: str, name: str, values: Sequence[str]) -> None:
    if len(set(values)) < len(values):
        raise InvalidRequest(f"{where} must not hold one {name} twice")


def _told(make: Callable[[], _Made]) -> _Made:
    """What is made, or the one sentence in which a template is refused."""
    try:
        return make()
    except (NotFound, Conflict):
        raise
    except InvalidField as wrong:
        raise InvalidRequest(f"Template validation failed: {wrong}") from None
    except InvalidRequest as wrong:
        raise InvalidRequest(f"Template validation failed: {wrong}") from None


def _lay_settings(door: PagesDoor, bank: Bank | None, template: Template) -> dict[str, object]:
    overrides = {} if bank is None else bank.overrides
    if not template.settings:
        return dict(overrides)
    return _told(lambda: changed(door.settings, overrides, template.settings))


def _lay(door: PagesDoor, tx: Transaction, principal: Principal, bank: Bank, sound: _Checked) -> Imported:
    """Lays the whole template over a bank, its settings last: of all locks the bank's is the last."""
    template = sound.template
    _lay_settings(door, bank, template)
    made, updated, operations = _write_models(door, tx, principal, bank, sound.models)
    mended, missing = _change_directives(tx, bank, sound.directives)
    locked = tx.banks.lock(bank.external_id)
    if locked is None:
        raise Conflict(f"Bank '{bank.external_id}' was deleted meanwhile")
    new = _add_directives(tx, locked, missing)
    after = _lay_settings(door, locked, template)
    if after != dict(locked.overrides):
        tx.banks.save(locked.bank_id, locked.name, after)
    return Imported(
        bank.bank_id, bank.external_id, after, bool(template.settings), made, updated, new, mended, operations
    )


def _write_models(
    door: PagesDoor, tx: Transaction, principal: Principal, bank: Bank, wanted: Sequence[NewMentalModel]
) -> tuple[list[str], list[str], list[OperationId]]:
    """Writes models that are new or other than they were, and their refreshes; held in id order, refreshes first."""
    if wanted:
        tx.knowledge.lock_tree(bank.bank_id)
    found = {new.id: tx.mental_models.view(bank.bank_id, new.id, page_sight(principal)) for new in wanted}
    there = sorted((view.model for view in found.values() if view is not None), key=lambda model: model.page_id)
    for model in there:
        tx.refreshes.open(bank.bank_id, model.page_id)
    by_id = {new.id: new for new in wanted}
    changes = [(model, by_id[model.id]) for model in there if _differs(model, by_id[model.id])]
    now = door.clock.now()
    for model, new in changes:
        trigger = trigger_to_json(new.trigger)
        asked = ModelChanges(new.name, new.source_query, list(new.tags), new.max_tokens, trigger)
        change(tx, principal, bank.bank_id, model, asked, now)
    added = [new for new in wanted if found[new.id] is None]
    require_room(tx, bank.bank_id, len(added))
    for new in added:
        if not tx.mental_models.add(bank.bank_id, new):
            raise WorkRaced(f"mental model {new.id!r} was made meanwhile")
    pages = [model.page_id for model, _ in changes] + [new.page_id for new in added]
    held = [tx.mental_models.find(bank.bank_id, page_id) for page_id in pages]
    operations = [ask(door, tx, bank, principal, model, full=False).operation_id for model in held if model is not None]
    return [new.id for new in added], [model.id for model, _ in changes], operations


def _differs(model: MentalModel, new: NewMentalModel) -> bool:
    was = (model.name, model.source_query, model.tags, model.max_tokens, model.trigger)
    return was != (new.name, new.source_query, new.tags, new.max_tokens, new.trigger)


def _change_directives(
    tx: Transaction, bank: Bank, wanted: Sequence[DirectiveText]
) -> tuple[list[str], list[DirectiveText]]:
    """Writes directives that are other than they were; of several of one name, the first is meant.

    Their names, and those that the bank has none of.
    """
    by_name = {one.name: one.id for one in reversed(_directives(tx, bank) if wanted else ())}
    matched = sorted(((by_name[t.name], t) for t in wanted if t.name in by_name), key=lambda pair: pair[0])
    updated = []
    for directive_id, text in matched:
        locked = tx.directives.lock(bank.bank_id, TagFilter(), directive_id)
        if locked is None:
            raise WorkRaced(f"directive {text.name!r} was deleted meanwhile")
        if DirectiveText(locked.name, locked.content, locked.priority, locked.is_active, locked.tags) != text:
            tx.directives.save(bank.bank_id, directive_id, text)
            updated.append(text.name)
    if updated:
        tx.reflect.forget_answers(bank.bank_id)
    return updated, [text for text in wanted if text.name not in by_name]


def _add_directives(tx: Transaction, bank: Bank, new: Sequence[DirectiveText]) -> list[str]:
    """Writes directives that the bank has none of, under its lock: of two imports at once, one adds them."""
    names = {one.name for one in _directives(tx, bank)} if new else set()
    for text in new:
        if text.name in names:
            raise WorkRaced(f"directive {text.name!r} was made meanwhile")
        tx.directives.add(bank.bank_id, uuid4(), text)
    return [text.name for text in new]


def _directives(tx: Transaction, bank: Bank) -> Sequence[Directive]:
    return tx.directives.page(bank.bank_id, TagFilter(), only_active=False, limit=_ALL, offset=0).items


def _request_of(model: MentalModel) -> ModelRequest:
    return ModelRequest(
        model.id, model.name, model.source_query, list(model.tags), model.max_tokens, trigger_to_json(model.trigger)
    )
