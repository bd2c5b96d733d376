"""Requests that our own OpenAPI document allows, and such that it forbids: no 5xx, and every answer is as documented.

500 cases in the gate, 5,000 in deep doses; the header prints the seed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from hindsight_aws.api.documentation.document import document
from hindsight_aws.api.documentation.refusals import NOT_SERVED
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.conftest import Dose, chosen_dose
from tests.support.api import UNSET
from tests.support.contract import Operation, World, ours
from tests.support.database import Database

_CASES: Mapping[Dose, int] = {"small": 500, "deep": 5_000}
_CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
_NEVER = "authorization"
"""A header that is not sent on: what no key may do is the business of tests/security."""
_SCHEMA: Any = schemathesis.openapi.from_dict(cast("dict[str, Any]", document()))


def _takes_something(operation: Operation) -> bool:
    return bool(operation.says["parameters"]) or "requestBody" in operation.says


def _examples() -> dict[str, int]:
    """How many cases each operation gets: one that takes nothing has but one."""
    varied = [name for name, operation in ours().items() if _takes_something(operation)]
    each = math.ceil((_CASES[chosen_dose()] - len(ours()) + len(varied)) / len(varied))
    return {name: each if name in varied else 1 for name in ours()}


@pytest.fixture(scope="module")
def world(module_database: Database, module_store: PostgresStore, module_tenant: TenantId) -> World:
    return World(module_database, module_store, module_tenant)


@pytest.mark.parametrize("name", sorted(ours()))
def test_no_request_is_answered_with_a_server_error(world: World, name: str) -> None:
    operation = ours()[name]
    ids = world.ids_for(operation)
    there = {parameter: ids[parameter] for parameter in operation.parameters("path")}

    @given(_cases(operation, there))
    @settings(max_examples=_examples()[name], suppress_health_check=list(HealthCheck))
    def check(case: Any) -> None:
        answer = _answered(world, case)
        assert answer.status_code < 500 or (name in NOT_SERVED and answer.status_code == 501), answer.content[:500]
        case.validate_response(answer, checks=_CHECKS)

    check()


def _cases(operation: Operation, there: Mapping[str, str]) -> st.SearchStrategy[Any]:
    """Mostly what is allowed, about things that are there; now and then what is forbidden, about anything."""
    asked = _SCHEMA.find_operation_by_id(operation.id)
    allowed = asked.as_strategy(GenerationMode.POSITIVE, path_parameters=dict(there))
    if not _takes_something(operation):
        return cast("st.SearchStrategy[Any]", allowed)
    forbidden = asked.as_strategy(GenerationMode.NEGATIVE)
    if operation.request is UNSET:
        return st.one_of(allowed, allowed, forbidden)
    # A body made up of nothing but types is mostly refused: the example's goes all the way.
    usual = asked.as_strategy(GenerationMode.POSITIVE, path_parameters=dict(there), body=operation.request)
    return st.one_of(allowed, usual, forbidden)


def _answered(world: World, case: Any) -> Response:
    sent = requests.Request(**case.as_transport_kwargs(base_url="http://api.example")).prepare()
    body = sent.body.encode() if isinstance(sent.body, str) else sent.body
    headers = {name.lower(): str(value) for name, value in sent.headers.items() if name.lower() != _NEVER}
    told = world.call(str(sent.method), str(sent.path_url), raw=cast(bytes, body or b""), headers=headers)
    return Response(
        told.status, {name.lower(): [text] for name, text in told.headers.items()}, told.body, sent, 0, False
    )
