"""Corrections by hand in Postgres.  Called through ports/curation.py; calls sql/curation.sql and its sister stores.

Locks in the global order (docs/architecture.md); the bank is the caller's, last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.errors import WorkSuperseded
from hindsight_aws.model.entity import EntityName, ResolvedEntity
from hindsight_aws.model.ids import BankId, DocumentId, ScopeId, UnitId
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.curation import Cleared, FactAsKnown, Indexing, Rewrite
from hindsight_aws.ports.documents import DocumentEvent, EventKind
from hindsight_aws.ports.entities import Mention
from hindsight_aws.store.connection import Row
from hindsight_aws.store.documents import PostgresDocuments
from hindsight_aws.store.entities import PostgresEntities
from hindsight_aws.store.index import Indexed, PostgresIndex
from hindsight_aws.store.links import PostgresLinks
from hindsight_aws.store.memories import PostgresMemories
from hindsight_aws.store.observations import PostgresObservations
from hindsight_aws.store.queries import queries
from hindsight_aws.store.scopes import PostgresScopes
from hindsight_aws.store.session import Session
from hindsight_aws.store.vectors import half_vector

_SQL = queries("curation")


class PostgresCuration:
    """The memories of one transaction's tenant, to be corrected."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = PostgresIndex(session)
        self._entities = PostgresEntities(session)
        self._links = PostgresLinks(session)
        self._observations = PostgresObservations(session)

    def look(self, bank_id: BankId, memory_id: UUID) -> FactAsKnown | None:
        row = self._session.row(_SQL["look"], bank_id=bank_id, id=memory_id)
        return None if row is None else _known(row)

    def rewrite(self, bank_id: BankId, rewrite: Rewrite) -> list[ScopeId]:
        fact, asked = rewrite.fact, {"bank_id": bank_id, "id": rewrite.fact.id}
        before = self._hold(bank_id, fact)
        names = [entity.key for entity in rewrite.entities or ()]
        self._session.tuples(_SQL["lock_entities"], **asked, name_keys=names)
        self._links.will_change(bank_id, [fact.id])
        if rewrite.entities is not None:
            self._detach(bank_id, fact.id)
            self._mention(bank_id, fact, rewrite.entities)
        ended, reopened = self._end_resting(bank_id, fact)
        indexed = Indexed(fact.id, fact.fact_type, rewrite.indexing.term_counts)
        words = {
            "text": fact.text,
            "context": fact.context,
            "occurred_start": fact.occurred_start,
            "occurred_end": fact.occurred_end,
            "mentioned_at": fact.mentioned_at,
        }
        self._session.execute(_SQL["unsay_former_words"], **asked, **words)
        self._session.execute(
            _SQL["rewrite"],
            **asked,
            **words,
            fact_type=fact.fact_type,
            embedding=half_vector(rewrite.indexing.embedding.values),
            embedding_model=rewrite.indexing.embedding_model,
            length=indexed.length,
        )
        self._index.drop_terms(bank_id, [fact.id])
        self._index.add(bank_id, [indexed])
        self._count(bank_id, [(before["fact_type"], -1, -before["terms"]), (fact.fact_type, 1, indexed.length)])
        self._note(bank_id, "fact_edited", fact, ended)
        return list(dict.fromkeys([*self._reopen(bank_id, fact.id), *reopened]))

    def archive(self, bank_id: BankId, fact: FactAsKnown, reason: str | None) -> list[ScopeId]:
        asked = {"bank_id": bank_id, "id": fact.id}
        self._hold(bank_id, fact)
        self._uncount_pairs(bank_id, fact)
        self._session.execute(_SQL["archive"], **asked, reason=reason)
        ended, reopened = self._remove(bank_id, fact)
        self._note(bank_id, "fact_invalidated", fact, ended, removed=1)
        return reopened

    def give_reason(self, bank_id: BankId, fact: FactAsKnown, reason: str | None) -> None:
        self._session.execute(_SQL["give_reason"], bank_id=bank_id, id=fact.id, reason=reason)

    def restore(
        self,
        bank_id: BankId,
        fact: FactAsKnown,
        indexing: Indexing,
        entities: Sequence[ResolvedEntity],
        scopes: Sequence[Scope],
    ) -> list[ScopeId]:
        asked = {"bank_id": bank_id, "id": fact.id}
        self._lock_archived(bank_id, fact)
        indexed = Indexed(fact.id, fact.fact_type, indexing.term_counts, fact.tags)
        back = self._session.row(
            _SQL["restore"],
            **asked,
            embedding=half_vector(indexing.embedding.values),
            embedding_model=indexing.embedding_model,
            length=indexed.length,
        )
        if back is None:
            raise WorkSuperseded("the archived fact went meanwhile")
        self._mention(bank_id, fact, entities)
        self._links.will_change(bank_id, [fact.id])
        parked = Jsonb(back["causal_links"])
        self._session.execute(_SQL["join_causes"], bank_id=bank_id, links=parked)
        self._session.execute(_SQL["park_causes"], bank_id=bank_id, links=parked)
        self._index.add(bank_id, [indexed])
        self._count(bank_id, [(fact.fact_type, 1, indexed.length)])
        opened = PostgresScopes(self._session)
        opened.open_work(bank_id, {fact.id: scopes})
        self._note(bank_id, "fact_restored", fact, [], added=1)
        return opened.ids(bank_id, scopes)

    def delete(self, bank_id: BankId, fact: FactAsKnown) -> list[ScopeId]:
        asked = {"bank_id": bank_id, "id": fact.id}
        if fact.state == "invalidated":
            self._lock_archived(bank_id, fact)
            self._session.execute(_SQL["forget_reading"], **asked)
            self._links.archive_will_lose(bank_id, fact_ids=[fact.id])
            self._session.execute(_SQL["delete_archived"], **asked)
            self._note(bank_id, "fact_deleted", fact, [])
            return []
        self._hold(bank_id, fact)
        self._session.execute(_SQL["forget_reading"], **asked)
        self._uncount_pairs(bank_id, fact)
        ended, reopened = self._remove(bank_id, fact)
        self._note(bank_id, "fact_deleted", fact, ended, removed=1)
        return reopened

    def clear_observations_of(self, bank_id: BankId, fact: FactAsKnown) -> tuple[int, list[ScopeId]]:
        self._hold(bank_id, fact)
        ended, reopened = self._end_resting(bank_id, fact)
        waiting = self._reopen(bank_id, fact.id)
        self._note(bank_id, "observations_cleared", fact, ended)
        return len(ended), list(dict.fromkeys([*waiting, *reopened]))

    def clear_facts(self, bank_id: BankId, fact_types: Sequence[str], at_most: int) -> Cleared:
        found = self._session.tuples(_SQL["facts"], bank_id=bank_id, fact_types=list(fact_types), at_most=at_most)
        if not found:
            return Cleared(0)
        reopened = PostgresMemories(self._session).remove(bank_id, [UnitId(row[0]) for row in found])
        of_document = Counter(DocumentId(row[1]) for row in found if row[1] is not None)
        gone = [DocumentEvent(each, "fact_deleted", facts_removed=facts) for each, facts in of_document.items()]
        PostgresDocuments(self._session).note(bank_id, gone)
        self._forget(bank_id, list(of_document))
        return Cleared(len(found), tuple(reopened))

    def clear_archive(self, bank_id: BankId, fact_types: Sequence[str]) -> None:
        self._links.archive_will_lose(bank_id, fact_types=fact_types)
        gone = self._session.tuples(_SQL["clear_archive"], bank_id=bank_id, fact_types=list(fact_types))
        self._forget(bank_id, [row[0] for row in gone])

    def clear_observations(
        self, bank_id: BankId, at_most: int, *, reopen: bool, scope_id: ScopeId | None = None
    ) -> Cleared:
        asked = {"bank_id": bank_id, "scope_id": scope_id, "at_most": at_most}
        ids = [row[0] for row in self._session.tuples(_SQL["lock_observations"], **asked)]
        if not ids:
            return Cleared(0)
        if reopen:
            self._session.execute(_SQL["reopen_sources"], bank_id=bank_id, ids=ids)
        self._session.execute(_SQL["bury_observations"], bank_id=bank_id, ids=ids)
        self._session.execute(_SQL["blank_histories"], bank_id=bank_id, ids=ids)
        ((units, terms),) = self._session.tuples(_SQL["end_observations"], bank_id=bank_id, ids=ids)
        self._count(bank_id, [("observation", -units, -terms)])
        return Cleared(units)

    def clear_seals(self, bank_id: BankId, scope_id: ScopeId | None = None) -> None:
        self._session.execute(_SQL["clear_seals"], bank_id=bank_id, scope_id=scope_id)

    def reopen_all(self, bank_id: BankId, scope_id: ScopeId | None = None) -> list[ScopeId]:
        rows = self._session.tuples(_SQL["reopen_all"], bank_id=bank_id, scope_id=scope_id)
        return [ScopeId(row[0]) for row in rows]

    def _hold(self, bank_id: BankId, fact: FactAsKnown) -> Row:
        """Locks the fact behind its document, as it was known.  Raises: WorkSuperseded."""
        self._lock_document(bank_id, fact)
        row = self._session.row(_SQL["lock_fact"], bank_id=bank_id, id=fact.id, version=fact.version)
        if row is None:
            raise WorkSuperseded("the fact changed or went meanwhile")
        return row

    def _remove(self, bank_id: BankId, fact: FactAsKnown) -> tuple[list[UUID], list[ScopeId]]:
        """Takes a fact that is locked out of the live ones: what rested on it, and where its co-sources wait."""
        ended = [row[0] for row in self._session.tuples(_SQL["resting"], bank_id=bank_id, id=fact.id)]
        return ended, PostgresMemories(self._session).remove(bank_id, [fact.id])

    def _uncount_pairs(self, bank_id: BankId, fact: FactAsKnown) -> None:
        """Takes the fact off the pairs of its entities, which stay locked."""
        self._session.tuples(_SQL["lock_entities"], bank_id=bank_id, id=fact.id, name_keys=[])
        self._session.execute(_SQL["uncount_pairs"], bank_id=bank_id, id=fact.id)

    def _lock_archived(self, bank_id: BankId, fact: FactAsKnown) -> None:
        """Locks the archived fact behind its document, as it was known.  Raises: WorkSuperseded."""
        self._lock_document(bank_id, fact)
        if self._session.row(_SQL["lock_archived"], bank_id=bank_id, id=fact.id, version=fact.version) is None:
            raise WorkSuperseded("the archived fact changed or went meanwhile")

    def _lock_document(self, bank_id: BankId, fact: FactAsKnown) -> None:
        if fact.document_id is not None:
            self._session.tuples(_SQL["lock_document"], bank_id=bank_id, document_id=fact.document_id)

    def _end_resting(self, bank_id: BankId, fact: FactAsKnown) -> tuple[list[UUID], list[ScopeId]]:
        ended = [row[0] for row in self._session.tuples(_SQL["resting"], bank_id=bank_id, id=fact.id)]
        return ended, self._observations.sweep(bank_id, [fact.id])

    def _reopen(self, bank_id: BankId, fact_id: UnitId) -> list[ScopeId]:
        return [ScopeId(row[0]) for row in self._session.tuples(_SQL["reopen_work"], bank_id=bank_id, id=fact_id)]

    def _detach(self, bank_id: BankId, fact_id: UnitId) -> None:
        for name in ("uncount_mentions", "uncount_pairs", "detach_entities"):
            self._session.execute(_SQL[name], bank_id=bank_id, id=fact_id)

    def _mention(self, bank_id: BankId, fact: FactAsKnown, entities: Sequence[ResolvedEntity]) -> None:
        at = fact.occurred_start or fact.mentioned_at
        self._entities.mention(bank_id, [Mention(fact.id, entity, at) for entity in entities])

    def _forget(self, bank_id: BankId, document_ids: Sequence[UUID]) -> None:
        ids = sorted(document_ids)
        self._session.execute(_SQL["forget_bodies"], bank_id=bank_id, document_ids=ids)
        self._session.execute(_SQL["forget_extractions"], bank_id=bank_id, document_ids=ids)

    def _count(self, bank_id: BankId, changes: Sequence[tuple[str, int, int]]) -> None:
        units: Counter[str] = Counter()
        terms: Counter[str] = Counter()
        for fact_type, memories, length in changes:
            units[fact_type] += memories
            terms[fact_type] += length
        self._index.count(bank_id, {name: (units[name], terms[name]) for name in units})

    def _note(
        self,
        bank_id: BankId,
        kind: EventKind,
        fact: FactAsKnown,
        ended: Sequence[UUID],
        *,
        added: int = 0,
        removed: int = 0,
    ) -> None:
        if fact.document_id is not None:
            event = DocumentEvent(
                fact.document_id,
                kind,
                fact_id=fact.id,
                facts_added=added,
                facts_removed=removed,
                observations_removed=ended,
            )
            PostgresDocuments(self._session).note(bank_id, [event])


def _known(row: Row) -> FactAsKnown:
    return FactAsKnown(
        id=UnitId(row["id"]),
        fact_type=row["fact_type"],
        state=row["state"],
        version=row["version"],
        document_id=row["document_id"],
        text=row["text"],
        context=row["context"],
        occurred_start=row["occurred_start"],
        occurred_end=row["occurred_end"],
        mentioned_at=row["mentioned_at"],
        tags=tuple(row["tags"]),
        observation_scopes=row["observation_scopes"],
        names=(
            *(EntityName(name, is_literal=True) for name in row["names"]),
            *(EntityName(name, "label", is_literal=True) for name in row["labels"]),
        ),
    )
