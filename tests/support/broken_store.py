"""A store that is not there, for tests of what becomes of a message then."""

from __future__ import annotations

from typing import NoReturn

from hindsight_aws.errors import HindsightError


class BrokenStore:
    """A store none of whose transactions begins."""

    def __init__(self, error: HindsightError) -> None:
        self._error = error

    def transaction(self, tenant_id: object) -> NoReturn:
        raise self._error
