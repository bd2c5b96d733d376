"""Gives a document other tags or scopes, without a new look at its text.  Called by the API; calls the store ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.access import document_sight, require_scopes, require_tags
from hindsight_aws.configuration.config import resolve
from hindsight_aws.documents.ports import DocumentPorts
from hindsight_aws.documents.sight import absent, bank_to_change, tags_of
from hindsight_aws.documents.waking import wake_scopes
from hindsight_aws.errors import InvalidField
from hindsight_aws.model.ids import BankId, ScopeId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.scope import ObservationScopes, TooManyScopes, resolve_scopes
from hindsight_aws.operations.written import mark_written
from hindsight_aws.ports.documents import DocumentEvent, StoredDocument
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain.intake.accept import check_scopes
from hindsight_aws.retain.intake.accepted import scopes_from_json, scopes_to_json
from hindsight_aws.retain.plan import part_of
from hindsight_aws.retain.relabel import Relabelling, relabel, relabelling
from hindsight_aws.screening import policy_of, refuse_labels
from hindsight_aws.text.tags import check_tags

Kept = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class DocumentPatch:
    """What to change; None leaves it as it is.  `tags` are all of the document's tags from now on."""

    tags: tuple[str, ...] | None = None
    observation_scopes: ObservationScopes | None = None


def patch_document(ports: DocumentPorts, principal: Principal, bank: str, document: str, patch: DocumentPatch) -> None:
    """Changes the labels of a document, its items and their facts; what is equal already is not touched.

    A tag that goes or comes does so for each item; one that was renamed alone is renamed in lists of scopes too.  Only
    where a fact's scopes move do observations end, in the scopes it leaves.

    Guarantees: all of it or nothing, in one transaction; the same patch again changes nothing.
    Raises: InvalidField, NotFound; ContentRefused by the bank's screening; AccessDenied when the caller could not read
    the result.
    """
    tags = None if patch.tags is None else check_tags(patch.tags, "tags")
    scopes = check_scopes(patch.observation_scopes, (), "observation_scopes")
    with ports.store.transaction(principal.tenant_id) as tx:
        found = bank_to_change(tx, principal, bank)
        named = patch.observation_scopes if isinstance(patch.observation_scopes, tuple) else ()
        labels = {"tags": tags or (), "observation_scopes": [tag for entry in named for tag in entry]}
        refuse_labels(policy_of(ports.settings, found, None), labels)
        stored = tx.documents.lock(found.bank_id, document_sight(principal), document)
        if stored is None:
            raise absent()
        parts = _changed(stored, tags, scopes)
        new_tags = stored.tags if tags is None or set(tags) == set(stored.tags) else tags
        if list(parts) == list(stored.parts) and new_tags == stored.tags:
            return
        volatile = resolve(ports.settings, found.overrides).volatile_tags
        require_tags(principal, new_tags)
        _check(principal, parts, volatile)
        tx.documents.relabel(found.bank_id, stored.document_id, new_tags, {**stored.retain_params, "parts": [*parts]})
        reopened = _relabel_facts(tx, found.bank_id, stored, parts, volatile)
        tx.documents.note(found.bank_id, [DocumentEvent(stored.document_id, "retag")])
        mark_written(tx, found.bank_id)
    wake_scopes(ports, principal, found, reopened)


def _changed(stored: StoredDocument, tags: Sequence[str] | None, scopes: ObservationScopes | None) -> Sequence[Kept]:
    """The items with their labels as they shall be."""
    gone = [] if tags is None else [tag for tag in stored.tags if tag not in tags]
    come = [] if tags is None else [tag for tag in tags if tag not in stored.tags]
    renamed = _renamed(gone, come)
    parts: list[Kept] = []
    for part in stored.parts:
        changed = dict(part)
        if gone or come:
            had = tags_of(part)
            changed["tags"] = [tag for tag in tags or () if tag in had or tag in come]
            changed["observation_scopes"] = _with_new_names(part.get("observation_scopes"), renamed)
        if scopes is not None:
            changed["observation_scopes"] = scopes_to_json(scopes)
        parts.append(changed)
    return parts


def _renamed(gone: Sequence[str], come: Sequence[str]) -> dict[str, str]:
    """Which new tag stands for which old one: the only one for the only one; where more changed nobody can tell."""
    return {gone[0]: come[0]} if len(gone) == len(come) == 1 else {}


def _with_new_names(scopes: object, renamed: Mapping[str, str]) -> object:
    if not isinstance(scopes, list):
        return scopes
    return [[renamed.get(tag, tag) for tag in tags] for tags in scopes]


def _check(principal: Principal, parts: Sequence[Kept], volatile: Sequence[str]) -> None:
    """Lets labels pass that make scopes, and that the caller could read back."""
    for part in parts:
        tags, asked = tags_of(part), scopes_from_json(part.get("observation_scopes"))
        try:
            scopes = resolve_scopes(tags, asked, volatile)
        except TooManyScopes as too_many:
            raise InvalidField("tags", f"are too many for the document's scopes: {too_many}") from None
        require_tags(principal, tags)
        require_scopes(principal, [scope.tags for scope in scopes])


def _relabel_facts(
    tx: Transaction, bank_id: BankId, stored: StoredDocument, parts: Sequence[Kept], volatile: Sequence[str]
) -> list[ScopeId]:
    """Labels the facts as their items are labelled now; returns the scopes that have work then."""
    by_part = {
        place: change
        for place, (new, old) in enumerate(zip(parts, stored.parts, strict=True))
        if (change := relabelling(part_of(new), part_of(old))) is not None
    }
    changes: dict[int, Relabelling] = {}
    for chunk in tx.documents.chunks(bank_id, [stored.document_id]).get(stored.document_id, ()):
        # A chunk older than the column belongs to the first item, as the whole of its document did.
        change = by_part.get(chunk.part or 0)
        if change is not None:
            changes[chunk.index] = change
    return relabel(tx, bank_id, stored.document_id, changes, volatile)
