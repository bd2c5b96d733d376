"""Makes the OpenAPI document of all functions together: what FastAPI knows of the routes, with prose, shapes, examples.

Called by the command line and by tests; what it made is committed as docs/openapi.json and served as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from hindsight_aws.api.app import API_VERSION, GROUPS, routers
from hindsight_aws.api.documentation import schemas, tools
from hindsight_aws.api.documentation.answers import ACCEPTED, STATUS
from hindsight_aws.api.documentation.names import tag_of
from hindsight_aws.api.documentation.parameters import MEANINGS
from hindsight_aws.api.documentation.refusals import EXAMPLES, KEYLESS, NAMES, WHY, is_served_well, refusals, schema_of
from hindsight_aws.api.documentation.schemas import ref

Json = dict[str, object]

_ABOUT = """Agent memory: retain what was said, recall what bears on a question, reflect on it in words.

Send a key as `Authorization: Bearer <key>`. Optional fields that have no value are answered as null. Parameters and
fields that nothing reads are named in the header `x-ignored-params`. Every error has a `detail`. The same tools are
served over MCP at `/mcp` and `/mcp/{bank_id}`.
"""
_BYTES: Json = {"type": "string", "format": "binary"}
_SECURITY = {"bearer": {"type": "http", "scheme": "bearer", "description": "A key of the tenant."}}


def document() -> Json:
    """The document as it must be; keys stand in a fixed order, so that equal routes give equal text."""
    app = FastAPI(generate_unique_id_function=lambda route: route.name, openapi_url=None)
    for router in routers(GROUPS):
        app.include_router(router)
    raw = get_openapi(title="Hindsight on AWS", version=API_VERSION, description=_ABOUT, routes=app.routes)
    found = schemas.in_words_of_the_contract(raw)
    routes = {(method, route.path_format): route for route in _routes() for method in route.methods or ()}
    paths = cast("dict[str, dict[str, Json]]", found["paths"])
    examples = _examples()
    answers, parts = schemas.of_answers()
    for path, operations in paths.items():
        for method, operation in operations.items():
            _describe(operation, routes[method.upper(), path], examples, answers)
    of_requests = cast("dict[str, dict[str, Json]]", found["components"])["schemas"]
    return {
        "openapi": found["openapi"],
        "info": {**cast(Json, found["info"]), "title": "Hindsight on AWS"},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": dict(sorted((paths | tools.paths()).items())),
        "components": {
            "schemas": schemas.all_of({**schemas.of_templates(), **of_requests, **tools.SCHEMAS}, parts),
            "responses": {NAMES[status]: _refusal(status) for status in WHY},
            "securitySchemes": _SECURITY,
        },
    }


def text() -> str:
    """The document as it is committed."""
    return json.dumps(document(), ensure_ascii=False, indent=1) + "\n"


def _routes() -> Iterator[APIRoute]:
    every = (route for router in routers(GROUPS) for route in router.routes)
    return (route for route in every if isinstance(route, APIRoute) and route.include_in_schema)


def _examples() -> dict[str, Json]:
    """Requests and answers by operation, of all files of the folder; tests/contract plays them."""
    told: dict[str, Json] = {}
    for entry in sorted(files(__package__).joinpath("examples").iterdir(), key=lambda entry: entry.name):
        told |= json.loads(entry.read_text("utf-8"))
    return told


def _describe(operation: Json, route: APIRoute, examples: Mapping[str, Json], answers: Mapping[str, Json]) -> None:
    """Fills in what a reader needs of one operation."""
    operation_id = str(operation["operationId"])
    example = examples.get(operation_id, {})
    operation["tags"] = [tag_of(operation_id, route.endpoint.__module__.rpartition(".")[2])]
    operation["summary"] = route.name.replace("_", " ").capitalize()
    operation["description"] = " ".join(str(operation.get("description", "")).split())
    if operation_id in KEYLESS:
        operation["security"] = []
    if operation_id == "reflect":
        _parameters(operation).append({"name": "prefer", "in": "header", "schema": {"type": "string"}})
    if operation_id == "import_bank_template":
        operation["requestBody"] = _json_body(ref("BankTemplateManifest"), required=True)
    queries = cast(Json, example.get("query", {}))
    for parameter in _parameters(operation):
        meaning = MEANINGS.get(str(parameter["name"]))
        if meaning and "description" not in parameter:
            parameter["description"] = meaning
        if parameter["name"] in queries:
            parameter["example"] = queries[str(parameter["name"])]
    if "request" in example:
        for content in cast("dict[str, Json]", cast(Json, operation["requestBody"])["content"]).values():
            content["example"] = example["request"]
    operation["responses"] = _responses(operation_id, operation, example, answers)


def _parameters(operation: Json) -> list[Json]:
    return cast("list[Json]", operation.setdefault("parameters", []))


def _json_body(schema: Json, **more: object) -> Json:
    return {**more, "content": {"application/json": {"schema": schema}}}


def _responses(operation_id: str, operation: Json, example: Json, answers: Mapping[str, Json]) -> Json:
    responses: Json = {}
    if is_served_well(operation_id):
        responses[str(STATUS.get(operation_id, 200))] = _success(operation_id, example, answers)
    if operation_id == "download_file":
        responses["307"] = {"description": "Where to get an archive that no answer can hold; no key is needed there."}
    if operation_id in ACCEPTED:
        responses["202"] = _json_body(answers[ACCEPTED[operation_id]], description="Begun; it goes on by itself.")
    for status in sorted(set(refusals(operation_id, operation))):
        is_told_apart = operation_id in KEYLESS and status == 503
        responses[str(status)] = _unhealthy() if is_told_apart else {"$ref": f"#/components/responses/{NAMES[status]}"}
    return responses


def _unhealthy() -> Json:
    return {"description": WHY[503], "content": {"application/json": {"schema": ref("HealthResponse")}}}


def _success(operation_id: str, example: Json, answers: Mapping[str, Json]) -> Json:
    if operation_id == "metrics_endpoint_metrics_get":
        return {"description": "Counters.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    if operation_id == "download_file":
        return {"description": "The archive.", "content": {"application/zip": {"schema": _BYTES}}}
    content: Json = {"schema": _schema_of(operation_id, answers)}
    if "answer" in example:
        content["example"] = example["answer"]
    return {"description": "Done.", "content": {"application/json": content}}


def _schema_of(operation_id: str, answers: Mapping[str, Json]) -> Json:
    if operation_id in answers:
        return answers[operation_id]
    if operation_id == "export_bank_template":
        return ref("BankTemplateManifest")
    return {"type": "object"}


def _refusal(status: int) -> Json:
    content: Json = {"schema": schema_of(status)}
    if status in EXAMPLES:
        content["example"] = EXAMPLES[status]
    answer: Json = {"description": WHY[status], "content": {"application/json": content}}
    if status == 503:
        answer["headers"] = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
    return answer
