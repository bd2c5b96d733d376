"""Every operation put to every kind of key: what is answered is what authorisation.csv says by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

import psycopg
import pytest

from hindsight_aws.api.gateway import LambdaAnswer, LambdaEvent
from hindsight_aws.api.mcp.catalogue import TOOLS
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import NewKey, Permission
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.tenants.keys import create_key, revoke_key
from hindsight_aws.tenants.manage import suspend_tenant
from tests.support.api import UNSET, Answer, Caller, make_caller, make_key, make_services
from tests.support.authorisation import KEYS, PAGE_FILE, Rule, page, rules
from tests.support.calls import MCP, TABLE, Ids, anonymous, ask, every_route, ids_of, unknown_ids
from tests.support.database import Database, make_tenant
from tests.support.mcp import post
from tests.support.seed import Seeded, fingerprint, seed_bank
from tests.support.tools import tool_call

ISSUER = "https://issuer.example/"
RULES = rules()
LIMITS: Mapping[str, Mapping[str, object]] = {
    "elsewhere": {"bank_patterns": ("other-*",)},
    **{name: {"permissions": frozenset({Permission(name)})} for name in ("read", "write", "admin")},
    "tags": {"forced_tags": {"tags": ["user:a"], "match": "any_strict"}},
    "other tags": {"forced_tags": {"tags": ["user:z"], "match": "any_strict"}},
    "scope": {"exact_scopes": (("user:a",),)},
    "full": {},
}
LOOKS = {
    "POST /v1/default/banks/{bank_id}/memories/recall",
    "POST /v1/default/recall",
    "POST /v1/default/banks/{bank_id}/reflect",
    "POST /v1/default/banks/{bank_id}/prompts/preview",
    "POST /v1/default/banks/{bank_id}/consolidation-strategies/preview",
    "POST /v1/default/banks/{bank_id}/health/llm",
    *MCP,
}
LEDGERS = {"usage_ledger", "reflect_runs", "key_uses"}
"""What may grow by a call that tells of nothing: each costs its caller's tenant, and is written down."""
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Scene:
    """A tenant with a bank of one of everything that nothing may change, and one for calls that change things.

    `tokens` holds a key of each kind for both.
    """

    database: Database
    owner_store: PostgresStore
    caller: Caller
    own: Seeded
    playground: TenantId
    tokens: Mapping[TenantId, Mapping[str, str]]
    before: Mapping[str, object]

    def holder(self, key: str, tenant: TenantId) -> Caller:
        """A caller with that kind of key of the tenant; a stranger's tenant is new each time, and has nothing."""
        if key == "none":
            return self.caller
        if key == "token":
            return Caller(partial(self._with_claims, tenant), "a.token.s")
        if key == "stranger":
            stranger = make_tenant(self.database, "stranger")
            return replace(self.caller, key=make_key(self.owner_store, stranger))
        return replace(self.caller, key=self.tokens[tenant][key])

    def _with_claims(self, tenant: TenantId, event: LambdaEvent, context: object) -> LambdaAnswer:
        """The call as the gateway's authorizer lets it in."""
        claims = {"iss": ISSUER, "sub": "ann", "hindsight_tenant": str(tenant)}
        allowed = {"hindsight_permissions": "[read]", "hindsight_banks": "*"}
        told = {**event["requestContext"], "authorizer": {"jwt": {"claims": {**claims, **allowed}}}}
        return self.caller.handler({**event, "requestContext": told}, context)

    def fresh(self) -> Seeded:
        """Another bank of one of everything, for a call that changes things."""
        number = next(_numbers)
        return seed_bank(self.database, self.playground, f"bank-{number}", f"Yorick{number}")

    def state(self) -> Mapping[str, object]:
        """What the first tenant has."""
        return _state(self.database, self.own.tenant)


def _state(database: Database, tenant: TenantId) -> Mapping[str, object]:
    """What a tenant has, but for the ledgers."""
    found = fingerprint(database, tenant)
    return {table: rows for table, rows in found.items() if table not in LEDGERS}


@pytest.fixture(scope="module")
def scene(module_database: Database, module_store: PostgresStore, owner_store: PostgresStore) -> Scene:
    services = make_services(
        module_store,
        None,
        hindsight_reflect_url_wait_seconds=0.01,
        hindsight_api_enable_bank_llm_health=True,
        hindsight_api_jwt_issuer=ISSUER,
    )
    caller = make_caller(services)
    own = seed_bank(module_database, make_tenant(module_database, "own"), "bank-of-own", "Yorick")
    services.stored.objects[own.archive] = b"an archive"
    playground = make_tenant(module_database, "playground")
    suspended = make_tenant(module_database, "suspended")
    nobodys = {"bad": "hsk_" + "A" * 43, "suspended": make_key(owner_store, suspended)}
    suspend_tenant(owner_store, suspended)
    tokens = {tenant: {**nobodys, **_keys(module_database, owner_store, tenant)} for tenant in (own.tenant, playground)}
    before = _state(module_database, own.tenant)
    return Scene(module_database, owner_store, caller, own, playground, tokens, before)


def _keys(database: Database, owner_store: PostgresStore, tenant: TenantId) -> Mapping[str, str]:
    """A key of each kind that the tenant has."""
    made = {name: make_key(owner_store, tenant, **limits) for name, limits in LIMITS.items()}
    return {**made, **_ended_keys(database, owner_store, tenant)}


def _ended_keys(database: Database, owner_store: PostgresStore, tenant: TenantId) -> Mapping[str, str]:
    now = datetime.now(UTC)
    key = NewKey("tester", frozenset(Permission))
    revoked, expired = (create_key(owner_store, tenant, key, now + timedelta(days=1), now) for _ in range(2))
    revoke_key(owner_store, tenant, revoked.key_id)
    with psycopg.connect(database.admin_url) as admin:
        past = "UPDATE hindsight.api_keys SET expires_at = now() - interval '1 second' WHERE key_id = %s"
        admin.execute(past, (expired.key_id,))
    return {"revoked": revoked.token, "expired": expired.token}


def test_every_route_and_every_tool_has_a_rule() -> None:
    assert set(RULES) == every_route() | {f"tool {name}" for name in TOOLS}


def test_the_page_says_what_the_rules_say() -> None:
    assert PAGE_FILE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("operation", RULES)
def test_a_refused_key_learns_nothing_and_changes_nothing(scene: Scene, operation: str) -> None:
    rule = RULES[operation]
    refused = [key for key in KEYS if rule.answer(key) not in {"yes", "part"}]

    answers = {key: _told(scene, rule, key, scene.own) for key in refused}

    assert answers == {key: rule.answer(key) for key in refused}
    assert scene.state() == scene.before


@pytest.mark.parametrize("operation", RULES)
def test_a_key_that_may_is_answered_with_what_it_may_see(scene: Scene, operation: str) -> None:
    rule = RULES[operation]
    allowed = [key for key in KEYS if rule.answer(key) in {"yes", "part"}]

    answers = {key: _told(scene, rule, key, scene.own if _looks(rule) else scene.fresh()) for key in allowed}

    assert answers == {key: rule.answer(key) for key in allowed}


@pytest.mark.parametrize("route", TABLE)
def test_a_bank_the_key_does_not_cover_answers_as_one_that_is_not_there(scene: Scene, route: str) -> None:
    limited = scene.holder("elsewhere", scene.own.tenant)
    hidden, unknown = ids_of(scene.own), unknown_ids()

    answers = [anonymous(ask(limited, route, ids), ids) for ids in (hidden, unknown)]

    assert answers[0] == answers[1]
    assert "Yorick" not in str(answers[0])


def _looks(rule: Rule) -> bool:
    if rule.operation.startswith("tool "):
        return TOOLS[rule.operation[5:]].effect.value[0]
    return rule.needs is None or rule.operation.startswith("GET") or rule.operation in LOOKS


def _told(scene: Scene, rule: Rule, key: str, seeded: Seeded) -> str:
    """What the key is answered, in the rule's words; an answer that tells more than it may is `leaks`."""
    status, body = _asked(scene.holder(key, seeded.tenant), rule.operation, seeded)
    expected = rule.answer(key)
    is_granted = status == rule.granted or (rule.granted == "2xx" and status.startswith("2"))
    if not is_granted and status not in {"401", "403", "404"}:
        return f"{status}: {body[:300]}"
    if (expected != "yes" or key in {"write", "admin"}) and any(word in body for word in _hidden(key, seeded)):
        return f"{status} leaks: {body[:2000]}"
    if not is_granted or expected == status:
        return status
    return expected if expected in {"part", "nothing", "own"} else "yes"


def _hidden(key: str, seeded: Seeded) -> tuple[str, ...]:
    """Words of the bank that this key must not meet."""
    beneath = f"{seeded.mark} keeps bees", f"context {seeded.mark}", f"doc/{seeded.mark}", f"model of {seeded.mark}"
    if key == "scope":
        return beneath
    if key in {"write", "admin"}:
        return *beneath, f"{seeded.mark} is a beekeeper", f"Never name {seeded.mark}"
    return (seeded.mark,)


def _asked(caller: Caller, operation: str, seeded: Seeded) -> tuple[str, str]:
    """Status and body of the answer; what was sent is not told by being repeated."""
    ids = ids_of(seeded)
    if operation.startswith(("PATCH", "DELETE")) and "/memories/{memory_id}" in operation:
        ids["memory_id"] = str(seeded.fact)
    if operation.startswith("POST") and operation.endswith("/memories"):
        ids["document_id"] = "doc/new"
    if operation.startswith("tool "):
        status, body = _tool(caller, operation[5:], seeded)
    else:
        answer = ask(caller, operation, ids) if operation in TABLE else _plain(caller, operation, ids)
        status, body = str(answer.status), answer.body.decode()
    for name, value in ids.items():
        body = body.replace(value, f"<{name}>")
    return status, body


def _plain(caller: Caller, operation: str, ids: Ids) -> Answer:
    method, path = operation.split(" ", 1)
    return caller(method, path.format(**ids), UNSET)


_REFUSALS = {
    "403": "does not have the|limited to part|may only|may not|sees less than",
    "404": "not found",
    "409": "cannot be",
}


def _tool(caller: Caller, name: str, seeded: Seeded) -> tuple[str, str]:
    """The status that a tool's answer stands for, by what its error says."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool_call(name, seeded, seeded.bank)}
    answer = post(caller, message, "/mcp")
    if answer.status != 200:
        return str(answer.status), answer.body.decode()
    result = json.loads(answer.body)["result"]
    text = result["content"][0]["text"]
    if not result["isError"]:
        return "200", text
    if "still being worked on" in text:
        return "503", text
    return next((status for status, words in _REFUSALS.items() if re.search(words, text)), "4xx"), text
