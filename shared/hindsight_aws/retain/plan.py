"""Decides what an operation has to do: which documents changed, and which chunks of them are to be extracted.

Called by the job with what is stored; pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.document import document_id_of, generated_external_id
from hindsight_aws.model.ids import BankId, DocumentId, OperationId
from hindsight_aws.ports.documents import StoredChunk, StoredDocument
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.retain.body import Body, body_of
from hindsight_aws.retain.delta import FormerChunk, FormerChunks, Piece, cut_afresh, cut_again, fingerprint
from hindsight_aws.retain.extraction.passages import Passage, passages_of
from hindsight_aws.retain.extraction.recipes import Recipe
from hindsight_aws.retain.extraction.request import extraction_key
from hindsight_aws.retain.intake.accepted import DocumentTask, Part, part_from_json


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """A chunk of the part at `place` of its document.

    `key` is what its extraction is kept under, None where no model is asked.  `former` is the index that the chunk has
    had so far, for its facts stay, and `former_part` what its item was then; None for a new one.
    """

    index: int
    part: Part
    place: int
    text: str
    passage: Passage
    key: str | None
    print: str
    former: int | None = None
    former_part: Part | None = None

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of the chunk's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Outline:
    """A document as it shall be, before its chunks are known; `is_unchanged` means that there is nothing to do."""

    task: DocumentTask
    document_id: DocumentId
    external_id: str
    recipe: Recipe
    stored: StoredDocument | None
    body: Body
    content_hash: str
    tags: tuple[str, ...]
    appends: bool
    is_unchanged: bool

    @property
    def replaces(self) -> bool:
        """Whether what the document held before goes."""
        return self.stored is not None and not self.appends

    @property
    def needs_former_chunks(self) -> bool:
        """Whether chunks of the stored version may stay."""
        return self.stored is not None and not (self.appends or self.is_unchanged or self.task.is_again)


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """A document to be written.  `chunks` are all of them, of an append only the new ones."""

    outline: Outline
    chunks: tuple[ChunkPlan, ...]

    @property
    def task(self) -> DocumentTask:
        """What was asked for."""
        return self.outline.task

    @property
    def is_unchanged(self) -> bool:
        """Whether there is nothing to do."""
        return self.outline.is_unchanged

    @property
    def new_chunks(self) -> list[ChunkPlan]:
        """The chunks whose facts are yet to be made."""
        return [] if self.is_unchanged else [chunk for chunk in self.chunks if chunk.former is None]

    @property
    def name(self) -> str:
        """How messages name the document: by its items."""
        return ", ".join(part.path for part in self.task.parts[:5])


def named_documents(bank_id: BankId, tasks: Sequence[DocumentTask]) -> dict[DocumentId, str]:
    """The documents that callers named, by id: those that must be leased."""
    names = [task.external_id for task in tasks if task.external_id is not None]
    return {document_id_of(bank_id, name): name for name in names}


def planned_id(bank_id: BankId, operation_id: OperationId, task: DocumentTask) -> DocumentId:
    """The id of the document, named or generated, that this work of an operation writes."""
    return document_id_of(bank_id, _external_id(operation_id, task))


def outline(
    bank_id: BankId, operation_id: OperationId, task: DocumentTask, recipe: Recipe, stored: StoredDocument | None
) -> Outline:
    """What the document shall be.

    Raises: InvalidRequest for an append to a document whose text is not kept, or for one that is to be made again.
    """
    if task.is_again and not task.parts:
        raise InvalidRequest(f"document {task.external_id!r} has no stored text any more")
    appends = task.mode == "append" and stored is not None
    tags = list(dict.fromkeys(tag for part in task.parts for tag in part.tags))
    body = body_of(task.parts)
    if appends and stored is not None:
        if stored.text is None:
            raise InvalidRequest(
                f"{task.parts[0].path}.update_mode 'append' needs the document's text, which is not kept"
            )
        tags = list(dict.fromkeys([*stored.tags, *tags]))
        body = body_of(task.parts, stored.text, stored.parts)
    content_hash = hashlib.sha256(body.text.encode()).hexdigest()
    external_id = _external_id(operation_id, task)
    keeps_text = recipe.config.store_document_text
    return Outline(
        task=task,
        document_id=document_id_of(bank_id, external_id),
        external_id=external_id,
        recipe=recipe,
        stored=stored,
        body=body,
        content_hash=content_hash,
        tags=tuple(tags),
        appends=appends,
        is_unchanged=stored is not None
        and not (appends or task.is_again)
        and (stored.text is not None) == keeps_text
        and _same(stored, content_hash, body.parts),
    )


def plan_document(document: Outline, former: Sequence[StoredChunk] = ()) -> DocumentPlan:
    """What is to be done for one document of the operation, given the chunks of its stored version that may stay."""
    if document.is_unchanged:
        return DocumentPlan(document, ())
    recipe, parts, stored = document.recipe, document.task.parts, document.stored
    size, structured = recipe.config.retain_chunk_size, recipe.config.retain_structured_chunk_size
    known = _known(former, stored)
    cut = cut_again(parts, known, size, structured) if known.chunks else cut_afresh(parts, size, structured)
    first, first_part, before = 0, 0, ""
    if document.appends and stored is not None:
        first, first_part, before = stored.next_chunk, len(stored.parts), _end_seen_by(parts[0], stored)
    is_one_text = document.task.external_id is not None
    texts = [(parts[piece.part], piece.text) for piece in cut]
    passages = passages_of(texts, first, before, is_one_text=is_one_text)
    were = [part_of(part) for part in stored.parts] if stored is not None and known.chunks else []
    chunks = [
        ChunkPlan(
            index=first + place,
            part=parts[piece.part],
            place=first_part + piece.part,
            text=piece.text,
            passage=passage,
            key=None if recipe.extractor is None else extraction_key(recipe.extractor, passage),
            print=piece.print,
            **_origin(piece, known, were),
        )
        for place, (piece, passage) in enumerate(zip(cut, passages, strict=True))
    ]
    return DocumentPlan(document, tuple(chunks))


class _Origin(TypedDict, total=False):
    former: int
    former_part: Part | None


def _origin(piece: Piece, known: FormerChunks, were: Sequence[Part]) -> _Origin:
    """Where a chunk that stays has been so far."""
    if piece.former is None:
        return {}
    chunk = known.chunks[piece.former]
    place = 0 if chunk.part is None and len(were) == 1 else chunk.part
    was = were[place] if place is not None and place < len(were) else None
    return {"former": chunk.index, "former_part": was}


def _known(former: Sequence[StoredChunk], stored: StoredDocument | None) -> FormerChunks:
    """The stored chunks; where a chunk of a document of one part lacks its fingerprint, it is made up for."""
    only = part_of(stored.parts[0]) if stored is not None and len(stored.parts) == 1 else None
    chunks: list[FormerChunk] = []
    for chunk in former:
        made_by = chunk.fingerprint
        if made_by is None and only is not None and chunk.text:
            made_by = fingerprint(chunk.text, only)
        chunks.append(FormerChunk(chunk.index, chunk.part, chunk.text, made_by))
    return FormerChunks(chunks)


def part_of(kept: Mapping[str, object]) -> Part:
    """A part as it was, but for its text."""
    return part_from_json({**kept, "content": ""})  # type: ignore[dict-item]  # what part_to_json wrote, read from JSON


def _end_seen_by(part: Part, stored: StoredDocument) -> str:
    """The text that an appended part follows, if its facts may be written in its light: none of another scope's."""
    if stored.text is None or not stored.parts:
        return ""
    last = part_of(stored.parts[-1])
    is_alike = set(last.tags) == set(part.tags) and last.observation_scopes == part.observation_scopes
    return stored.text if is_alike else ""


def _external_id(operation_id: OperationId, task: DocumentTask) -> str:
    return task.external_id if task.external_id is not None else generated_external_id(operation_id, task.place)


def _same(stored: StoredDocument, content_hash: str, parts: Sequence[JsonObject]) -> bool:
    """Whether the document already is what was asked for; a date nobody gave does not make it another."""
    return stored.content_hash == content_hash and [_asked(part) for part in stored.parts] == [
        _asked(part) for part in parts
    ]


def _asked(part: Mapping[str, object]) -> dict[str, object]:
    ignored = {"position", "at", "turns"} if part.get("is_dated") else {"position", "at", "turns", "happened"}
    return {name: value for name, value in part.items() if name not in ignored}
