"""A key's limits are checked once, before it exists."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import pytest

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import NewKey, Permission
from hindsight_aws.ports.store import Store
from hindsight_aws.tenants.keys import create_key

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOUND = NewKey("bot", frozenset({Permission.READ}))


class NoStore:
    """A store that must not be reached."""

    def transaction(self, tenant_id: TenantId) -> Any:
        raise AssertionError("a wrong key was written")


NO_STORE = cast(Store, NoStore())
TENANT = TenantId(uuid4())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"subject": " "}, "needs a name"),
        ({"permissions": frozenset()}, "needs a permission"),
        ({"bank_patterns": ()}, "needs a bank pattern"),
        ({"bank_patterns": ("",)}, "needs a bank pattern"),
        ({"forced_tags": {"tags": []}}, "forced tags"),
        ({"forced_tags": {"nonsense": 1}}, "forced tags"),
        ({"fact_types": frozenset({"opinion"})}, "fact types are"),
        ({"fact_types": frozenset()}, "fact types are"),
        ({"exact_scopes": ()}, "needs a scope"),
    ],
)
def test_a_key_that_could_let_nothing_through_is_not_made(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        create_key(NO_STORE, TENANT, replace(SOUND, **change), None, NOW)


def test_a_key_that_has_expired_already_is_not_made() -> None:
    with pytest.raises(InvalidRequest, match="in the future"):
        create_key(NO_STORE, TENANT, SOUND, NOW - timedelta(days=1), NOW)
