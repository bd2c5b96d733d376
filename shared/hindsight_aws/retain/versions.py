"""Makes the rows of documents and chunks out of what an attempt brought in.  Called by commit; pure.

Here, and nowhere else, a bank that keeps no texts loses them.
"""

from __future__ import annotations

from collections import Counter

from hindsight_aws.model.operation import Lease
from hindsight_aws.ports.documents import DocumentVersion, EventKind, KeptChunk, NewChunk
from hindsight_aws.retain.extraction.found import to_json
from hindsight_aws.retain.plan import ChunkPlan, DocumentPlan, Outline
from hindsight_aws.retain.prepared import Prepared


def versions(prepared: Prepared, lease: Lease) -> list[DocumentVersion]:
    """The changed documents as they are written."""
    added = Counter(fact.document_id for fact in prepared.facts)
    return [_version(document, prepared, lease, added[document.outline.document_id]) for document in prepared.changed]


def _version(document: DocumentPlan, prepared: Prepared, lease: Lease, facts_added: int) -> DocumentVersion:
    outline = document.outline
    keeps_text = outline.recipe.config.store_document_text
    return DocumentVersion(
        document_id=outline.document_id,
        external_id=outline.external_id,
        text=outline.body.text if keeps_text else None,
        text_length=len(outline.body.text),
        content_hash=outline.content_hash,
        retain_params={"parts": list(outline.body.parts)},
        tags=outline.tags,
        chunks=[_new(chunk, prepared, keeps_text=keeps_text) for chunk in document.new_chunks],
        kept=[_kept(chunk, chunk.former, outline) for chunk in document.chunks if chunk.former is not None],
        replaces=outline.replaces,
        appends=outline.appends,
        kind=_kind(outline),
        base=None if outline.stored is None else outline.stored.version,
        operation_id=lease.operation_id,
        facts_added=facts_added,
    )


def _kind(outline: Outline) -> EventKind:
    if outline.task.is_again:
        return "reprocess"
    return "append" if outline.task.mode == "append" else "retain"


def _new(chunk: ChunkPlan, prepared: Prepared, *, keeps_text: bool) -> NewChunk:
    return NewChunk(
        chunk_index=chunk.index,
        part=chunk.place,
        text=chunk.text if keeps_text else "",
        content_hash=chunk.content_hash,
        fingerprint=chunk.print,
        extraction=None if chunk.key is None else to_json(prepared.found[chunk.key]),
        extraction_key=chunk.key,
    )


def _kept(chunk: ChunkPlan, former: int, outline: Outline) -> KeptChunk:
    """A chunk that stays; its text is written only where the bank's mind about keeping texts has changed."""
    keeps_text = outline.recipe.config.store_document_text
    text: str | None = None
    if outline.stored is not None and (outline.stored.text is not None) != keeps_text:
        text = chunk.text if keeps_text else ""
    return KeptChunk(former, chunk.index, chunk.place, text, chunk.print)
