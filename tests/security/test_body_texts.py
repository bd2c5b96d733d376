"""Text that no database holds, or that is SQL, in every text of every body: never a 5xx, nothing of another tenant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from hindsight_aws.api.app import GROUPS
from hindsight_aws.model.ids import TenantId
from tests.support.api import Caller, FakeRuntime, app_of, make_caller, make_services
from tests.support.calls import TABLE
from tests.support.database import Database, make_tenant
from tests.support.seed import fingerprint, seed_bank

UNFIT = {
    "nul": "a\x00b",
    "half an emoji": "a \ud83d b",
    "sql": "x') OR true; RESET ROLE; SELECT text FROM hindsight.memory_units; --",
}
TAKING = [
    route for route, body in TABLE.items() if not isinstance(body, bytes) and not route.startswith(("GET", "DELETE"))
]
Schema = dict[str, Any]


@pytest.fixture(scope="module")
def services(module_store: Any, module_tenant: TenantId) -> FakeRuntime:
    return make_services(module_store, module_tenant)


@pytest.fixture(scope="module")
def schemas(services: FakeRuntime) -> Schema:
    found: Schema = app_of(frozenset(GROUPS), services).openapi()
    return found


@pytest.fixture
def send(services: FakeRuntime) -> Caller:
    return make_caller(services)


@pytest.fixture(scope="module")
def ids(module_database: Database, module_tenant: TenantId) -> dict[str, str]:
    seeded = seed_bank(module_database, module_tenant, "bank", "Xanthippe")
    known = {
        "bank_id": seeded.bank, "memory_id": str(seeded.fact), "document_id": seeded.document,
        "directive_id": str(seeded.directive), "webhook_id": str(seeded.webhook), "run_id": str(seeded.run),
        "mental_model_id": seeded.mental_model,
    }  # fmt: skip
    return defaultdict(lambda: "00000000-0000-4000-8000-000000000000", known)


@pytest.fixture(scope="module")
def stranger(module_database: Database) -> TenantId:
    tenant = make_tenant(module_database, "stranger")
    seed_bank(module_database, tenant, "bank-of-stranger", "Penelope")
    return tenant


class Bodies:
    """The bodies that a schema allows, with one odd text in each."""

    def __init__(self, schemas: Schema, text: str) -> None:
        self._named, self._text = schemas["components"]["schemas"], text

    def odd(self, schema: Schema, depth: int = 0) -> Iterator[Any]:
        """Values of the schema, each with the text in another place."""
        schema = self._whole(schema)
        if depth > 5:
            return
        for choice in schema.get("anyOf", []) + schema.get("oneOf", []):
            yield from self.odd(choice, depth + 1)
        if "properties" in schema:
            given = self._plain(schema)
            for name, inner in schema["properties"].items():
                yield from ({**given, name: value} for value in self.odd(inner, depth + 1))
        elif schema.get("type") == "array":
            yield from ([value] for value in self.odd(schema.get("items", {}), depth + 1))
        elif schema.get("type") == "object":
            yield {self._text: self._text}
        elif schema.get("type") == "string" and "enum" not in schema and "const" not in schema:
            yield self._text
        elif not schema.keys() & {"type", "anyOf", "oneOf", "enum", "const"}:
            yield from (self._text, [self._text], {self._text: self._text})

    def _plain(self, schema: Schema) -> Any:
        """A value of the schema that nothing is wrong with, as short as it may be."""
        schema = self._whole(schema)
        choices = schema.get("anyOf", []) + schema.get("oneOf", [])
        if choices:
            return self._plain(choices[0])
        if "enum" in schema or "const" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        if schema.get("type") == "object" or "properties" in schema:
            return {name: self._plain(schema["properties"][name]) for name in schema.get("required", [])}
        if schema.get("type") == "array":
            return [self._plain(schema["items"])] if schema.get("minItems") else []
        return {"integer": 1, "number": 1, "boolean": False}.get(str(schema.get("type")), "plain")

    def _whole(self, schema: Schema) -> Schema:
        reference = schema.get("$ref")
        return self._named[reference.rpartition("/")[2]] if reference else schema


@pytest.mark.parametrize("text", UNFIT)
@pytest.mark.parametrize("route", TAKING)
def test_no_text_breaks_a_request_or_reaches_another_tenant(
    send: Caller,
    schemas: Schema,
    ids: dict[str, str],
    stranger: TenantId,
    module_database: Database,
    route: str,
    text: str,
) -> None:
    before = fingerprint(module_database, stranger)
    method, path = route.split(" ", 1)
    content = schemas["paths"].get(path.replace(":path", ""), {}).get(method.lower(), {}).get("requestBody", {})
    schema = content.get("content", {}).get("application/json", {}).get("schema")
    usual: Any = TABLE[route] if isinstance(TABLE[route], dict) else {}

    answers = [
        (body, send(method, path.replace(":path", "").format_map(ids), body, {"prefer": "respond-async"}))
        for made in (Bodies(schemas, UNFIT[text]).odd(schema) if schema else ())
        for body in [{**usual, **made} if isinstance(made, dict) and UNFIT[text] not in made else made]
    ]

    assert [(body, answer.status, answer.body[:200]) for body, answer in answers if answer.status >= 500] == []
    assert [body for body, answer in answers if b"Penelope" in answer.body] == []
    assert fingerprint(module_database, stranger) == before
