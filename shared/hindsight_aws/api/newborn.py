"""Banks that a call is about to make: made first, as the server's default template says.  Called by those routes."""

from __future__ import annotations

import logging

from hindsight_aws.access import is_limited, sees_bank
from hindsight_aws.api.auth import Call
from hindsight_aws.errors import HindsightError
from hindsight_aws.model.bank import check_new_bank_id
from hindsight_aws.model.principal import Permission, Principal

_SUBJECT = "default_bank_template"
_log = logging.getLogger(__name__)


def furnish(call: Call, principal: Principal, bank_id: str, needed: Permission = Permission.WRITE) -> None:
    """Makes a bank that is not there as the default template says, for a caller who may make it by this call.

    Without a template, with one that cannot be applied (which is logged), and for a bank that no caller may make, it
    does nothing: the route goes on as ever.  First texts of the template's mental models are written by the sweep.

    Guarantees: a template is laid over a bank in the transaction that makes the bank, or not at all.
    """
    document = call.services.settings.hindsight_api_default_bank_template
    if document is None or call.meant is not None or not _may_make(principal, bank_id, needed):
        return
    # Imported here: few servers have such a template, and the functions that retain would wait for these each time.
    from hindsight_aws.api.schemas.templates import template_of
    from hindsight_aws.banks.template import make

    operator = Principal(principal.tenant_id, _SUBJECT)
    try:
        check_new_bank_id(bank_id)
    except HindsightError:
        return
    try:
        make(call.services.pages_door, operator, bank_id, template_of(document))
    except HindsightError as wrong:
        _log.error("bank %r is made without the default template: %s: %s", bank_id, type(wrong).__name__, wrong)


def _may_make(principal: Principal, bank_id: str, needed: Permission) -> bool:
    """Whether the route would make the bank; what asks for the whole of one refuses limited keys."""
    if needed not in principal.permissions or not sees_bank(principal, bank_id):
        return False
    return needed is not Permission.ADMIN or not is_limited(principal)
