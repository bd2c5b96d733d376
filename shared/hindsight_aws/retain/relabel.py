"""Gives the facts of chunks that stay the labels their items have now, without a new look at their text.

Called by commit and by whoever edits a document's labels; calls the store ports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.model.ids import BankId, DocumentId, ScopeId
from hindsight_aws.model.scope import resolve_scopes
from hindsight_aws.ports.memories import LabelledFact, Labels
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain.intake.accepted import Part, scopes_from_json, scopes_to_json


@dataclass(frozen=True, slots=True)
class Relabelling:
    """The labels that a chunk's item has now; `former_tags` are those it had, None where that is not known."""

    labels: Labels
    former_tags: frozenset[str] | None


def labels_of(part: Part) -> Labels:
    """The labels of an item."""
    return Labels(part.tags, part.metadata, scopes_to_json(part.observation_scopes))


def relabelling(part: Part, former: Part | None) -> Relabelling | None:
    """What changes for the facts of an item, or None when it bears the labels it bore."""
    if former is not None and _alike(labels_of(part), labels_of(former)):
        return None
    return Relabelling(labels_of(part), None if former is None else frozenset(former.tags))


def relabel(
    tx: Transaction,
    bank_id: BankId,
    document_id: DocumentId,
    changes: Mapping[int, Relabelling],
    volatile: Sequence[str],
) -> list[ScopeId]:
    """Changes the facts of these chunks, by index, whose labels differ; the others are not touched.

    A tag that a fact has from its own label entities, or from anywhere but its item, stays.  Where a fact's scopes
    move, observations that rest on it end in the scopes it leaves.  Returns the scopes that have work now.
    """
    facts = tx.memories.labelled(bank_id, document_id, list(changes)) if changes else []
    wanted = {fact.id: _wanted(fact, changes[fact.chunk_index]) for fact in facts}
    differing = [fact for fact in facts if not _alike(fact.labels, wanted[fact.id])]
    if not differing:
        return []
    tx.memories.relabel(bank_id, {fact.id: wanted[fact.id] for fact in differing})
    scopes = {
        fact.id: resolve_scopes(wanted[fact.id].tags, scopes_from_json(wanted[fact.id].observation_scopes), volatile)
        for fact in differing
        if fact.is_valid
    }
    return tx.scopes.recompute(bank_id, scopes) if scopes else []


def _wanted(fact: LabelledFact, change: Relabelling) -> Labels:
    own = [tag for tag in fact.labels.tags if _is_own(tag, fact, change)]
    tags = tuple(dict.fromkeys((*change.labels.tags, *own)))
    return Labels(tags, change.labels.metadata, change.labels.observation_scopes)


def _is_own(tag: str, fact: LabelledFact, change: Relabelling) -> bool:
    return tag in fact.derived or (change.former_tags is not None and tag not in change.former_tags)


def _alike(one: Labels, other: Labels) -> bool:
    return (
        set(one.tags) == set(other.tags)
        and dict(one.metadata) == dict(other.metadata)
        and one.observation_scopes == other.observation_scopes
    )
