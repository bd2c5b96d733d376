"""Makes facts out of extractions: ids, words, labels, terms, vectors, scopes.

Called by the job; calls the Embedder port.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.model.entity import name_key
from hindsight_aws.model.ids import OperationId, UnitId, derived_uuid
from hindsight_aws.model.scope import resolve_scopes
from hindsight_aws.ports.memories import NewFact
from hindsight_aws.ports.model_gateway import Embedder, Embedding, UsageSink
from hindsight_aws.retain.extraction.found import Extraction, FoundFact
from hindsight_aws.retain.extraction.wording import embedded_text, indexed_text, months_of
from hindsight_aws.retain.intake.accepted import scopes_to_json
from hindsight_aws.retain.plan import ChunkPlan, DocumentPlan
from hindsight_aws.text.terms import frequencies


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact that lacks only its vector."""

    document: DocumentPlan
    chunk: ChunkPlan
    ordinal: int
    found: FoundFact
    id: UnitId
    cause_ids: tuple[UnitId, ...]
    entities: tuple[str, ...]


def drafts(
    operation_id: OperationId, documents: Iterable[DocumentPlan], found: Mapping[str, Extraction]
) -> list[Draft]:
    """The facts of every chunk; `found` holds the extractions by key, a chunk without a key is its own fact.

    Ids are derived from operation, document, chunk and ordinal: the same on every attempt, never those of another
    operation.
    """
    made: list[Draft] = []
    for document in documents:
        for chunk in document.chunks:
            extraction = as_it_is(chunk.text) if chunk.key is None else found[chunk.key]
            ids = [
                UnitId(derived_uuid("fact", operation_id, document.document_id, chunk.index, ordinal))
                for ordinal in range(len(extraction.facts))
            ]
            for ordinal, fact in enumerate(extraction.facts):
                causes = tuple(ids[cause] for cause in fact.causes if cause < ordinal)
                entities = _merged((*fact.entities, *chunk.part.entities))
                made.append(Draft(document, chunk, ordinal, fact, ids[ordinal], causes, entities))
    return made


def as_it_is(text: str) -> Extraction:
    """The extraction of a chunk that no model reads: the chunk is the fact."""
    return Extraction((FoundFact(text),))


def facts(made: Sequence[Draft], embedder: Embedder, volatile: Sequence[str], usage: UsageSink) -> list[NewFact]:
    """The drafts with their vectors.  Raises what the Embedder does."""
    if not made:
        return []
    texts = [_embedded(draft) for draft in made]
    vectors = embedder.embed(texts, "document", usage)
    return [_fact(draft, volatile, vector) for draft, vector in zip(made, vectors, strict=True)]


def _fact(draft: Draft, volatile: Sequence[str], vector: Embedding) -> NewFact:
    part, found = draft.chunk.part, draft.found
    months = months_of(found.occurred_start, found.occurred_end)
    return NewFact(
        id=draft.id,
        fact_type=found.fact_type,
        document_id=draft.document.document_id,
        chunk_index=draft.chunk.index,
        ordinal=draft.ordinal,
        text=found.text,
        context=part.context,
        embedding=vector,
        occurred_start=found.occurred_start,
        occurred_end=found.occurred_end,
        mentioned_at=part.happened,
        metadata=part.metadata,
        tags=part.tags,
        observation_scopes=scopes_to_json(part.observation_scopes),
        scopes=resolve_scopes(part.tags, part.observation_scopes, volatile),
        entities=draft.entities,
        term_counts=frequencies(indexed_text(found.text, part.context, months, draft.entities)),
        cause_ids=draft.cause_ids,
    )


def _embedded(draft: Draft) -> str:
    start = draft.found.occurred_start or draft.chunk.part.happened
    return embedded_text(draft.found.text, start, draft.found.occurred_end, draft.entities)


def _merged(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each entity once, in its first spelling."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name_key(name), name)
    return tuple(first.values())
