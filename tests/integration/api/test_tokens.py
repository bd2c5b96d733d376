"""Tokens at the API: what the gateway says of a caller counts, and what a caller says of themself never does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.tenants.manage import resume_tenant, suspend_tenant
from tests.support.api import Answer, Caller, make_caller, make_key, make_services

ISSUER = "https://issuer.example/"
BANKS = "/v1/default/banks"


@dataclass(frozen=True, slots=True)
class Api:
    """The API of one tenant's tokens."""

    handler: LambdaHandler
    tenant: TenantId

    def __call__(
        self, method: str, path: str, body: object = None, raw_claims: object = None, **claims: object
    ) -> Answer:
        """A call that the gateway's authorizer let in with these claims."""
        held = {"iss": ISSUER, "sub": "ann", "hindsight_tenant": str(self.tenant), **claims}
        told = {"jwt": {"claims": held, "scopes": None}} if raw_claims is None else raw_claims

        def enter(event: dict[str, Any], context: object) -> dict[str, Any]:
            event["requestContext"]["authorizer"] = told
            return self.handler(event, context)

        return Caller(enter, "a.token.s")(method, path, body, headers={"accept": "application/json, text/event-stream"})


@pytest.fixture(scope="module")
def services(module_store: PostgresStore) -> Any:
    return make_services(module_store, None, hindsight_api_jwt_issuer=ISSUER)


@pytest.fixture(scope="module")
def api(services: Any, module_tenant: TenantId) -> Api:
    made = Api(make_caller(services).handler, module_tenant)
    rights = {"hindsight_permissions": "[read write admin]", "hindsight_banks": "*"}
    for bank in ("user-ann", "user-bob"):
        assert made("PUT", f"{BANKS}/{bank}", {}, **rights).status == 200
    return made


def test_a_token_does_what_its_claims_allow_and_no_more(api: Api) -> None:
    rights = {"hindsight_permissions": "[read]", "hindsight_banks": "[user-ann]"}

    own = api("GET", f"{BANKS}/user-ann/stats", **rights)
    others = api("GET", f"{BANKS}/user-bob/stats", **rights)
    writing = api("PUT", f"{BANKS}/user-ann", {}, **rights)
    listed = api("GET", BANKS, **rights)

    assert (own.status, others.status, writing.status) == (200, 404, 403)
    assert [bank["bank_id"] for bank in listed.json()["banks"]] == ["user-ann"]


def test_without_a_claim_of_permissions_or_banks_nothing_is_granted(api: Api) -> None:
    nothing = api("GET", f"{BANKS}/user-ann/stats", hindsight_banks="*")
    nowhere = api("GET", f"{BANKS}/user-ann/stats", hindsight_permissions="read")

    assert (nothing.status, nowhere.status) == (403, 404)


@pytest.mark.parametrize(
    "claims",
    [
        {"hindsight_tenant": str(uuid4())},
        {"hindsight_tenant": "acme"},
        {"iss": "https://elsewhere.example/"},
        {"sub": "\x00"},
        {"hindsight_tags": "[]"},
        {"hindsight_banks": "[a[b]"},
    ],
    ids=["unknown tenant", "no tenant's id", "issuer", "subject", "tags", "banks"],
)
def test_claims_that_name_nobody_are_401_with_a_sentence(api: Api, claims: dict[str, object]) -> None:
    answer = api("GET", f"{BANKS}/user-ann/stats", **{"hindsight_permissions": "read", **claims})

    assert answer.status == 401
    assert answer.json()["detail"].startswith("Authentication failed: the token")


@pytest.mark.parametrize("told", ["text", [], {"jwt": None}, {"jwt": {"claims": "x"}}, {"lambda": {"sub": "ann"}}, 7])
def test_an_authorizer_of_another_kind_says_nothing_of_the_caller(api: Api, told: object) -> None:
    assert api("GET", BANKS, raw_claims=told).status == 401


def test_a_caller_cannot_bring_claims_of_its_own(services: Any, module_tenant: TenantId) -> None:
    claims = {"iss": ISSUER, "sub": "eve", "hindsight_tenant": str(module_tenant), "hindsight_permissions": "read"}
    context = {"requestContext": {"authorizer": {"jwt": {"claims": claims}}}}
    written = json.dumps(context)
    headers = dict.fromkeys(("x-amzn-request-context", "requestcontext", "aws.event", "authorizer"), written)
    stranger = make_caller(services, "eyJ.made.up")

    answers = [
        stranger("GET", BANKS, headers=headers),
        stranger("POST", f"{BANKS}/user-ann/memories/recall", {"query": "q", **context}, headers=headers),
        stranger("GET", f"{BANKS}?requestContext.authorizer={written}", headers=headers),
    ]

    assert {answer.status for answer in answers} == {401}


def test_where_no_issuer_is_named_no_claim_is_believed(module_store: PostgresStore, module_tenant: TenantId) -> None:
    unconfigured = Api(make_caller(make_services(module_store, None)).handler, module_tenant)

    assert unconfigured("GET", BANKS, hindsight_permissions="read", hindsight_banks="*").status == 401


def test_a_tool_of_mcp_asks_as_the_tokens_bearer(api: Api) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_banks", "arguments": {}}}

    answer = api("POST", "/mcp", call, hindsight_permissions="[read]", hindsight_banks="[user-bob]")

    assert answer.status == 200
    assert "user-bob" in answer.body.decode()
    assert "user-ann" not in answer.body.decode()


def test_a_suspended_tenant_is_told_so_by_token_and_by_key(
    api: Api, services: Any, owner_store: PostgresStore, module_tenant: TenantId
) -> None:
    keyed = make_caller(services, make_key(owner_store, module_tenant))
    rights = {"hindsight_permissions": "[read]", "hindsight_banks": "*"}
    suspend_tenant(owner_store, module_tenant)

    answers = [
        api("GET", BANKS, **rights),
        keyed("GET", BANKS),
        keyed("GET", f"{BANKS}/user-ann/stats"),
        keyed("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    ]
    invalid = keyed("POST", f"{BANKS}/user-ann/memories/recall", {"query": 7})
    resume_tenant(owner_store, module_tenant)

    assert {answer.status for answer in answers} == {403}
    assert all("suspended" in answer.body.decode() for answer in answers)
    assert invalid.status == 422
    assert keyed("GET", BANKS).status == 200


@pytest.mark.parametrize(
    "header",
    ["Bearer \x00", "\x7f\x01", "Bearer " + "x" * 1_000_000, "clé-日本", "Bearer Bearer", "Basic YTpi", "  "],
    ids=["nul", "control", "a megabyte", "non-ASCII", "twice", "basic", "blank"],
)
def test_a_hostile_key_is_401(services: Any, header: str) -> None:
    caller = make_caller(services)

    answer = caller("GET", BANKS, headers={"authorization": header})

    assert answer.status == 401
    assert set(answer.json()) == {"detail"}


def test_a_key_is_known_bare_and_behind_bearer_in_any_case(
    services: Any, owner_store: PostgresStore, module_tenant: TenantId
) -> None:
    token = make_key(owner_store, module_tenant)
    caller = make_caller(services)

    answers = [
        caller("GET", BANKS, headers={"authorization": f"{scheme}{token}"}) for scheme in ("", "bearer ", "BEARER ")
    ]

    assert {answer.status for answer in answers} == {200}
