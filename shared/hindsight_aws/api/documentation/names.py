"""What schemas and groups of operations are called: as in the contract that clients were generated from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_TAG_OF_ROUTES: Final[Mapping[str, str]] = {
    "health": "Monitoring", "documentation": "Monitoring",
    "banks": "Banks", "aliases": "Banks", "config": "Banks", "observations": "Banks", "stats": "Banks",
    "consolidation": "Banks", "prompt_preview": "Banks", "model_health": "Banks", "usage": "Banks",
    "memories": "Memory", "tags": "Memory", "scopes": "Memory", "graph": "Memory", "retain": "Memory",
    "recall": "Memory", "reflect": "Memory", "dry_run": "Memory",
    "chunks": "Documents", "templates": "Bank Templates", "template_import": "Bank Templates",
    "mental_model_refreshes": "Mental Models", "knowledge": "Knowledge Base",
    "knowledge_refreshes": "Knowledge Base", "unserved": "LLM Traces", "mcp": "MCP",
}  # fmt: skip
_TAG_OF_OPERATION: Final[Mapping[str, str]] = {
    "preview_consolidation_strategies": "Memory",
    "get_bank_attachment": "Memory",
    **dict.fromkeys(
        ("export_documents_sync_removed", "import_documents", "export_documents", "download_file"), "Document Transfer"
    ),
    **dict.fromkeys(("export_bank_transfer", "import_bank_transfer", "clone_bank"), "Bank Transfer"),
}
_SCHEMAS: Final[Mapping[str, str]] = {
    "DryRunBody": "DryRunExtractRequest",
    "RefreshBody": "RefreshMentalModelRequest",
    "StrategiesPreviewRequest": "ConsolidationStrategiesPreviewRequest",
    "MinScoresBody": "MinScores",
    "HttpConfigBody": "WebhookHttpConfig",
    "TriggerBody": "MentalModelTrigger-Input",
}


def tag_of(operation_id: str, routes: str) -> str:
    """The group of an operation whose router has this name."""
    return _TAG_OF_OPERATION.get(operation_id) or _TAG_OF_ROUTES.get(routes) or routes.replace("_", " ").title()


def schema_name(ours: str) -> str:
    """The name of a request's schema on the wire."""
    short = _without_module(ours)
    if short in _SCHEMAS:
        return _SCHEMAS[short]
    return f"{short.removesuffix('Body')}Request" if short.endswith("Body") else short


def _without_module(ours: str) -> str:
    """`RecallEvidenceIncludeOptions` for what two modules named alike, told apart by the routes they serve."""
    if "__" not in ours:
        return ours
    *_, routes, name = ours.split("__")
    if routes == "request":
        routes = ours.split("__")[-3]
    return f"{routes.title().replace('_', '')}{name}"
