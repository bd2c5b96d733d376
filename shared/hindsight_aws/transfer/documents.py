"""The documents of an archive with their chunks and facts, and each as it arrives in a bank.  Called by merge.py.

Members are in the order of their documents' ids, so that one document is in memory at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.entities import Naming, merged
from hindsight_aws.errors import ArchiveRefused
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.entity import EntityName
from hindsight_aws.model.ids import BankId, OperationId, UnitId, derived_uuid
from hindsight_aws.model.scope import TooManyScopes, resolve_scopes
from hindsight_aws.model.screening import ScreeningPolicy
from hindsight_aws.ports.documents import DocumentVersion, NewChunk, StoredDocument
from hindsight_aws.ports.memories import NewFact
from hindsight_aws.ports.model_gateway import Embedding, JsonObject, JsonValue
from hindsight_aws.retain.extraction.wording import indexed_text, months_of
from hindsight_aws.screening import redacted, refuse_labels
from hindsight_aws.text.terms import frequencies
from hindsight_aws.transfer.columns import called_of, moment_of, params_of, scopes_of, text_of, texts_of
from hindsight_aws.transfer.kinds import CHUNKS, DOCUMENTS, MEMORIES, Kind
from hindsight_aws.transfer.reader import ArchiveReader

_NO_DIRECTION: Final = Embedding(array("f", [0.0]), is_zero=True)
_LAST: Final = "~"
"""Comes after every id."""


@dataclass(frozen=True, slots=True)
class Group:
    """A document's rows."""

    document: JsonObject
    chunks: Sequence[JsonObject]
    memories: Sequence[JsonObject]

    @property
    def external_id(self) -> str:
        """What callers call the document.  Raises: ArchiveRefused."""
        return text_of(DOCUMENTS, self.document, "external_id")


def groups(reader: ArchiveReader) -> Iterator[Group]:
    """The documents one by one.  Raises: ArchiveRefused for rows that are not in the order of their documents."""
    chunks, memories = _Rows(reader, CHUNKS), _Rows(reader, MEMORIES)
    before = ""
    for document, _ in reader.rows(DOCUMENTS):
        document_id = text_of(DOCUMENTS, document, "document_id")
        if document_id <= before:
            raise ArchiveRefused("documents.jsonl is not in the order of document_id")
        before = document_id
        yield Group(document, chunks.of(document_id), memories.of(document_id))
    for rows in (chunks, memories):
        rows.require_end()


class _Rows:
    """The rows of a kind, handed out by document."""

    def __init__(self, reader: ArchiveReader, kind: Kind) -> None:
        self._kind = kind
        self._rows = reader.rows(kind)
        self._next = next(self._rows, None)

    def of(self, document_id: str) -> list[JsonObject]:
        """The rows of this document, which comes after those that were asked for before."""
        found: list[JsonObject] = []
        while self._next is not None and (mine := self._document()) <= document_id:
            if mine < document_id:
                raise ArchiveRefused(f"{self._kind.member} holds rows of no document, or not in the order of documents")
            found.append(self._next[0])
            self._next = next(self._rows, None)
        return found

    def require_end(self) -> None:
        """What is left belongs to no document, which only memories may."""
        if self._next is not None and self._document() != _LAST:
            raise ArchiveRefused(f"{self._kind.member} holds rows of no document, or not in the order of documents")

    def _document(self) -> str:
        if self._next is None:
            return _LAST
        found = self._next[0].get("document_id")
        return found if isinstance(found, str) else _LAST


@dataclass(frozen=True, slots=True)
class Arriving:
    """A document of an archive under its name in a bank; `stored` is what it replaces."""

    bank_id: BankId
    name: str
    operation_id: OperationId
    stored: StoredDocument | None
    config: BankConfig
    group: Group

    def names(self) -> list[tuple[EntityName, ...]]:
        """The names of each fact's entities.  Raises: ArchiveRefused."""
        return [merged(_names(row)) for row in self.group.memories]

    def screen(self, policy: ScreeningPolicy) -> None:
        """Lets the document pass if it holds nothing that the bank's policy takes out or keeps out.

        Raises: ContentRefused, or ArchiveRefused where the policy would only have redacted: the vectors stand for the
        words as they are.
        """
        group = self.group
        texts = [group.document.get("original_text"), *(row.get("chunk_text") for row in group.chunks)]
        texts += [row.get(column) for row in group.memories for column in ("text", "context")]
        labels = [
            *texts_of(DOCUMENTS, "tags", group.document.get("tags")),
            *(tag for row in group.memories for tag in texts_of(MEMORIES, "tags", row.get("tags"))),
        ]
        refuse_labels(policy, {"tags": labels, "document_id": [self.name]})
        for text in texts:
            if isinstance(text, str) and redacted(policy, text, "text") != text:
                raise ArchiveRefused(
                    f"document {self.name[:100]!r} holds what the bank's memory_defense takes out; retain it instead"
                )

    def facts(self, vectors: Sequence[Embedding | None], naming: Naming) -> list[NewFact]:
        """The document's facts, in the scopes of this bank.  Raises: ArchiveRefused."""
        ids = {str(row.get("id")): self._fact_id(row) for row in self.group.memories}
        facts = zip(self.group.memories, vectors, self.names(), strict=True)
        try:
            return [self._fact(row, vector, names, naming, ids) for row, vector, names in facts]
        except ArchiveRefused:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, TooManyScopes) as wrong:
            raise ArchiveRefused(f"memories.jsonl holds a row that is none: {wrong!r}"[:500]) from wrong

    def version(self, facts: int) -> DocumentVersion:
        """The document as it is stored.  Raises: ArchiveRefused."""
        document, keeps = self.group.document, self.config.store_document_text
        text = document.get("original_text")
        try:
            return DocumentVersion(
                document_id=document_id_of(self.bank_id, self.name),
                external_id=self.name,
                text=str(text) if keeps and text is not None else None,
                text_length=int(cast(int, document["text_length"])),
                content_hash=str(document.get("content_hash") or ""),
                retain_params=params_of(DOCUMENTS, document),
                tags=texts_of(DOCUMENTS, "tags", document.get("tags")),
                chunks=[_chunk(row, keeps) for row in self.group.chunks],
                kept=(),
                replaces=self.stored is not None,
                appends=False,
                kind="retain",
                base=None if self.stored is None else self.stored.version,
                operation_id=self.operation_id,
                facts_added=facts,
            )
        except (KeyError, TypeError, ValueError) as wrong:
            raise ArchiveRefused(f"documents.jsonl holds a row that is none: {wrong!r}"[:500]) from wrong

    def _fact_id(self, row: JsonObject) -> UnitId:
        return UnitId(derived_uuid("merged fact", self.operation_id, self.name, row.get("id")))

    def _fact(
        self,
        row: JsonObject,
        vector: Embedding | None,
        names: Sequence[EntityName],
        naming: Naming,
        ids: dict[str, UnitId],
    ) -> NewFact:
        fact_type, text, context = row["fact_type"], text_of(MEMORIES, row, "text"), row.get("context")
        if fact_type not in {"world", "experience"} or not isinstance(context, str | None) or not text:
            raise ArchiveRefused("memories.jsonl holds a fact of no type, or without a text")
        start, end = moment_of(row.get("occurred_start")), moment_of(row.get("occurred_end"))
        tags, asked = texts_of(MEMORIES, "tags", row.get("tags")), scopes_of(MEMORIES, row)
        entities = naming.of(names)
        called = tuple(dict.fromkeys(name for entity in entities for name in (entity.name, entity.spelling)))
        causes = cast("list[JsonValue]", row["causes"])
        return NewFact(
            id=self._fact_id(row),
            fact_type=str(fact_type),
            document_id=document_id_of(self.bank_id, self.name),
            chunk_index=int(cast(int, row["chunk_index"])),
            ordinal=int(cast(int, row["ordinal"])),
            text=text,
            context=context,
            embedding=_NO_DIRECTION if vector is None else vector,
            occurred_start=start,
            occurred_end=end,
            mentioned_at=moment_of(row.get("mentioned_at")),
            metadata={name: str(value) for name, value in cast(JsonObject, row["metadata"]).items()},
            tags=tags,
            observation_scopes=row.get("observation_scopes"),
            scopes=resolve_scopes(tags, asked, self.config.volatile_tags),
            entities=entities,
            term_counts=frequencies(indexed_text(text, context, months_of(start, end), called)),
            cause_ids=tuple(ids[str(cause)] for cause in causes if str(cause) in ids and cause != row.get("id")),
        )


def _names(row: JsonObject) -> Iterator[EntityName]:
    for name, kind in called_of(MEMORIES, row):
        yield EntityName(name, "label", is_literal=True) if kind == "label" else EntityName(name)


def _chunk(row: JsonObject, keeps_text: bool) -> NewChunk:
    extraction = row.get("extraction")
    key = row.get("extraction_key")
    return NewChunk(
        chunk_index=int(cast(int, row["chunk_index"])),
        part=int(cast(int, row.get("part") or 0)),
        text=text_of(CHUNKS, row, "chunk_text") if keeps_text else "",
        content_hash=text_of(CHUNKS, row, "content_hash"),
        fingerprint=str(row.get("fingerprint") or ""),
        extraction=extraction if isinstance(extraction, dict) else None,
        extraction_key=key if isinstance(key, str) else None,
    )
