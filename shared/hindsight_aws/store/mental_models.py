"""Mental models in Postgres.  Called through ports/mental_models.py; calls sql/mental_models.sql."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from hindsight_aws.access import PageSight, Sight, sight
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.mental_model import Citation, MentalModel, NewMentalModel, PageChange
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.model.trigger import Creator, Trigger, creator_to_json, own_filter, staling_filter, trigger_to_json
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.mental_models import (
    CitedInSight,
    Failures,
    FoundPage,
    ModelView,
    Past,
    ScopeReading,
    Staleness,
    Vanished,
)
from hindsight_aws.ports.model_gateway import QueryVector
from hindsight_aws.store.mental_model_rows import (
    found_page,
    model_of,
    model_view,
    scope_params,
    seen_params,
    sight_columns,
)
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.tag_predicate import predicate_of
from hindsight_aws.store.vectors import half_vector

_SQL = queries("mental_models")
_MOST_COUNTED = 1_000
_KEPT = 50
"""Versions of a model that are kept, and as many failures."""


class PostgresMentalModels:
    """The mental models of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def search(
        self, bank_id: BankId, wanted: QueryVector, seen: PageSight, excluded: Collection[str], limit: int
    ) -> list[FoundPage]:
        vector = None if wanted.values is None else half_vector(wanted.values)
        if vector is None:
            return []
        rows = self._session.rows(
            _SQL["search"],
            bank_id=bank_id,
            vector=vector,
            embedding_model=wanted.model,
            excluded=sorted(excluded),
            limit=limit,
            **seen_params(seen),
        )
        return [found_page(row, float(row["relevance"])) for row in rows]

    def read(self, bank_id: BankId, ids: Sequence[str], seen: PageSight, excluded: Collection[str]) -> list[FoundPage]:
        rows = self._session.rows(
            _SQL["read"], bank_id=bank_id, ids=list(ids), excluded=sorted(excluded), **seen_params(seen)
        )
        found = {row["model_id"]: found_page(row, None) for row in rows}
        return [found[model_id] for model_id in dict.fromkeys(ids) if model_id in found]

    def exist(self, bank_id: BankId, seen: PageSight, excluded: Collection[str]) -> bool:
        row = self._session.row(_SQL["exist"], bank_id=bank_id, excluded=sorted(excluded), **seen_params(seen))
        return row is not None and row["found"] is True

    def count(self, bank_id: BankId) -> int:
        row = self._session.row(_SQL["count"], bank_id=bank_id)
        return 0 if row is None else int(row["models"])

    def add(self, bank_id: BankId, new: NewMentalModel) -> bool:
        added = self._session.execute(
            _SQL["add"],
            bank_id=bank_id,
            page_id=new.page_id,
            model_id=new.id,
            name=new.name,
            source_query=new.source_query,
            tags=list(new.tags),
            max_tokens=new.max_tokens,
            trigger=Jsonb(trigger_to_json(new.trigger)),
            creator=Jsonb(creator_to_json(new.creator)),
            due_at=new.due_at,
            **sight_columns(new.creator),
            **self._scope(new.tags, new.trigger, new.creator),
        )
        return added == 1

    def view(self, bank_id: BankId, model_id: str, seen: PageSight) -> ModelView | None:
        row = self._session.row(_SQL["view"], bank_id=bank_id, model_id=model_id, **seen_params(seen))
        return None if row is None else model_view(row)

    def page(
        self,
        bank_id: BankId,
        seen: PageSight,
        wanted: TagFilter,
        limit: int,
        offset: int,
        *,
        in_knowledge_base: bool | None = None,
    ) -> Page[ModelView]:
        both = replace(seen, tags=TagFilter((*wanted.groups, *seen.tags.groups)))
        rows = self._session.rows(
            _SQL["page"],
            bank_id=bank_id,
            limit=limit,
            offset=offset,
            in_knowledge_base=in_knowledge_base,
            **seen_params(both),
        )
        return Page([model_view(row) for row in rows if row["page_id"] is not None], rows[0]["total"])

    def lock(self, bank_id: BankId, page_id: UUID) -> MentalModel | None:
        row = self._session.row(_SQL["lock"], bank_id=bank_id, page_id=page_id)
        return None if row is None else model_of(row)

    def find(self, bank_id: BankId, page_id: UUID) -> MentalModel | None:
        row = self._session.row(_SQL["find"], bank_id=bank_id, page_id=page_id)
        return None if row is None else model_of(row)

    def change(self, bank_id: BankId, changed: MentalModel, due_at: datetime | None) -> None:
        self._session.execute(
            _SQL["change"],
            bank_id=bank_id,
            page_id=changed.page_id,
            name=changed.name,
            source_query=changed.source_query,
            max_tokens=changed.max_tokens,
            tags=list(changed.tags),
            trigger=Jsonb(trigger_to_json(changed.trigger)),
            due_at=due_at,
            **self._scope(changed.tags, changed.trigger, changed.creator),
        )

    def clear(self, bank_id: BankId, page_id: UUID, *, keeps_past: bool = True) -> None:
        self._keep_version(bank_id, page_id, keeps_past)
        self._session.execute(_SQL["clear"], bank_id=bank_id, page_id=page_id)
        self._trim(bank_id, page_id)

    def remove(self, bank_id: BankId, page_id: UUID) -> None:
        self._session.execute(_SQL["remove"], bank_id=bank_id, page_id=page_id)

    def history(self, bank_id: BankId, page_id: UUID, at_most: int) -> list[Past]:
        return [
            Past(**row)
            for row in self._session.rows(_SQL["history"], bank_id=bank_id, page_id=page_id, at_most=at_most)
        ]

    def count_in(self, bank_id: BankId, scope: TagFilter, fact_types: Collection[str]) -> int:
        row = self._session.row(
            _SQL["count_in"],
            bank_id=bank_id,
            fact_types=sorted(fact_types),
            at_most=_MOST_COUNTED,
            **predicate_of(scope).params(),
        )
        return 0 if row is None else int(row["memories"])

    def reading(self, bank_id: BankId, page_id: UUID) -> ScopeReading:
        row = self._session.row(_SQL["reading"], bank_id=bank_id, page_id=page_id)
        if row is None:
            raise AssertionError("an aggregate always answers one row")
        return ScopeReading(**row)

    def staleness(self, bank_id: BankId, page_id: UUID) -> Staleness | None:
        row = self._session.row(_SQL["staleness"], bank_id=bank_id, page_id=page_id)
        return None if row is None else row["staleness"]

    def citations(self, bank_id: BankId, page_id: UUID) -> list[Citation]:
        return [Citation(**row) for row in self._session.rows(_SQL["citations"], bank_id=bank_id, page_id=page_id)]

    def beneath(self, bank_id: BankId, ids: Collection[str], since: datetime) -> list[Citation] | None:
        asked = {"bank_id": bank_id, "ids": sorted(ids), "since": since}
        known = self._session.row(_SQL["are_traceable"], **asked)
        if known is None or known["pages"] < len(set(ids)):
            return None
        return [Citation(**row) for row in self._session.rows(_SQL["beneath"], **asked)]

    def citations_in(self, bank_id: BankId, page_id: UUID, seen: Sight) -> CitedInSight:
        rows = self._session.rows(
            _SQL["citations_in_sight"],
            bank_id=bank_id,
            page_id=page_id,
            fact_types=sorted(seen.fact_types),
            **predicate_of(seen.tags).params(),
        )
        cited = [Citation(row["id"], row["kind"], row["text"]) for row in rows if row["is_seen"] is True]
        return CitedInSight(cited, len(rows) - len(cited))

    def vanished(self, bank_id: BankId, page_id: UUID) -> list[Vanished]:
        return [Vanished(**row) for row in self._session.rows(_SQL["vanished"], bank_id=bank_id, page_id=page_id)]

    def lock_memories(self, bank_id: BankId, ids: Sequence[UUID]) -> list[Citation]:
        return [Citation(**row) for row in self._session.rows(_SQL["lock_memories"], bank_id=bank_id, ids=list(ids))]

    def awaits_consolidation(self, bank_id: BankId) -> bool:
        row = self._session.row(_SQL["awaits_consolidation"], bank_id=bank_id)
        return row is not None and row["awaits"] is True

    def prune(self, bank_id: BankId, page_id: UUID) -> None:
        self._session.execute(_SQL["prune"], bank_id=bank_id, page_id=page_id)

    def write(self, bank_id: BankId, page_id: UUID, change: PageChange, *, keeps_past: bool = True) -> None:
        self._keep_version(bank_id, page_id, keeps_past)
        self._session.execute(
            _SQL["write"],
            bank_id=bank_id,
            page_id=page_id,
            content=change.content,
            structure=Jsonb(change.structure),
            embedding=None if change.vector is None else half_vector(change.vector),
            embedding_model=change.embedding_model,
            response=Jsonb(change.response),
            written_query=change.query,
            is_full=change.is_full,
            seen=change.seen,
            snapshot=change.snapshot,
        )
        self._session.execute(
            _SQL["cite"],
            bank_id=bank_id,
            page_id=page_id,
            ids=[cited.id for cited in change.citations],
            kinds=[cited.kind for cited in change.citations],
            texts=[cited.text for cited in change.citations],
            gone=[cited.is_gone for cited in change.citations],
        )
        self._trim(bank_id, page_id)

    def stamp(self, bank_id: BankId, page_id: UUID, seen: datetime | None, snapshot: str, *, is_full: bool) -> None:
        self._session.execute(
            _SQL["stamp"], bank_id=bank_id, page_id=page_id, seen=seen, snapshot=snapshot, is_full=is_full
        )

    def fail(self, bank_id: BankId, page_id: UUID, outcome: str, reason: str, message: str, *, pauses: bool) -> None:
        self._session.execute(
            _SQL["note_failure"], bank_id=bank_id, page_id=page_id, outcome=outcome, reason=reason, message=message
        )
        if pauses:
            self._session.execute(_SQL["pause"], bank_id=bank_id, page_id=page_id)
        self._trim(bank_id, page_id)

    def failures(self, bank_id: BankId, page_id: UUID) -> Failures:
        row = self._session.row(_SQL["failures"], bank_id=bank_id, page_id=page_id)
        return Failures(0, None) if row is None else Failures(**row)

    def purge(self, bank_id: BankId, page_id: UUID) -> None:
        self._session.execute(_SQL["put_off_mending"], bank_id=bank_id, page_id=page_id)
        self._trim(bank_id, page_id)

    def move(self, bank_id: BankId, absorbed: UUID, heir: UUID) -> None:
        self._session.execute(_SQL["move_citations"], bank_id=bank_id, observation_id=absorbed, into=heir)
        self._session.execute(_SQL["drop_moved"], bank_id=bank_id, observation_id=absorbed)

    def candidates(self, bank_id: BankId, scopes: Sequence[Collection[str]]) -> list[MentalModel]:
        changed = [sorted(tags) for tags in scopes]
        together = sorted({tag for tags in changed for tag in tags})
        rows = self._session.rows(_SQL["candidates"], bank_id=bank_id, tags=together, scopes=Jsonb(changed))
        return [model_of(row) for row in rows]

    def take_marks(self, bank_id: BankId, *, even_if_busy: bool) -> list[tuple[str, ...]]:
        rows = self._session.tuples(_SQL["take_marks"], bank_id=bank_id, even_if_busy=even_if_busy)
        return [tuple(row[0]) for row in rows]

    def schedule(self, bank_id: BankId, page_id: UUID, due_at: datetime | None) -> None:
        self._session.execute(_SQL["schedule"], bank_id=bank_id, page_id=page_id, due_at=due_at)

    def _scope(self, tags: tuple[str, ...], trigger: Trigger, creator: Creator) -> dict[str, object]:
        reader = creator.reader(TenantId(self._session.tenant_id))
        read, staling = own_filter(tags, trigger), staling_filter(tags, trigger)
        return scope_params(sight(reader, trigger.fact_types, read), sight(reader, trigger.fact_types, staling))

    def _keep_version(self, bank_id: BankId, page_id: UUID, with_text: bool) -> None:
        self._session.execute(_SQL["keep_version"], bank_id=bank_id, page_id=page_id, with_text=with_text)
        self._session.execute(_SQL["forget_cited_texts"], bank_id=bank_id, page_id=page_id)

    def _trim(self, bank_id: BankId, page_id: UUID) -> None:
        self._session.execute(_SQL["blank_past"], bank_id=bank_id, page_id=page_id)
        self._session.execute(_SQL["trim"], bank_id=bank_id, page_id=page_id, kept=_KEPT)
        self._session.execute(_SQL["trim_citations"], bank_id=bank_id, page_id=page_id)
