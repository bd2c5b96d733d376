"""What a body says of which scopes are meant: a rebuild of all is never read out of an empty list."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from hindsight_aws.api.schemas.consolidation import ConsolidationRequest, RebuildRequest


def test_a_list_in_place_of_the_body_of_a_rebuild_is_refused() -> None:
    with pytest.raises(ValidationError):
        RebuildRequest.model_validate([])


def test_an_empty_list_of_scopes_is_no_scope_to_a_rebuild_and_all_to_a_consolidation() -> None:
    assert RebuildRequest.model_validate({"scopes": []}).scopes == []
    assert ConsolidationRequest.model_validate([]).observation_scopes is None
