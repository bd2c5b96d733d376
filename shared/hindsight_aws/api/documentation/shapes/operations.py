"""Work that goes on behind an answer."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class RefreshMentalModelOperationDetails(TypedDict):
    """How a refresh ended."""

    operation_type: NotRequired[Literal["refresh_mental_model"]]
    outcome: Literal[
        "content_written",
        "content_unchanged",
        "content_preserved_no_new_facts",
        "refresh_failed_empty_candidate",
        "refresh_failed_delta_not_applied",
        "refresh_failed_structured_output",
        "refresh_failed_error",
    ]
    failure_reason: NotRequired[
        Literal[
            "empty_candidate",
            "structured_doc_unreadable",
            "delta_ops_failed",
            "delta_ops_all_skipped",
            "delta_not_applied",
            "structured_output_failed",
            "retrieval_failed",
            "no_answer",
            "unexpected_error",
        ]
        | None
    ]


class OperationProgress(TypedDict):
    """How far an operation has come."""

    stage: str
    at: str
    processed: NotRequired[int | None]
    total: NotRequired[int | None]
    detail: NotRequired[dict[str, int] | None]


class OperationResponse(TypedDict):
    """An operation as lists show it."""

    id: str
    task_type: str
    operation_id: NotRequired[str | None]
    operation_type: NotRequired[str | None]
    items_count: int
    document_id: NotRequired[str | None]
    filename: NotRequired[str | None]
    mental_model_id: NotRequired[str | None]
    details: NotRequired[RefreshMentalModelOperationDetails | None]
    created_at: str
    updated_at: NotRequired[str | None]
    status: str
    error_message: str | None
    retry_count: NotRequired[int | None]
    next_retry_at: NotRequired[str | None]
    progress: NotRequired[OperationProgress | None]


class OperationsListResponse(TypedDict):
    """One page of operations."""

    bank_id: str
    total: int
    limit: int
    offset: int
    operations: list[OperationResponse]


class ChildOperationStatus(TypedDict):
    """A part of an operation."""

    operation_id: str
    status: str
    sub_batch_index: NotRequired[int | None]
    items_count: NotRequired[int | None]
    error_message: NotRequired[str | None]


class OperationStatusResponse(TypedDict):
    """An operation, how it stands, and its parts."""

    operation_id: str
    status: Literal["pending", "processing", "completed", "failed", "cancelled", "not_found"]
    operation_type: NotRequired[str | None]
    id: NotRequired[str | None]
    task_type: NotRequired[str | None]
    mental_model_id: NotRequired[str | None]
    created_at: NotRequired[str | None]
    updated_at: NotRequired[str | None]
    completed_at: NotRequired[str | None]
    error_message: NotRequired[str | None]
    retry_count: NotRequired[int | None]
    next_retry_at: NotRequired[str | None]
    progress: NotRequired[OperationProgress | None]
    result_metadata: NotRequired[dict[str, object] | None]
    details: NotRequired[RefreshMentalModelOperationDetails | None]
    child_operations: NotRequired[list[ChildOperationStatus] | None]
    task_payload: NotRequired[dict[str, object] | None]


class CancelOperationResponse(TypedDict):
    """That the operation will not be worked on."""

    success: bool
    message: str
    operation_id: str


class RetryOperationResponse(TypedDict):
    """That the operation begins anew."""

    success: bool
    message: str
    operation_id: str


class DeleteOperationResponse(TypedDict):
    """That the operation is no longer listed."""

    success: bool
    message: str
    operation_id: str


class DocumentExportSubmitResponse(TypedDict):
    """The operation that writes the archive."""

    operation_id: str
    status: NotRequired[str]


class DocumentImportSubmitResponse(TypedDict):
    """The operation that reads the archive."""

    operation_id: str
    status: NotRequired[str]


class BankTransferSubmitResponse(TypedDict):
    """The operation that moves the bank."""

    operation_id: str
    status: NotRequired[str]


class WaitingResponse(TypedDict):
    """An operation that goes on after the call: it is asked for by its id, or by the same call again."""

    operation_id: str
    status: str
    detail: NotRequired[str]
