"""What is told of a call by its route: the request's span gets its name, a memory operation gets a span of its own.

Called by api/wire.py.  Names are those of OpenTelemetry's conventions, for HTTP and for agents' memories, where one
fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from starlette.requests import Request

from hindsight_aws.telemetry import memory_span, root_span

MEMORY_OPERATIONS: Final[Mapping[str, str]] = {
    "retain_memories": "upsert_memory",
    "file_retain": "upsert_memory",
    "recall_memories": "search_memory",
    "recall_several_banks": "search_memory",
    "reflect": "invoke_agent",
    "create_or_update_bank": "create_memory_store",
    "update_bank": "create_memory_store",
    "delete_bank": "delete_memory_store",
    "clear_bank_memories": "delete_memory",
    "delete_memory": "delete_memory",
    "delete_document": "delete_memory",
}
"""`gen_ai.operation.name` of a route that is a memory operation by the conventions, by the route's name."""


@contextmanager
def observed(request: Request, operation: str, route: str) -> Iterator[None]:
    """Around the handling of a request; says its route, never its path, which holds names that callers made up."""
    root = root_span()
    if root is None:
        yield
        return
    if "http.route" not in root.attributes:  # a tool of MCP asks routes of its own, within the route of MCP
        root.name = f"{request.method} {route}"
        root.set({"http.route": route, "hindsight.route": operation})
    memory = MEMORY_OPERATIONS.get(operation)
    if memory is None:
        yield
        return
    with memory_span(memory):
        yield
