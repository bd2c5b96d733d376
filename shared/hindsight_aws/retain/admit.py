"""Checks accepted documents against bank and caller: screening, default scopes, rights to write, rules of append.

Called by `retain` and `submit` within their first transaction; raises before anything is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from hindsight_aws.access import require_scopes, require_tags
from hindsight_aws.errors import InvalidField, InvalidRequest
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.scope import TooManyScopes, resolve_scopes
from hindsight_aws.ports.store import Transaction
from hindsight_aws.retain.extraction.recipes import config_of
from hindsight_aws.retain.intake.accepted import DocumentTask, Part, scopes_from_json
from hindsight_aws.retain.intake.screen import screen
from hindsight_aws.retain.plan import named_documents
from hindsight_aws.retain.warnings import warnings_for
from hindsight_aws.screening import BUILT_IN, Detector, Screening, as_result, policy_of
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class Admitted:
    """The documents as they may be stored, what screening did to them, and what else the caller should know."""

    tasks: list[DocumentTask]
    screening: Screening
    warnings: tuple[str, ...] = ()

    def as_result(self) -> dict[str, object]:
        """What the operation's result says of it; nothing when there is nothing to say."""
        said = as_result(self.screening)
        return {**said, "warnings": list(self.warnings)} if self.warnings else said


def admit(
    tx: Transaction,
    settings: Settings,
    principal: Principal,
    bank: Bank,
    tasks: Sequence[DocumentTask],
    detectors: Mapping[str, Detector] = BUILT_IN,
) -> Admitted:
    """The documents screened, with the bank's default scopes stamped on the items that ask for none.

    Raises: ContentRefused when screening leaves nothing, InvalidField when it cannot be done; AccessDenied when the
    caller could not read back what is written, by the item's tags, by one of its scopes or by the tags of a document it
    replaces; InvalidRequest for an append where the bank keeps no text.
    """
    screened, screening = screen(partial(policy_of, settings, bank), tasks, detectors)
    stamped = [replace(task, parts=tuple(_stamped(settings, bank, part) for part in task.parts)) for task in screened]
    for task in stamped:
        config = config_of(settings, bank, task.parts[0].strategy)
        if task.mode == "append" and not config.store_document_text:
            raise InvalidRequest(f"{task.parts[0].path}.update_mode 'append' needs store_document_text, which is off")
    if principal.forced_tags is not None or principal.exact_scopes is not None:
        _require_own(tx, settings, principal, bank, stamped)
    return Admitted(stamped, screening, warnings_for(settings, bank, stamped))


def _stamped(settings: Settings, bank: Bank, part: Part) -> Part:
    asked = part.observation_scopes
    if asked is None:
        asked = scopes_from_json(config_of(settings, bank, part.strategy).default_observation_scopes)
    try:
        resolve_scopes(part.tags, asked)
    except TooManyScopes as too_many:
        raise InvalidField(f"{part.path}.tags", f"are too many for the bank's default scopes: {too_many}") from None
    return replace(part, observation_scopes=asked)


def _require_own(
    tx: Transaction, settings: Settings, principal: Principal, bank: Bank, tasks: Sequence[DocumentTask]
) -> None:
    volatile = config_of(settings, bank, None).volatile_tags
    for part in (part for task in tasks for part in task.parts):
        require_tags(principal, part.tags)
        scopes = resolve_scopes(part.tags, part.observation_scopes, volatile)
        require_scopes(principal, [scope.tags for scope in scopes])
    for stored in tx.documents.stored(bank.bank_id, list(named_documents(bank.bank_id, tasks))).values():
        require_tags(principal, stored.tags)
        for item in stored.parts:
            tags = cast("Sequence[str]", item.get("tags") or ())
            require_tags(principal, tags)
            kept_in = resolve_scopes(tags, scopes_from_json(item.get("observation_scopes")), volatile)
            require_scopes(principal, [scope.tags for scope in kept_in])
