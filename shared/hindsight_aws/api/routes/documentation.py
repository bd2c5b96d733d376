"""The OpenAPI document of all functions together, and a page that shows it.  Everything comes from this host.

No key needed.  What is served was made before: see documentation/document.py.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from hindsight_aws.api.answers import json_bytes

router = APIRouter()

_FOLDER: Final = "hindsight_aws.api.documentation"
_KINDS: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_FROM_HERE_ALONE: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


async def _document(_request: Request) -> Response:
    """The document as it was committed."""
    return json_bytes(_read("openapi.json"))


async def _page(_request: Request) -> Response:
    """The page, under both addresses that people try."""
    return _file("page.html")


async def _script(_request: Request) -> Response:
    return _file("page.js")


async def _style(_request: Request) -> Response:
    return _file("page.css")


def _file(name: str) -> Response:
    return Response(_read(f"page/{name}"), headers=_FROM_HERE_ALONE, media_type=_KINDS[name.rpartition(".")[2]])


@cache
def _read(name: str) -> bytes:
    return files(_FOLDER).joinpath(name).read_bytes()


for _path, _serve in {
    "/openapi.json": _document,
    "/docs": _page,
    "/redoc": _page,
    "/docs/page.js": _script,
    "/docs/page.css": _style,
}.items():
    router.add_route(_path, _serve, methods=["GET"], include_in_schema=False)
