"""Claims are read where the gateway's authorizer writes them, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindsight_aws.api.claims import authorizer_part, claims_in
from hindsight_aws.settings import Settings
from hindsight_aws.tenants.claims import principal_of

EVENT = Path(__file__).parents[2] / "events" / "http-api-jwt.json"


def test_the_authorizers_event_tells_who_calls() -> None:
    event: dict[str, Any] = json.loads(EVENT.read_text())

    claims = claims_in({"aws.event": event})

    assert claims is not None
    bearer = principal_of(Settings(hindsight_api_jwt_issuer="https://id.example.com/"), claims)
    assert (bearer.subject, bearer.bank_patterns) == ("ann#jwt", ("team*", "shared"))
    assert claims_in({"aws.event": authorizer_part({"aws.event": event})}) == claims


@pytest.mark.parametrize(
    "event",
    [
        None, {}, {"requestContext": None}, {"requestContext": {"authorizer": None}}, {"authorizer": {"jwt": {}}},
        {"requestContext": {"authorizer": {"jwt": {"claims": ["sub"]}}}},
        {"requestContext": {"authorizer": {"iam": {"userId": "x"}}}},
        {"headers": {"authorizer": {"jwt": {"claims": {"sub": "eve"}}}}, "body": '{"requestContext": {}}'},
    ],
)  # fmt: skip
def test_an_event_without_the_authorizers_claims_tells_nothing(event: object) -> None:
    assert claims_in({"aws.event": event}) is None
    assert claims_in({}) is None
