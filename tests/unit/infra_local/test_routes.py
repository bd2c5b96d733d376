"""Requests find their function as API Gateway would route them."""

import pytest

from infra.local.gateway import RouteTable
from infra.topology import TOPOLOGY, DatabaseRole, Function, Route, Topology

BANKS = "/v1/default/banks"


@pytest.mark.parametrize(
    ("method", "path", "function"),
    [
        ("POST", f"{BANKS}/b/memories", "retain"),
        ("POST", f"{BANKS}/b%2F1/memories", "retain"),
        ("POST", f"{BANKS}/b/memories/nothing-there", "admin"),
        ("POST", f"{BANKS}/b/memories/recall", "recall"),
        ("GET", f"{BANKS}/b/memories/recall", "admin"),
        ("DELETE", f"{BANKS}/b/memories", "admin"),
        ("GET", f"{BANKS}/b/memories/list", "admin"),
        ("POST", f"{BANKS}/b/c/memories", "admin"),
        ("POST", f"{BANKS}/b/memories/", "admin"),
        ("OPTIONS", f"{BANKS}/b/memories", "admin"),
        ("GET", "/health", "admin"),
        ("GET", "/docs", "admin"),
        ("GET", "/docs/page.js", "admin"),
        ("GET", "/openapi.json", "admin"),
        ("POST", "/mcp", "mcp"),
        ("GET", "/mcp", "mcp"),
        ("POST", "/mcp/b", "mcp"),
        ("POST", "/mcp/b/", "mcp"),
        ("POST", "/mcp/", "mcp"),
    ],
)
def test_the_product_routes_lead_where_the_table_says(method: str, path: str, function: str) -> None:
    match = RouteTable(TOPOLOGY).match(method, path)

    assert match is not None
    assert match.function == function


def test_path_variables_are_decoded_once() -> None:
    match = RouteTable(TOPOLOGY).match("POST", f"{BANKS}/a%252Fb%20c/memories")

    assert match is not None
    assert match.parameters == (("bank_id", "a%2Fb c"),)


@pytest.mark.parametrize(
    ("method", "path", "key"),
    [
        ("GET", "/pets/dog/1", "GET /pets/dog/1"),
        ("POST", "/pets/dog/1", "ANY /pets/dog/1"),
        ("GET", "/pets/dog/2", "GET /pets/dog/{id}"),
        ("GET", "/pets/cat/2/tail", "GET /pets/{proxy+}"),
        ("PUT", "/pets/cat", "$default"),
    ],
)
def test_the_most_specific_route_wins_in_any_order(method: str, path: str, key: str) -> None:
    keys = ["GET /pets/{proxy+}", "ANY $default", "ANY /pets/dog/1", "GET /pets/dog/1", "GET /pets/dog/{id}"]
    routes = [Route(*each.split(" ")) for each in keys]
    functions = [Function(f"f{n}", (route,), 1, 128, 1, DatabaseRole.READ) for n, route in enumerate(routes)]

    match = RouteTable(Topology(tuple(functions))).match(method, path)

    assert match is not None
    assert match.key == key


def test_a_request_without_a_route_finds_nothing() -> None:
    only = Function("f", (Route("GET", "/a"),), 1, 128, 1, DatabaseRole.READ)

    assert RouteTable(Topology((only,))).match("GET", "/b") is None
