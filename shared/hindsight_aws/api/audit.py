"""Writes down who called what on a bank that is audited, once the call is over.  Called by api/wire.py.

The caller and the bank are those that api/auth.py found; nothing of what was sent or answered is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast
from uuid import UUID, uuid4

from starlette.requests import Request

from hindsight_aws.api.auth import KNOWN_CALL, Call
from hindsight_aws.api.names import Meant, meaning
from hindsight_aws.configuration.config import server_defaults
from hindsight_aws.errors import HindsightError
from hindsight_aws.model.audit import AuditEntry
from hindsight_aws.settings import Settings

TRANSPORT: Final = "hindsight.transport"
"""Where a request's scope says that it came by another way than HTTP itself."""
_log = logging.getLogger(__name__)
_ACTIONS: Final[Mapping[str, str]] = {
    "create_or_update_bank": "create_bank",
    "retain_memories": "retain",
    "trigger_consolidation": "consolidation",
}
"""Actions that go by another name than their operation."""
_LOOKS_ONLY: Final = frozenset({"recall_memories", "preview_prompt", "preview_consolidation_strategies"})
_LOOKING_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call that is over: which operation, from when to when, and the status that it was answered with."""

    operation: str
    started_at: datetime
    ended_at: datetime
    status: int


def is_noted(method: str, operation: str) -> bool:
    """Whether calls of the operation are written down: those that may change something, or make a model work."""
    return method not in _LOOKING_METHODS and operation not in _LOOKS_ONLY


def note(request: Request, ended: EndedCall) -> None:
    """Adds the call to the audit log, where its bank is audited.  What cannot be written is logged: the call stands."""
    call = cast("Call | None", request.scope.get(KNOWN_CALL))
    if call is None or call.known is None:
        return
    try:
        _add(call, request, ended)
    except HindsightError as error:
        _log.error("a call of %s was not audited: %s: %s", ended.operation, type(error).__name__, error)


def _add(call: Call, request: Request, ended: EndedCall) -> None:
    store, caller, path = call.services.store, call.known, request.path_params
    if caller is None:
        return
    # Before the call or after it: the call may have made or deleted the bank, or switched its log on or off.
    settings, bank = call.services.settings, call.meant
    if bank is None or not _is_audited(settings, bank):
        bank = meaning(store, caller, path["bank_id"])
    if bank is None or not _is_audited(settings, bank):
        return
    entry = AuditEntry(
        entry_id=uuid4(),
        bank_id=bank.bank_id,
        bank=bank.external_id,
        action=_ACTIONS.get(ended.operation, ended.operation),
        transport=request.scope.get(TRANSPORT, "http"),
        subject=caller.subject,
        status=ended.status,
        targets={name: value for name, value in path.items() if name != "bank_id" and _is_ours(value)},
        started_at=ended.started_at,
        ended_at=ended.ended_at,
    )
    with store.transaction(caller.tenant_id) as tx:
        tx.audit.add(entry)


def _is_audited(settings: Settings, bank: Meant) -> bool:
    return server_defaults(settings).audit_log_enabled if bank.is_audited is None else bank.is_audited


def _is_ours(value: str) -> bool:
    """Whether an id is one of ours: what a caller made up may say anything."""
    try:
        return str(UUID(value)) == value.lower()
    except ValueError:
        return False
