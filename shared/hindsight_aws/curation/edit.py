"""Rewrites a fact as somebody corrected it.  Called by correct; calls screening, entities and the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from hindsight_aws.access import sight
from hindsight_aws.curation.indexing import index, paid
from hindsight_aws.curation.ports import CurationPorts
from hindsight_aws.curation.requests import Edit
from hindsight_aws.curation.settle import wake
from hindsight_aws.curation.sight import Known, known
from hindsight_aws.entities import FactNames, merged, resolve
from hindsight_aws.errors import AccessDenied, InvalidField, InvalidRequest
from hindsight_aws.model.entity import EntityName, ResolvedEntity, name_key
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.screening import Screening
from hindsight_aws.operations.written import mark_written
from hindsight_aws.ports.curation import FactAsKnown, Rewrite
from hindsight_aws.ports.store import Transaction
from hindsight_aws.screening import ledger_lines, policy_of, screen_fields
from hindsight_aws.text.terms import terms


@dataclass(frozen=True, slots=True)
class _Planned:
    """The fact as it shall be; `entities` None: those it has stay."""

    known: Known
    fact: FactAsKnown
    entities: tuple[ResolvedEntity, ...] | None
    screening: Screening


def edit_fact(ports: CurationPorts, principal: Principal, bank: str, memory_id: UUID, edit: Edit) -> None:
    """One attempt: the fact as a new version, embedded anew, pending in its scopes; what rested on it ends.

    An edit that changes nothing writes nothing.  Raises: WorkSuperseded when another write came in between.
    """
    with ports.store.transaction(principal.tenant_id) as tx:
        seen = known(tx, ports, principal, bank, memory_id)
        planned = _plan(tx, ports, principal, seen, edit)
    if planned is None:
        return
    named = [entity.name for entity in planned.entities or ()]
    called = [*named, *(entity.spelling for entity in planned.entities or ())]
    if planned.entities is None:
        named = called = [name.text for name in seen.fact.names]
    indexing, costs = index(ports, principal, seen.bank, planned.fact, named, list(dict.fromkeys(called)))
    bank_id = seen.bank.bank_id
    with paid(ports, principal, costs), ports.store.transaction(principal.tenant_id) as tx:
        tx.vectors.lock_shared(bank_id, indexing.embedding_model)
        scopes = tx.curation.rewrite(bank_id, Rewrite(planned.fact, indexing, planned.entities))
        tx.usage.record([*costs, *ledger_lines(planned.screening, principal.subject, bank_id, None)])
        mark_written(tx, seen.bank.bank_id, indexing.embedding_model)
    wake(ports, principal.tenant_id, seen.bank, scopes)


def _plan(tx: Transaction, ports: CurationPorts, principal: Principal, seen: Known, edit: Edit) -> _Planned | None:
    fact = seen.fact
    if fact.fact_type == "observation":
        raise InvalidRequest("An observation cannot be edited: edit the facts that it rests on.")
    if fact.state == "invalidated":
        raise InvalidRequest("Cannot edit an invalidated memory; revert it to 'valid' first.")
    allowed, screening = _screened(ports, seen, edit)
    changed = _changed(fact, allowed)
    if not sight(principal).sees(changed.fact_type, changed.tags):
        raise AccessDenied("This key may not move a memory out of its own sight")
    if "entities" in allowed.given:
        names = [EntityName(name, is_literal=not allowed.resolve_entities) for name in allowed.entities]
    else:
        names = _still_named(fact, changed)
    entities = None if names == list(fact.names) else _resolved(tx, ports, seen, changed, names)
    if entities is not None and {entity.key for entity in entities} == {name_key(name.text) for name in fact.names}:
        entities = None
    return None if changed == fact and entities is None else _Planned(seen, changed, entities, screening)


def _screened(ports: CurationPorts, seen: Known, edit: Edit) -> tuple[Edit, Screening]:
    """The edit as the bank's policy lets it in; an entity that holds a find is left out."""
    texts = {"text": edit.text, "context": edit.context or ""}
    texts |= {f"entities[{at}]": name for at, name in enumerate(edit.entities)}
    stored, screening = screen_fields(policy_of(ports.settings, seen.bank, None), texts)
    names = tuple(name for at, name in enumerate(edit.entities) if stored[f"entities[{at}]"] == name)
    return replace(edit, text=stored["text"], context=stored["context"] or None, entities=names), screening


def _changed(fact: FactAsKnown, edit: Edit) -> FactAsKnown:
    changes = {name: getattr(edit, name) for name in edit.given if name != "entities"}
    changed = replace(fact, **changes)
    start, end = changed.occurred_start, changed.occurred_end
    if start is not None and end is not None and end < start:
        raise InvalidField("occurred_end", "must not be before occurred_start")
    return changed


def _still_named(fact: FactAsKnown, changed: FactAsKnown) -> list[EntityName]:
    """The fact's entities without those whose name stood in its text and, after the edit, does not any more.

    A name stands in a text as far as its words do.  One that no word of the text gave, and a label, stays.
    """
    before, now = set(terms(fact.text)), set(terms(f"{changed.text}\n{changed.context or ''}"))
    return [name for name in fact.names if name.kind == "label" or set(terms(name.text)) & before <= now]


def _resolved(
    tx: Transaction, ports: CurationPorts, seen: Known, fact: FactAsKnown, given: Sequence[EntityName]
) -> tuple[ResolvedEntity, ...]:
    """The entities that the names stand for, each once."""
    names = merged(given)
    asked = FactNames(names, fact.occurred_start or fact.mentioned_at)
    floor = max(
        ports.settings.hindsight_api_entity_trgm_similarity_threshold,
        ports.settings.hindsight_api_entity_merge_min_similarity,
    )
    found = resolve(tx.entities, seen.bank.bank_id, [asked], floor).of(names)
    return tuple({entity.key: entity for entity in reversed(found)}.values())
