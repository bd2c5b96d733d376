"""Settles what a page's new text rests on.  Called by keeper.py in the transaction that writes it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hindsight_aws.errors import WorkRaced
from hindsight_aws.mental_models.refresh.end import RefreshEnd
from hindsight_aws.model.mental_model import Citation
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.page_keeper import FoundPiece
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.loop.state import DOCUMENT_TASK

_FIELDS = {"memory": "memory_ids", "observation": "observation_ids", "mental_model": "mental_model_ids"}
_OPEN_AT_MOST = timedelta(minutes=1)
"""So long a write of a page may have been open when it was still read as it was before."""
_MEMORIES = ("memory", "observation")


def citations_of(tx: Transaction, ended: RefreshEnd) -> list[Citation]:
    """What the text rests on, each memory locked until the transaction ends; one that went meanwhile is among them.

    A whole page rests on what it names, or on all that was found of a kind of which it names nothing.  A page that was
    edited rests on what it did, without what was taken out, and on what was found now.  What another page says rests on
    what that one rested on when it was read.

    Raises: WorkRaced where it cannot be told any more what a page that was read rested on.
    """
    kept, made = ended.kept, ended.made
    if not made.is_written or not made.content:
        return []
    bank_id = ended.run.bank_id
    if kept.effective == "full":
        before: list[Citation] = []
        pieces = used(ended.said.get(DOCUMENT_TASK, {}), ended.found)
    else:
        before = tx.mental_models.citations(bank_id, kept.page_id)
        pieces = list(ended.found) if made.edits is not None and made.edits.applied else []
    wanted = {one.id: one for one in before}
    for one in (*_of_memories(pieces), *_of_pages(tx, ended, pieces)):
        known = wanted.get(one.id)
        if known is None or not known.is_gone:
            wanted[one.id] = one
    unsaid = {one.id for one in kept.gone} if kept.retracts else set()
    there = {one.id: one for one in tx.mental_models.lock_memories(bank_id, sorted(wanted))}
    settled = (_settled(wanted[memory_id], there.get(memory_id), unsaid) for memory_id in sorted(wanted))
    return [one for one in settled if one is not None]


def _of_memories(pieces: Sequence[FoundPiece]) -> list[Citation]:
    return [
        Citation(memory_id, "observation" if piece.kind == "observation" else "world", piece.text)
        for piece in pieces
        if piece.kind in _MEMORIES and (memory_id := _uuid(piece.id)) is not None
    ]


def _of_pages(tx: Transaction, ended: RefreshEnd, pieces: Sequence[FoundPiece]) -> list[Citation]:
    """What the pages among these rested on, at any time since the run began."""
    read = sorted({piece.id for piece in pieces if piece.kind == "mental_model"})
    if not read:
        return []
    beneath = tx.mental_models.beneath(ended.run.bank_id, read, ended.run.created_at - _OPEN_AT_MOST)
    if beneath is None:
        raise WorkRaced("a page that this one was written from was mended meanwhile")
    return beneath


def _settled(wanted: Citation, there: Citation | None, unsaid: Collection[UUID]) -> Citation | None:
    """The memory as the text rests on it; None where the text says nothing of it any more.

    A fact that says something else than what was read is gone, though its id is there.
    """
    if wanted.is_gone and wanted.id in unsaid:
        return there
    if there is None or wanted.is_gone or (there.kind != "observation" and there.text != wanted.text):
        return replace(wanted, is_gone=True)
    return there


def used(reply: JsonObject, found: Sequence[FoundPiece]) -> list[FoundPiece]:
    """What was found and is named by a reply; of a kind of which nothing is named, all of it."""
    named = {kind: _aliases(reply, field) for kind, field in _FIELDS.items()}
    cited = {piece.kind for piece in found if _is_named(piece, named.get(piece.kind, ()))}
    return [piece for piece in found if piece.kind not in cited or _is_named(piece, named.get(piece.kind, ()))]


def _is_named(piece: FoundPiece, names: Collection[str]) -> bool:
    return piece.alias in names or piece.id in names


def _aliases(reply: JsonObject, field: str) -> frozenset[str]:
    names = reply.get(field)
    listed = [names] if isinstance(names, str) else names
    return frozenset(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else frozenset()


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
