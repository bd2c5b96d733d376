"""Decides what an operation has to do: which documents changed, and which chunks of them are to be extracted.

Called by the job with what is stored; pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.document import document_id_of, generated_external_id
from hindsight_aws.model.ids import BankId, DocumentId, OperationId
from hindsight_aws.ports.documents import StoredDocument
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.retain.chunking.chunk import chunk_text
from hindsight_aws.retain.chunking.turns import turns_of_array
from hindsight_aws.retain.extraction.extract import Passage, extraction_key
from hindsight_aws.retain.extraction.recipes import Recipe
from hindsight_aws.retain.intake.accepted import DocumentTask, Part, part_to_json


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """A chunk of one part; `key` is what its extraction is kept under, None where no model is asked."""

    index: int
    part: Part
    text: str
    passage: Passage
    key: str | None

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of the chunk's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """A document to be written, with its whole new body; `is_unchanged` means that there is nothing to do."""

    task: DocumentTask
    document_id: DocumentId
    external_id: str
    recipe: Recipe
    body: str
    content_hash: str
    params: JsonObject
    tags: tuple[str, ...]
    chunks: tuple[ChunkPlan, ...]
    appends: bool
    replaces: bool
    is_unchanged: bool

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


def plan_document(
    bank_id: BankId,
    operation_id: OperationId,
    task: DocumentTask,
    recipe: Recipe,
    stored: StoredDocument | None,
) -> DocumentPlan:
    """What is to be done for one document of the operation.

    Raises: InvalidRequest for an append to a document whose text is not kept.
    """
    external_id = _external_id(operation_id, task)
    appends = task.mode == "append" and stored is not None
    texts = [part.content for part in task.parts]
    tags = list(dict.fromkeys(tag for part in task.parts for tag in part.tags))
    parts = [part_to_json(part) | {"content": len(part.content)} for part in task.parts]
    first_chunk = 0
    if appends and stored is not None:
        if stored.text is None and recipe.config.store_document_text:
            raise InvalidRequest(
                f"{task.parts[0].path}.update_mode 'append' needs the document's text, which is not kept"
            )
        texts.insert(0, stored.text or "")
        tags = list(dict.fromkeys([*stored.tags, *tags]))
        parts = [*_stored_parts(stored), *parts]
        first_chunk = stored.next_chunk
    body = joined(texts)
    content_hash = hashlib.sha256(body.encode()).hexdigest()
    return DocumentPlan(
        task=task,
        document_id=document_id_of(bank_id, external_id),
        external_id=external_id,
        recipe=recipe,
        body=body,
        content_hash=content_hash,
        params={"parts": list(parts)},
        tags=tuple(tags),
        chunks=_chunks(task, recipe, first_chunk),
        appends=appends,
        replaces=stored is not None and not appends,
        is_unchanged=not appends and stored is not None and _same(stored, content_hash, parts),
    )


def joined(texts: Sequence[str]) -> str:
    """Several texts as one body: JSON conversations become one conversation, all else is joined by line feeds."""
    if len(texts) == 1:
        return texts[0]
    conversations = [turns_of_array(text) for text in texts]
    if all(turns is not None for turns in conversations):
        return f"[{','.join(turn for turns in conversations for turn in turns or ())}]"
    return "\n".join(texts)


def _chunks(task: DocumentTask, recipe: Recipe, first: int) -> tuple[ChunkPlan, ...]:
    size, structured = recipe.config.retain_chunk_size, recipe.config.retain_structured_chunk_size
    cut = [(part, text) for part in task.parts for text in chunk_text(part.content, size, structured)]
    plans: list[ChunkPlan] = []
    for place, (part, text) in enumerate(cut):
        passage = Passage(text, place, len(cut), part.happened, part.context, part.metadata)
        key = None if recipe.extractor is None else extraction_key(recipe.extractor, passage)
        plans.append(ChunkPlan(first + place, part, text, passage, key))
    return tuple(plans)


def _external_id(operation_id: OperationId, task: DocumentTask) -> str:
    return task.external_id if task.external_id is not None else generated_external_id(operation_id, task.place)


def _same(stored: StoredDocument, content_hash: str, parts: Sequence[JsonObject]) -> bool:
    """Whether the document already is what was asked for; a date nobody gave does not make it another."""
    was = _stored_parts(stored)
    return stored.content_hash == content_hash and [_asked(part) for part in was] == [_asked(part) for part in parts]


def _asked(part: Mapping[str, object]) -> dict[str, object]:
    ignored = {"position"} if part.get("is_dated") else {"position", "happened"}
    return {name: value for name, value in part.items() if name not in ignored}


def _stored_parts(stored: StoredDocument) -> list[JsonObject]:
    parts = stored.retain_params.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
