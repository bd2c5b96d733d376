"""Asks a deployment's own guard about injected instructions, outside any transaction, where a bank wants them found.

Called by retain, submit and the conversion of files before they write; calls ports/screening.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from hindsight_aws.errors import InvalidField, ModelError
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import BankId, derived_uuid
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.screening import INSTRUCTIONS
from hindsight_aws.retain.intake.accepted import DocumentTask, Part
from hindsight_aws.retain.ports import RetainPorts
from hindsight_aws.screening import BUILT_IN, Detector, Span, policy_of


def guarded(
    ports: RetainPorts, principal: Principal, bank: str, tasks: Sequence[DocumentTask]
) -> Mapping[str, Detector]:
    """The detectors for these documents: the built-in ones, and what the guard found, if there is one.

    It is asked of the texts alone, once of each, and only where the policy does something about what it finds.
    Raises: InvalidField when it fails: what was not looked at is not stored.
    """
    if ports.guard is None:
        return BUILT_IN
    with ports.store.transaction(principal.tenant_id) as tx:
        found = tx.banks.find(bank) or Bank(BankId(derived_uuid("no bank")), bank, None, {}, None)
    parts = [part for task in tasks for part in task.parts]
    wanted = [part for part in parts if policy_of(ports.settings, found, part.strategy).action(INSTRUCTIONS) != "allow"]
    texts = list(dict.fromkeys(text for part in wanted for text in _texts(part)))
    if not texts:
        return BUILT_IN
    try:
        spans = dict(zip(texts, ports.guard.find(texts), strict=True))
    except (ModelError, ValueError) as fault:
        raise InvalidField("items", f"could not be screened ({type(fault).__name__})") from None

    def find(text: str) -> Iterable[Span]:
        return chain(BUILT_IN[INSTRUCTIONS](text), spans.get(text, ()))

    return {**BUILT_IN, INSTRUCTIONS: find}


def _texts(part: Part) -> Iterator[str]:
    yield part.content
    yield from (text for text in (part.context, *part.metadata.values()) if text)
