"""Tags in use.  Called through ports/tags.py; calls sql/tags.sql."""

from __future__ import annotations

from typing import Final

from hindsight_aws.access import PageSight, Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.listing import Page
from hindsight_aws.store.mental_model_rows import seen_params
from hindsight_aws.store.patterns import like_pattern
from hindsight_aws.store.queries import queries
from hindsight_aws.store.session import Session
from hindsight_aws.store.sight import sight_params

_SQL = queries("tags")
# Of a bank, for each that may be in sight: a key that sees few of them must not have them all looked through.
_TAGS_LOOKED_AT: Final = 10


class PostgresTags:
    """The tags of one transaction's tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def page(
        self, bank_id: BankId, sight: Sight, pattern: str | None, limit: int, offset: int
    ) -> Page[tuple[str, int]]:
        return self._page("page", bank_id, pattern, limit=limit, offset=offset, **sight_params(sight))

    def of_models(
        self, bank_id: BankId, seen: PageSight, pattern: str | None, limit: int, offset: int
    ) -> Page[tuple[str, int]]:
        return self._page("of_models", bank_id, pattern, limit=limit, offset=offset, **seen_params(seen))

    def names(self, bank_id: BankId, sight: Sight, at_most: int) -> list[str] | None:
        walk = {"at_most": at_most + 1, "most_walked": _TAGS_LOOKED_AT * at_most}
        found = [tag for (tag,) in self._session.tuples(_SQL["names"], bank_id=bank_id, **walk, **sight_params(sight))]
        return None if len(found) > at_most or None in found else found

    def _page(self, name: str, bank_id: BankId, pattern: str | None, **params: object) -> Page[tuple[str, int]]:
        like = None if pattern is None else like_pattern(pattern)
        rows = self._session.rows(_SQL[name], bank_id=bank_id, pattern=like, **params)
        return Page([(row["tag"], row["uses"]) for row in rows if row["tag"] is not None], rows[0]["total"])
