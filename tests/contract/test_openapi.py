"""Our own document: committed as the routes make it, whole, with true examples, and served from this host alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hindsight_aws.api.documentation.document import document, text
from hindsight_aws.api.documentation.refusals import is_served_well
from tests.support.api import Caller, make_caller, make_services
from tests.support.contract import Operation, ours

_COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"
_FREE = {"metrics_endpoint_metrics_get", "get_bank_template_schema", "download_file"}
"""Answers of no fixed shape."""


@pytest.fixture(scope="module")
def caller() -> Caller:
    """A client of the admin function; nothing here asks a database."""
    return make_caller(make_services(None, None), groups=frozenset({"admin"}))  # type: ignore[arg-type]  # unused


def test_the_committed_document_is_the_one_that_the_routes_make() -> None:
    assert _COMMITTED.read_text("utf-8") == text(), "run: hindsight-aws openapi > docs/openapi.json"


@pytest.mark.parametrize("name", sorted(ours()))
def test_an_operation_is_explained(name: str) -> None:
    operation = ours()[name]
    says = operation.says

    assert says["summary"]
    assert says["description"]
    assert says["tags"]
    for parameter in says["parameters"]:
        assert parameter.get("description"), f"{parameter['name']} has no line in documentation/parameters.py"
    assert any(status.startswith("2") for status in says["responses"]) is is_served_well(name)
    if is_served_well(name) and name not in _FREE:
        assert _answer_of(operation).get("schema") != {"type": "object"}, "no shape in documentation/answers.py"
        assert "example" in _answer_of(operation), "no answer in documentation/examples"


@pytest.mark.parametrize("name", sorted(ours()))
def test_the_examples_have_the_documented_shape(name: str) -> None:
    operation = ours()[name]
    for media in (_answer_of(operation), *operation.says.get("requestBody", {}).get("content", {}).values()):
        if "example" in media:
            schema = {**media["schema"], "components": document_parts()}
            assert [error.message for error in Draft202012Validator(schema).iter_errors(media["example"])] == []


def test_a_body_that_must_be_sent_has_an_example() -> None:
    without = [
        name
        for name, operation in ours().items()
        for kind, media in operation.says.get("requestBody", {}).get("content", {}).items()
        if kind == "application/json" and operation.says["requestBody"].get("required") and "example" not in media
    ]

    assert without == []


def test_the_document_is_served_whole_though_the_function_knows_only_its_own_routes(caller: Caller) -> None:
    answer = caller("GET", "/openapi.json")

    assert answer.status == 200
    assert answer.body == _COMMITTED.read_bytes()
    assert caller("POST", "/v1/default/banks/b/reflect", {"query": "x"}).status == 404


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/page.js", "/docs/page.css"])
def test_the_page_loads_nothing_from_elsewhere(caller: Caller, path: str) -> None:
    answer = caller("GET", path)

    assert answer.status == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert re.findall(r"https?://|//\w+\.\w+/|<script>|style=|\son\w+=", answer.body.decode()) == []


def test_the_page_finds_its_parts_beneath_any_prefix(caller: Caller) -> None:
    page = caller("GET", "/docs").body.decode()

    linked = re.findall(r'(?:src|href)="([^"]+)"', page)

    assert linked
    assert [link for link in linked if link.startswith("/")] == []
    assert {caller("GET", f"/{link}").status for link in linked} == {200}


def document_parts() -> Any:
    """The components of the document."""
    return _PARTS


_PARTS: Any = document()["components"]


def _answer_of(operation: Operation) -> Any:
    for status, answer in operation.says["responses"].items():
        if status.startswith("2"):
            return answer["content"].get("application/json", {})
    return {}
