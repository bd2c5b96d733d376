"""Tags in use.  Called through ports/tags.py; calls sql/tags.sql."""

from __future__ import annotations

from hindsight_aws.access import Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.page import Page
from hindsight_aws.store.patterns import like_pattern
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("tags")


class PostgresTags:
    """The tags of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def page(
        self, bank_id: BankId, sight: Sight, pattern: str | None, limit: int, offset: int
    ) -> Page[tuple[str, int]]:
        rows = self._session.rows(
            _SQL["page"],
            bank_id=bank_id,
            pattern=None if pattern is None else like_pattern(pattern),
            limit=limit,
            offset=offset,
            **sight_params(sight),
        )
        return Page([(row["tag"], row["uses"]) for row in rows if row["tag"] is not None], rows[0]["total"])
