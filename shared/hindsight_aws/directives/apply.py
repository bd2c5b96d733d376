"""Which directives bind an answer.  Called by reflect and mental models; calls the store port."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from hindsight_aws.access import sight
from hindsight_aws.model.directive import Directive
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.store import Transaction
from hindsight_aws.settings import Settings
from hindsight_aws.text.sanitise import is_blank
from hindsight_aws.text.tokens import count_tokens

_log = logging.getLogger(__name__)


def in_force(
    tx: Transaction, settings: Settings, principal: Principal, bank_id: BankId, asked: TagFilter, *, apply_all: bool
) -> tuple[Directive, ...]:
    """The directives that bind an answer to this caller's request, most important first.

    Those whose text is blank are drafts and bind nothing.  What does not fit `HINDSIGHT_REFLECT_DIRECTIVES_MAX_TOKENS`
    is left out, the least important first, and logged; the first one always stays.
    """
    found = tx.directives.applying(bank_id, asked, apply_all, sight(principal).tags)
    written = [directive for directive in found if not is_blank(directive.content)]
    kept = _within(written, settings.hindsight_reflect_directives_max_tokens)
    if len(kept) < len(written):
        _log.warning(
            "bank %s: %d of %d directives do not fit HINDSIGHT_REFLECT_DIRECTIVES_MAX_TOKENS and bind no answer",
            bank_id,
            len(written) - len(kept),
            len(written),
        )
    return tuple(kept)


def _within(directives: Sequence[Directive], room: int) -> Sequence[Directive]:
    for place, directive in enumerate(directives):
        room -= count_tokens(directive.name) + count_tokens(directive.content)
        if room < 0:
            return directives[: max(1, place)]
    return directives
