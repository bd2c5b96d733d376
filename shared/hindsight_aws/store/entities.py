"""Entities in Postgres.  Called through ports/entities.py; calls sql/entities.sql."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from hindsight_aws.access import Sight
from hindsight_aws.model.entity import name_key
from hindsight_aws.model.ids import BankId, derived_uuid
from hindsight_aws.ports.entities import EntityView, Mention
from hindsight_aws.ports.page import Page
from hindsight_aws.store.connection import Row
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("entities")


class PostgresEntities:
    """The entities of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def mention(self, bank_id: BankId, mentions: Sequence[Mention]) -> None:
        if not mentions:
            return
        self._count(bank_id, mentions)
        self._session.execute(
            _SQL["join_facts"],
            bank_id=bank_id,
            unit_ids=[mention.unit_id for mention in mentions],
            name_keys=[name_key(mention.name) for mention in mentions],
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
        return None if rows[0]["entity_id"] is None else _entity(rows[0])

    def _count(self, bank_id: BankId, mentions: Sequence[Mention]) -> None:
        of_key: dict[str, list[Mention]] = defaultdict(list)
        for mention in mentions:
            of_key[name_key(mention.name)].append(mention)
        times = {key: [mention.at for mention in named if mention.at is not None] for key, named in of_key.items()}
        self._session.execute(
            _SQL["mention"],
            bank_id=bank_id,
            entity_ids=[derived_uuid("entity", self._session.tenant_id, bank_id, key) for key in of_key],
            names=[named[0].name for named in of_key.values()],
            name_keys=list(of_key),
            mentions=[len({mention.unit_id for mention in named}) for named in of_key.values()],
            first_at=[min(times[key], default=None) for key in of_key],
            last_at=[max(times[key], default=None) for key in of_key],
        )

    def _entity_rows(
        self, bank_id: BankId, sight: Sight | None, entity_id: UUID | None, limit: int, offset: int
    ) -> list[Row]:
        asked = {"bank_id": bank_id, "entity_id": entity_id, "limit": limit, "offset": offset}
        if sight is None:
            return self._session.rows(_SQL["page"], **asked)
        return self._session.rows(_SQL["page_in_sight"], **asked, **sight_params(sight))


def _entity(row: Row) -> EntityView:
    return EntityView(
        row["entity_id"], row["canonical_name"], row["mention_count"], row["first_seen"], row["last_seen"]
    )
