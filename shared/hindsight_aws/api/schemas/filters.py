"""Tag groups in bodies: taken by pydantic as they come, and checked here."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.tags import parse_groups


def _are_groups(value: list[object] | None) -> list[object] | None:
    try:
        parse_groups(value or [])
    except InvalidRequest as wrong:
        raise ValueError(str(wrong)) from None
    return value


TagGroups = Annotated[list[object] | None, AfterValidator(_are_groups)]
