"""Which errors each operation answers with, and why.  Read by document.py; tests/contract holds the app to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

Json = dict[str, object]

WHY: Final[Mapping[int, str]] = {
    400: "What was asked for cannot be: the sentence says why.",
    401: "No key, or one that is unknown, revoked or expired.",
    403: "The key may not do this, or may not see what it would need to.",
    404: "Not there, or not for this key: the two are answered alike.",
    409: "It is so already, or no longer in a state that allows this.",
    410: "Retired from the contract; the sentence names what to call instead.",
    413: "Larger than the service takes.",
    422: "The request is not as it must be: every wrong field is named.",
    429: "More than the tenant or the service may be asked for now: try again after a while.",
    500: "The run failed, and would again: the sentence says why.",
    501: "Part of the contract, and not served here; the sentence says why.",
    502: "The model's answer could not be used.",
    503: "Not now: `Retry-After` says after how many seconds to try again.",
    504: "It took too long, and changed nothing.",
}

NAMES: Final[Mapping[int, str]] = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Gone",
    413: "TooLarge",
    422: "Invalid",
    429: "TooManyRequests",
    500: "RunFailed",
    501: "NotServed",
    502: "ModelFailed",
    503: "NotNow",
    504: "TooSlow",
}

KEYLESS: Final = frozenset(
    {
        "health_endpoint_health_get", "get_readiness", "get_liveness", "get_version", "metrics_endpoint_metrics_get",
        "get_bank_template_schema", "export_documents_sync_removed",
    }
)  # fmt: skip
"""Operations that ask for no key."""

RETIRED: Final = frozenset({"export_documents_sync_removed", "regenerate_entity_observations"})
NOT_SERVED: Final = frozenset({"get_bank_attachment", "list_llm_requests", "llm_request_stats"})
_NEVER_WELL: Final = RETIRED | NOT_SERVED

_CONFLICTS: Final = frozenset(
    {
        "create_bank_alias", "delete_bank_alias", "set_bank_alias_primary", "create_or_update_bank", "update_bank",
        "import_bank_template",
        "retain_memories", "file_retain", "reflect", "update_memory", "update_document", "delete_document",
        "reprocess_document", "cancel_operation", "retry_operation", "delete_operation", "create_mental_model",
        "update_mental_model", "refresh_mental_model", "dry_run_refresh_mental_model", "clear_mental_model",
        "create_knowledge_folder", "create_knowledge_page", "update_knowledge_node", "clone_bank", "import_documents",
        "import_bank_transfer", "erase_tagged",
        "rebuild_observations", "reembed_bank", "revert_consolidation_run", "create_webhook",
        "update_bank_config",
    }
)  # fmt: skip
_ASK_MODELS: Final = frozenset(
    {
        "retain_memories", "dry_run_extract_memories", "recall_memories", "recall_several_banks", "update_memory",
    }
)  # fmt: skip
_WAIT_FOR_RUNS: Final = frozenset({"reflect", "dry_run_refresh_mental_model"})


def is_served_well(operation_id: str) -> bool:
    """Whether the operation has any answer that is no error."""
    return operation_id not in _NEVER_WELL


def refusals(operation_id: str, operation: Json) -> Iterator[int]:
    """The statuses of the errors that an operation may answer with."""
    parameters, has_body = operation.get("parameters"), "requestBody" in operation
    if operation_id in KEYLESS:
        yield from _of_the_keyless(operation_id)
        return
    yield from (400, 401, 403, 404, 429, 503, 504)
    if parameters or has_body:
        yield 422
    if has_body:
        yield 413
    if operation_id in _CONFLICTS:
        yield 409
    if operation_id in _ASK_MODELS:
        yield 502
    if operation_id in _WAIT_FOR_RUNS:
        yield 500
    if operation_id in RETIRED:
        yield 410
    if operation_id in NOT_SERVED:
        yield 501


def _of_the_keyless(operation_id: str) -> Iterator[int]:
    if operation_id in {"health_endpoint_health_get", "get_readiness"}:
        yield 503
    if operation_id in RETIRED:
        yield from (400, 410)


def schema_of(status: int) -> Json:
    """What the body of an error looks like."""
    if status != 422:
        return {"$ref": "#/components/schemas/Error"}
    return {
        "anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("HTTPValidationError", "Error", "Violations")]
    }


SCHEMAS: Final[Mapping[str, Json]] = {
    "Error": {
        "type": "object",
        "description": "An error in one sentence; some name the operation that goes on.",
        "required": ["detail"],
        "properties": {"detail": {"type": "string"}},
    },
    "HTTPValidationError": {
        "type": "object",
        "description": "Every field that is not as it must be.",
        "required": ["detail"],
        "properties": {"detail": {"type": "array", "items": {"$ref": "#/components/schemas/ValidationError"}}},
    },
    "ValidationError": {
        "type": "object",
        "description": "A field, by its place in the request, and what is wrong with it.",
        "required": ["loc", "msg", "type"],
        "properties": {
            "loc": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
            "msg": {"type": "string"},
            "type": {"type": "string"},
            "input": {},
            "ctx": {"type": "object"},
        },
    },
    "Violations": {
        "type": "object",
        "description": "What the bank's screening policy refused.",
        "required": ["detail"],
        "properties": {
            "detail": {
                "type": "object",
                "required": ["violations"],
                "properties": {"violations": {"type": "array", "items": {"type": "object"}}},
            }
        },
    },
}

EXAMPLES: Final[Mapping[int, Json]] = {
    400: {"detail": "Invalid memory_id: 'first' is not a valid UUID"},
    401: {"detail": "Authentication failed: the key is not known"},
    403: {"detail": "This key may not write"},
    404: {"detail": "Bank 'garden' not found"},
    409: {"detail": "The name 'garden' is taken"},
    422: {"detail": [{"type": "missing", "loc": ["body", "query"], "msg": "Field required", "input": {}}]},
    429: {"detail": "Too many requests today: ask again tomorrow"},
    503: {"detail": "The database is waking up: try again in a moment"},
}
