"""The bodies of reflect and page calls: what is too large is refused by name."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from hindsight_aws.api.schemas.mental_models import CreateMentalModelBody, UpdateMentalModelBody
from hindsight_aws.api.schemas.reflect import LONGEST_CONTEXT, LONGEST_QUERY, MOST_TAGS, ReflectBody

QUESTION = {"query": "q"}
PAGE = {"name": "n", "source_query": "q"}


@pytest.mark.parametrize(
    ("body", "valid", "field", "most"),
    [
        pytest.param(ReflectBody, QUESTION, "query", LONGEST_QUERY, id="reflect query"),
        pytest.param(ReflectBody, QUESTION, "context", LONGEST_CONTEXT, id="reflect context"),
        pytest.param(CreateMentalModelBody, PAGE, "name", 256, id="new page name"),
        pytest.param(CreateMentalModelBody, PAGE, "source_query", 32_000, id="new page question"),
        pytest.param(UpdateMentalModelBody, {}, "name", 256, id="page name"),
        pytest.param(UpdateMentalModelBody, {}, "source_query", 32_000, id="page question"),
    ],
)
def test_a_text_is_taken_up_to_its_bound_and_refused_by_name_above_it(
    body: type[BaseModel], valid: dict[str, Any], field: str, most: int
) -> None:
    body.model_validate({**valid, field: "x" * most})

    with pytest.raises(ValidationError) as refused:
        body.model_validate({**valid, field: "x" * (most + 1)})

    assert [error["loc"] for error in refused.value.errors()] == [(field,)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("tags", [f"t{number}" for number in range(MOST_TAGS + 1)], id="flat"),
        pytest.param("tag_groups", [{"tags": [f"t{number}" for number in range(201)]}], id="groups"),
    ],
)
def test_a_filter_of_too_many_tags_is_refused_by_name(field: str, value: list[object]) -> None:
    with pytest.raises(ValidationError) as refused:
        ReflectBody.model_validate({**QUESTION, field: value})

    assert [error["loc"] for error in refused.value.errors()] == [(field,)]


def test_a_context_that_is_the_question_is_bounded_as_one() -> None:
    ReflectBody.model_validate({"query": " ", "context": "x" * LONGEST_QUERY})

    with pytest.raises(ValidationError, match="'context' is the question"):
        ReflectBody.model_validate({"query": " ", "context": "x" * (LONGEST_QUERY + 1)})
