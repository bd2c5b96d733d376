"""Makes facts out of extractions: ids, words, labels, terms, vectors, scopes.

Called by the job; calls the Embedder port.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hindsight_aws.entities import FactNames, Naming, merged
from hindsight_aws.model.entity import EntityName, ResolvedEntity
from hindsight_aws.model.ids import OperationId, UnitId, derived_uuid
from hindsight_aws.model.scope import MOST_COMBINED_TAGS, resolve_scopes
from hindsight_aws.ports.memories import NewFact
from hindsight_aws.ports.model_gateway import Embedder, Embedding, UsageSink
from hindsight_aws.retain.extraction.found import Extraction, FoundFact, as_it_stands
from hindsight_aws.retain.extraction.wording import embedded_text, indexed_text, months_of
from hindsight_aws.retain.intake.accepted import Part, scopes_to_json
from hindsight_aws.retain.plan import ChunkPlan, DocumentPlan
from hindsight_aws.text.terms import frequencies


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact that lacks its vector, and until `named` the entities that its names stand for."""

    document: DocumentPlan
    chunk: ChunkPlan
    ordinal: int
    found: FoundFact
    id: UnitId
    cause_ids: tuple[UnitId, ...]
    names: tuple[EntityName, ...]
    entities: tuple[ResolvedEntity, ...] = ()

    @property
    def happened(self) -> datetime | None:
        """The fact's own time, where it has one."""
        return self.found.occurred_start or self.chunk.part.happened


def drafts(
    operation_id: OperationId, documents: Iterable[DocumentPlan], found: Mapping[str, Extraction]
) -> list[Draft]:
    """The facts of every new chunk; `found` holds the extractions by key, a chunk without a key is its own fact.

    Ids are derived from operation, document, chunk and ordinal: the same on every attempt, never those of another
    operation.
    """
    made: list[Draft] = []
    for document in documents:
        for chunk in document.new_chunks:
            extraction = as_it_stands(chunk.text) if chunk.key is None else found[chunk.key]
            ids = [
                UnitId(derived_uuid("fact", operation_id, document.outline.document_id, chunk.index, ordinal))
                for ordinal in range(len(extraction.facts))
            ]
            for ordinal, fact in enumerate(extraction.facts):
                causes = tuple(ids[cause] for cause in fact.causes if cause < ordinal)
                names = merged(_names(fact, chunk.part))
                made.append(Draft(document, chunk, ordinal, fact, ids[ordinal], causes, names))
    return made


def names_of(made: Iterable[Draft]) -> list[FactNames]:
    """The names of the drafts, as they are resolved."""
    return [FactNames(draft.names, draft.happened) for draft in made]


def named(made: Iterable[Draft], naming: Naming) -> list[Draft]:
    """The drafts with the entities that their names stand for."""
    return [replace(draft, entities=naming.of(draft.names)) for draft in made]


def facts(made: Sequence[Draft], embedder: Embedder, volatile: Sequence[str], usage: UsageSink) -> list[NewFact]:
    """The drafts with their vectors.  Raises what the Embedder does."""
    if not made:
        return []
    texts = [_embedded(draft) for draft in made]
    vectors = embedder.embed(texts, "document", usage)
    return [_fact(draft, volatile, vector) for draft, vector in zip(made, vectors, strict=True)]


def _fact(draft: Draft, volatile: Sequence[str], vector: Embedding) -> NewFact:
    part, found = draft.chunk.part, draft.found
    tags = _tags(part, found)
    months = months_of(found.occurred_start, found.occurred_end)
    return NewFact(
        id=draft.id,
        fact_type=found.fact_type,
        document_id=draft.document.outline.document_id,
        chunk_index=draft.chunk.index,
        ordinal=draft.ordinal,
        text=found.text,
        context=part.context,
        embedding=vector,
        occurred_start=found.occurred_start,
        occurred_end=found.occurred_end,
        mentioned_at=part.happened,
        metadata=part.metadata,
        tags=tags,
        observation_scopes=scopes_to_json(part.observation_scopes),
        scopes=resolve_scopes(tags, part.observation_scopes, volatile),
        entities=draft.entities,
        term_counts=frequencies(indexed_text(found.text, part.context, months, _called(draft))),
        cause_ids=draft.cause_ids,
    )


def _tags(part: Part, found: FoundFact) -> tuple[str, ...]:
    """The item's tags, then the labels that are tags: of those no more than all combinations can be made of."""
    tags = tuple(dict.fromkeys((*part.tags, *found.label_tags)))
    most = MOST_COMBINED_TAGS if part.observation_scopes == "all_combinations" else len(tags)
    return tags[: max(most, len(part.tags))]


def _embedded(draft: Draft) -> str:
    start = draft.found.occurred_start or draft.chunk.part.happened
    called = tuple(dict.fromkeys(entity.name for entity in draft.entities))
    return embedded_text(draft.found.text, start, draft.found.occurred_end, called)


def _called(draft: Draft) -> tuple[str, ...]:
    """All that the fact's entities are called, by the fact and by the bank."""
    return tuple(dict.fromkeys(name for entity in draft.entities for name in (entity.name, entity.spelling)))


def _names(fact: FoundFact, part: Part) -> Iterator[EntityName]:
    """The names that extraction found, its labels, and the caller's names."""
    yield from (EntityName(name) for name in fact.entities)
    yield from (EntityName(label, "label") for label in fact.labels)
    yield from (EntityName(name, is_literal=not part.resolve_entities) for name in part.entities)
