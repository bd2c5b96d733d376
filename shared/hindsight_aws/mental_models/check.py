"""Checks what callers say of a mental model, beyond its types.  Pure; every complaint names its field."""

from __future__ import annotations

from collections.abc import Mapping

from hindsight_aws.errors import InvalidField
from hindsight_aws.mental_models.cron import parse
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.model.trigger import Trigger

LONGEST_ID = 256
_CRONS = ("refresh_cron", "full_refresh_cron")


def checked_id(model_id: str) -> str:
    """The id a caller gives.  Raises InvalidField for one that no URL could name."""
    if not model_id.strip() or "/" in model_id or len(model_id.encode("utf-8", "surrogatepass")) > LONGEST_ID:
        raise InvalidField("id", f"must be text of at most {LONGEST_ID} bytes without `/`")
    return model_id


def checked_changes(changes: Mapping[str, object]) -> dict[str, object]:
    """What a request says of a trigger, blank schedules taken for none.

    Raises: InvalidField for a schedule that is none, for both ways of being refreshed by itself at once, and for an
    empty list of types.
    """
    given = dict(changes)
    for name in _CRONS:
        expression = given.get(name)
        if isinstance(expression, str):
            given[name] = " ".join(expression.split()) or None
            _check_cron(f"trigger.{name}", given[name])
    if given.get("refresh_cron") is not None and given.get("refresh_after_consolidation") is True:
        raise InvalidField("trigger", "may have `refresh_after_consolidation` or `refresh_cron`, not both")
    if given.get("fact_types") == []:
        raise InvalidField("trigger.fact_types", "must name at least one type, or be null")
    return given


def check_trigger(trigger: Trigger) -> Trigger:
    """The trigger, once it is whole.  Raises InvalidField for tags that would have to be guessed at each refresh."""
    if trigger.tag_groups is not None and TagFilter(trigger.tag_groups).is_fuzzy:
        raise InvalidField("trigger.tag_groups", "may not hold a leaf with resolve `fuzzy`")
    return trigger


def _check_cron(field: str, expression: object) -> None:
    if not isinstance(expression, str):
        return
    try:
        parse(expression)
    except ValueError as wrong:
        raise InvalidField(field, str(wrong)) from None
