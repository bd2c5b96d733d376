"""How the server is."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class LivenessResponse(TypedDict):
    """That the process runs."""

    status: Literal["alive"]
    version: str
    uptime_seconds: float


class FeaturesInfo(TypedDict):
    """Which parts of the wire contract are switched on here."""

    observations: bool
    mcp: bool
    worker: bool
    bank_config_api: bool
    bank_llm_health: bool
    file_upload_api: bool
    document_export_api: bool
    document_import_api: bool
    audit_log: bool
    llm_trace: bool
    store_document_text: bool


class VersionResponse(TypedDict):
    """The version of the wire contract, and what is switched on."""

    api_version: str
    features: FeaturesInfo


class HealthResponse(TypedDict):
    """Whether the database answers, and how soon."""

    status: str
    database: NotRequired[str]
    db_acquire_ms: NotRequired[float]
    reason: NotRequired[str]
