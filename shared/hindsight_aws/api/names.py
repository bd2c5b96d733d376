"""Says which bank a name means, by its own id or by an alias, and whether it is audited.  Called by api/auth.py."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from hindsight_aws.access import sees_bank
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.store import Store

_KNOWN_FOR_S: Final = 10.0
_MOST_KNOWN: Final = 2_000


@dataclass(frozen=True, slots=True)
class Meant:
    """The bank that a name means, by the id that its callers use.

    `is_audited`: whether calls on it are written down; None: as the server says.
    """

    bank_id: BankId
    external_id: str
    is_audited: bool | None


_banks: dict[tuple[TenantId, str], tuple[float, Meant]] = {}
"""When each id was last seen to be a bank's own: it is no alias while the bank is there, and not asked about.

What is no bank's id is asked about each time: an alias that is given or taken away counts at once.
"""


def meaning(store: Store, principal: Principal, name: str) -> Meant | None:
    """The bank that the name means to this caller; None where it means none in their sight."""
    now, key = time.monotonic(), (principal.tenant_id, name)
    seen = _banks.get(key)
    if seen is not None and now - seen[0] < _KNOWN_FOR_S:
        found = seen[1]
    else:
        _banks.pop(key, None)
        with store.snapshot(principal.tenant_id) as tx:
            named = tx.aliases.named(name)
        if named is None:
            return None
        found = Meant(named.bank_id, named.external_id, named.is_audited)
        if found.external_id == name:
            _keep(key, now, found)
    return found if sees_bank(principal, found.external_id) else None


def forget_names() -> None:
    """Asks about each name again: one that was a bank's may be an alias from now on, or its bank audited."""
    _banks.clear()


def _keep(key: tuple[TenantId, str], now: float, found: Meant) -> None:
    if len(_banks) >= _MOST_KNOWN:
        _banks.clear()
    _banks[key] = now, found
