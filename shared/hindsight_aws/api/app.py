"""The app factory: one FastAPI app per group of functions, with only that group's routers imported.

Called by the doors in functions/ and by tests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from typing import cast

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from hindsight_aws.api import errors
from hindsight_aws.api.services import Services
from hindsight_aws.api.wire import WireGuard

API_VERSION = "1.1.0"
"""The version of the wire contract we keep; clients compare it."""

# A tool of MCP asks the routes themselves, so its function serves those that tools ask.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "retain": ("retain", "dry_run", "files", "model_health", "transfer"),
    "recall": ("recall",),
    "reflect": ("reflect", "mental_model_refreshes", "knowledge_refreshes", "template_import"),
    "mcp": (
        "mcp",
        "retain",
        "recall",
        "reflect",
        "mental_model_refreshes",
        "knowledge_refreshes",
        "banks",
        "config",
        "memories",
        "documents",
        "chunks",
        "tags",
        "operations",
        "stats",
        "directives",
        "mental_models",
        "knowledge",
    ),
    "admin": (
        "documentation",
        "health",
        "banks",
        "aliases",
        "audit",
        "erasure",
        "reembedding",
        "config",
        "memories",
        "observations",
        "documents",
        "chunks",
        "entities",
        "tags",
        "scopes",
        "operations",
        "stats",
        "usage",
        "graph",
        "consolidation",
        "directives",
        "mental_models",
        "knowledge",
        "webhooks",
        "prompt_preview",
        "templates",
        "downloads",
        "unserved",
        "elsewhere",
    ),
}
_GZIP_LEVEL = 4


def create_app(groups: Collection[str], services: Services) -> FastAPI:
    """An app that serves the routes of these groups and answers everything else with 404 or 405."""
    app = FastAPI(
        title="Hindsight on AWS",
        version=API_VERSION,
        strict_content_type=False,
        # Each function knows its own routes alone: routes/documentation.py serves the document of all, from this host.
        openapi_url=None,
        middleware=[
            Middleware(
                GZipMiddleware, minimum_size=services.settings.hindsight_api_gzip_min_size, compresslevel=_GZIP_LEVEL
            ),
            Middleware(WireGuard),
        ],
    )
    app.state.services = services
    errors.install(app)
    for router in routers(groups):
        app.include_router(router)
    return app


def routers(groups: Collection[str]) -> Iterable[APIRouter]:
    """The routers of these groups, each once, imported when they are asked for."""
    for name in dict.fromkeys(name for group in GROUPS if group in groups for name in GROUPS[group]):
        yield cast(APIRouter, import_module(f"hindsight_aws.api.routes.{name}").router)
