"""Whether the process lives and reaches its database, what it can do, and its own counters.  No key needed."""

from __future__ import annotations

import time

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.app import API_VERSION
from hindsight_aws.api.auth import Call, CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.errors import DatabaseUnavailable

router = APIRouter(route_class=ReportingRoute)
_STARTED = time.monotonic()
_NO_KEY = b""


@router.get("/health", operation_id="health_endpoint_health_get")
async def get_health(call: CallDep) -> Response:
    """Whether the database answers."""
    return _readiness(call)


@router.get("/health/ready")
async def get_readiness(call: CallDep) -> Response:
    """Whether the database answers."""
    return _readiness(call)


@router.get("/health/live")
async def get_liveness() -> Response:
    """Whether the process runs; asks nobody."""
    up = round(time.monotonic() - _STARTED, 1)
    return json_answer({"status": "alive", "version": API_VERSION, "uptime_seconds": up})


@router.get("/version")
async def get_version(call: CallDep) -> Response:
    """The version of the wire contract and what is switched on."""
    return json_answer(_version(call))


@router.get("/v1/version", include_in_schema=False)
async def get_version_alias(call: CallDep) -> Response:
    """The same under the path that newer clients try first."""
    return json_answer(_version(call))


@router.get("/metrics", operation_id="metrics_endpoint_metrics_get")
async def get_metrics() -> Response:
    """Process counters in Prometheus text; the account's metrics are in CloudWatch."""
    lines = (
        "# HELP process_uptime_seconds Seconds since this execution environment started.",
        "# TYPE process_uptime_seconds gauge",
        f"process_uptime_seconds {time.monotonic() - _STARTED:.3f}",
        "# HELP process_cpu_seconds_total CPU seconds used by this execution environment.",
        "# TYPE process_cpu_seconds_total counter",
        f"process_cpu_seconds_total {time.process_time():.3f}",
    )
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=1.0.0")


def _readiness(call: Call) -> Response:
    asked = time.perf_counter()
    try:
        call.services.store.resolve_key(_NO_KEY)
    except DatabaseUnavailable as broken:
        return json_answer({"status": "unhealthy", "reason": str(broken)}, 503)
    took = round((time.perf_counter() - asked) * 1000, 1)
    return json_answer({"status": "healthy", "database": "connected", "db_acquire_ms": took})


def _version(call: Call) -> dict[str, object]:
    settings = call.services.settings
    has_bucket = bool(settings.hindsight_bucket)
    return {
        "api_version": API_VERSION,
        "features": {
            "observations": settings.hindsight_api_enable_observations,
            "mcp": settings.hindsight_api_mcp_enabled,
            "worker": True,
            "bank_config_api": settings.hindsight_api_enable_bank_config_api,
            "bank_llm_health": settings.hindsight_api_enable_bank_llm_health,
            "file_upload_api": settings.hindsight_api_enable_file_upload_api,
            "document_export_api": has_bucket and settings.hindsight_api_enable_document_export_api,
            "document_import_api": has_bucket and settings.hindsight_api_enable_document_import_api,
            "audit_log": True,
            "llm_trace": False,
            "store_document_text": True,
        },
    }
