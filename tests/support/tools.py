"""A call for each tool of MCP, with the arguments that it must be given: for suites that ask every tool."""

from __future__ import annotations

from collections.abc import Mapping

from hindsight_aws.api.mcp.catalogue import TOOLS
from tests.support.seed import Seeded

NOBODY = "00000000-0000-4000-8000-000000000000"
TEXTS: Mapping[str, object] = {
    "content": "Bees sleep.",
    "query": "bees",
    "name": "n",
    "source_query": "Who?",
    "text": "t",
}


def tool_call(name: str, seeded: Seeded | None, bank: str) -> dict[str, object]:
    """The parameters of `tools/call` about the things of a seeded bank, or about things that are not there."""
    return {"name": name, "arguments": tool_arguments(name, seeded, bank)}


def tool_arguments(name: str, seeded: Seeded | None, bank: str) -> dict[str, object]:
    """The arguments that the tool requires, and a text to change where it needs none."""
    ids: dict[str, object] = {
        "bank_id": bank,
        "memory_id": str(seeded.fact) if seeded else NOBODY,
        "document_id": seeded.document if seeded else "doc/nothing",
        "operation_id": str(seeded.operation) if seeded else NOBODY,
        "directive_id": str(seeded.directive) if seeded else NOBODY,
        "mental_model_id": seeded.mental_model if seeded else "page-of-nobody",
        "page_id": seeded.knowledge_page if seeded else "kp-of-nobody",
        "node_id": seeded.knowledge_page if seeded else "kp-of-nobody",
    }
    tool = TOOLS[name]
    changes = {"update_memory": {"text"}, "update_knowledge_node": {"name"}}.get(name, set())
    wanted = {*tool.required, *({"bank_id"} if tool.needs_bank else ()), *changes}
    return {argument: {**ids, **TEXTS}[argument] for argument in sorted(wanted)}
