"""Tools for documents, the texts that memories came from."""

from __future__ import annotations

from typing import Final

from hindsight_aws.api.mcp.arguments import maybe, text
from hindsight_aws.api.mcp.catalogue.banks import SKIPPED, most
from hindsight_aws.api.mcp.tool import BANK, Effect, Tool, asking, same
from hindsight_aws.ports.model_gateway import JsonObject

_DOCUMENTS: Final = f"{BANK}/documents"
_ID: Final[dict[str, JsonObject]] = {"document_id": text("The id of the document.")}

TOOLS: Final = (
    Tool(
        "list_documents",
        "Lists documents, the last changed first, without their text.",
        Effect.READS,
        asking("GET", _DOCUMENTS, query=same("q limit offset")),
        {"q": maybe("string", "Part of an id."), "limit": most(100), "offset": SKIPPED},
    ),
    Tool(
        "get_document",
        "Reads a document whole, as it was retained.",
        Effect.READS,
        asking("GET", f"{_DOCUMENTS}/{{document_id}}"),
        _ID,
        ("document_id",),
    ),
    Tool(
        "delete_document",
        "Deletes a document and every memory that came of it alone.",
        Effect.DESTROYS,
        asking("DELETE", f"{_DOCUMENTS}/{{document_id}}"),
        _ID,
        ("document_id",),
    ),
)
