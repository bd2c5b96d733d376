"""Schemas of structured answers in bodies: taken by pydantic as they come, and checked here."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.reflect.asking.structure import check_response_schema


def _is_a_schema(value: dict[str, object] | None) -> dict[str, object] | None:
    try:
        if value is not None:
            check_response_schema(value)
    except InvalidRequest as wrong:
        raise ValueError(str(wrong)) from None
    return value


ResponseSchema = Annotated[dict[str, object] | None, AfterValidator(_is_a_schema)]
