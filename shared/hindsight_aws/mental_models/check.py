"""Checks the id that a caller gives a mental model; its trigger is checked by model/trigger.py.  Pure."""

from __future__ import annotations

from hindsight_aws.errors import InvalidField

LONGEST_ID = 256


def checked_id(model_id: str) -> str:
    """The id a caller gives.  Raises InvalidField for one that no URL could name."""
    if not model_id.strip() or "/" in model_id or len(model_id.encode("utf-8", "surrogatepass")) > LONGEST_ID:
        raise InvalidField("id", f"must be text of at most {LONGEST_ID} bytes without `/`")
    return model_id
