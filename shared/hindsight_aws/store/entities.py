"""Entities in Postgres.  Called through ports/entities.py; calls sql/entities.sql."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.entity import ResolvedEntity, name_key
from hindsight_aws.model.ids import BankId, EntityId, UnitId, derived_uuid
from hindsight_aws.ports.entities import (
    EntityGraph,
    EntityPair,
    EntityView,
    FoundEntity,
    KnownEntity,
    Mention,
    NameProbe,
)
from hindsight_aws.ports.listing import Page
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("entities")

_MOST_PROBES: Final = 1_000
_MOST_SPELLINGS: Final = 32


class PostgresEntities:
    """The entities of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def known(self, bank_id: BankId, probes: Sequence[NameProbe]) -> list[FoundEntity]:
        rows: list[Row] = []
        for start in range(0, len(probes), _MOST_PROBES):
            asked = probes[start : start + _MOST_PROBES]
            pairs = [(place, key) for place, probe in enumerate(asked, 1) for key in probe.keys]
            rows += self._session.rows(
                _SQL["known"],
                bank_id=bank_id,
                name_keys=[probe.key for probe in asked],
                words=[probe.words for probe in asked],
                places=[place for place, _ in pairs],
                keys=[key for _, key in pairs],
                most_spellings=_MOST_SPELLINGS,
            )
        return [FoundEntity(row["asked"], _known(row), row["similarity"], row["is_spelling"]) for row in rows]

    def companions(self, bank_id: BankId, entity_ids: Sequence[EntityId], most: int) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        pairs = self._session.tuples(_SQL["companions"], bank_id=bank_id, entity_ids=list(entity_ids), most=most)
        for name, companion in pairs:
            found[name].append(companion)
        return found

    def claim(self, bank_id: BankId, coming: Sequence[ResolvedEntity], leaving: Sequence[UnitId]) -> None:
        made = self._make(bank_id, {entity.key: entity for entity in coming})
        self._session.execute(_SQL["claim"], bank_id=bank_id, **made, leaving=list(leaving))

    def mention(self, bank_id: BankId, mentions: Sequence[Mention]) -> None:
        if not mentions:
            return
        entities = {mention.entity.key: mention.entity for mention in mentions}
        self._count(bank_id, entities, mentions)
        self._note_spellings(bank_id, mentions)
        self._session.execute(
            _SQL["join_facts"],
            bank_id=bank_id,
            unit_ids=[mention.unit_id for mention in mentions],
            name_keys=[mention.entity.key for mention in mentions],
        )
        times = {mention.unit_id: mention.at for mention in mentions}
        self._session.execute(
            _SQL["count_cooccurrences"], bank_id=bank_id, unit_ids=list(times), times=list(times.values())
        )

    def page(self, bank_id: BankId, sight: Sight | None, limit: int, offset: int) -> Page[EntityView]:
        rows = self._entity_rows(bank_id, sight, None, limit, offset)
        return Page([_entity(row) for row in rows if row["entity_id"] is not None], rows[0]["total"])

    def view(self, bank_id: BankId, sight: Sight | None, entity_id: UUID) -> EntityView | None:
        rows = self._entity_rows(bank_id, sight, entity_id, 1, 0)
        if rows[0]["entity_id"] is None:
            return None
        known_as: list[str] = []
        if sight is None:
            known_as = [row[0] for row in self._session.tuples(_SQL["spellings"], bank_id=bank_id, entity_id=entity_id)]
        return _entity(rows[0], known_as)

    def graph(self, bank_id: BankId, sight: Sight, limit: int, least: int) -> EntityGraph:
        rows = self._session.rows(_SQL["graph"], bank_id=bank_id, limit=limit, least=least, **sight_params(sight))
        nodes = [
            EntityView(row["one"], row["name"], row["weight"], row["first_seen"], row["last_seen"])
            for row in rows
            if row["name"] is not None
        ]
        edges = [
            EntityPair(row["one"], row["other"], row["weight"], row["last_seen"])
            for row in rows
            if row["other"] is not None
        ]
        return EntityGraph(nodes, edges, rows[0]["nodes"], rows[0]["edges"])

    def _make(self, bank_id: BankId, entities: Mapping[str, ResolvedEntity]) -> dict[str, object]:
        """Makes entities where missing; returns them as the parameters of the statement that is to lock or count them.

        An entity's id follows from its name, so two transactions that make it collide on both unique keys, and an
        upsert waits for the other only by the one it names.
        """
        rows: dict[str, object] = {
            "entity_ids": [derived_uuid("entity", self._session.tenant_id, bank_id, key) for key in entities],
            "names": [entity.name for entity in entities.values()],
            "name_keys": list(entities),
            "kinds": [entity.kind for entity in entities.values()],
            "words": [entity.words for entity in entities.values()],
        }
        self._session.execute(_SQL["make"], bank_id=bank_id, **rows)
        return rows

    def _count(self, bank_id: BankId, entities: Mapping[str, ResolvedEntity], mentions: Sequence[Mention]) -> None:
        of_key: dict[str, list[Mention]] = defaultdict(list)
        for mention in mentions:
            of_key[mention.entity.key].append(mention)
        times = {key: [mention.at for mention in of_key[key] if mention.at is not None] for key in entities}
        self._session.execute(
            _SQL["mention"],
            bank_id=bank_id,
            **self._make(bank_id, entities),
            mentions=[len({mention.unit_id for mention in of_key[key]}) for key in entities],
            first_at=[min(times[key], default=None) for key in entities],
            last_at=[max(times[key], default=None) for key in entities],
        )

    def _note_spellings(self, bank_id: BankId, mentions: Sequence[Mention]) -> None:
        """What entities are found by from now on."""
        pairs = sorted({(mention.entity.key, key) for mention in mentions for key in mention.entity.keys})
        self._session.execute(
            _SQL["add_keys"], bank_id=bank_id, name_keys=[name for name, _ in pairs], keys=[key for _, key in pairs]
        )
        new = {
            name_key(mention.entity.spelling): mention.entity
            for mention in mentions
            if mention.entity.rule in {"words", "likeness"}
        }
        if new:
            self._session.execute(
                _SQL["add_spellings"],
                bank_id=bank_id,
                spelling_keys=list(new),
                spellings=[entity.spelling for entity in new.values()],
                name_keys=[entity.key for entity in new.values()],
                rules=[entity.rule for entity in new.values()],
                scores=[entity.score for entity in new.values()],
            )

    def _entity_rows(
        self, bank_id: BankId, sight: Sight | None, entity_id: UUID | None, limit: int, offset: int
    ) -> list[Row]:
        asked = {"bank_id": bank_id, "entity_id": entity_id, "limit": limit, "offset": offset}
        if sight is None:
            return self._session.rows(_SQL["page"], **asked)
        return self._session.rows(_SQL["page_in_sight"], **asked, **sight_params(sight))


def _known(row: Row) -> KnownEntity:
    return KnownEntity(
        entity_id=row["entity_id"],
        name=row["canonical_name"],
        name_key=row["name_key"],
        kind=row["kind"],
        mentions=row["mention_count"],
        last_dated=row["last_dated"],
        spellings=tuple(row["spellings"]),
    )


def _entity(row: Row, known_as: Sequence[str] = ()) -> EntityView:
    return EntityView(
        row["entity_id"],
        row["canonical_name"],
        row["mention_count"],
        row["first_seen"],
        row["last_seen"],
        tuple(known_as),
    )
