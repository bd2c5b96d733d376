"""MCP: the API as tools, for one bank at /mcp/{bank_id} and for many at /mcp.  POST only: there are no sessions.

A page in a browser that the operator did not name may not call (a name can be made to lead to this machine).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.responses import Response

from hindsight_aws.api.answers import json_answer, json_bytes
from hindsight_aws.api.app import API_VERSION
from hindsight_aws.api.auth import Call, CallDep
from hindsight_aws.api.echo import harmless
from hindsight_aws.api.mcp.exchange import EnabledTools, Exchange
from hindsight_aws.api.mcp.protocol import (
    INVALID_REQUEST,
    MODERN_VERSIONS,
    Message,
    RpcError,
    answered,
    failed,
    id_of,
    read_body,
    read_message,
    version_of,
)
from hindsight_aws.api.names import meaning
from hindsight_aws.configuration.config import resolve
from hindsight_aws.errors import AccessDenied, NotFound, Unauthenticated
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.settings import Settings

router = APIRouter(include_in_schema=False)

_BANK_HEADER: Final = "x-bank-id"
_BANK_UNSAID: Final = "default"
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SWITCHED_OFF: Final = "MCP is disabled. Set HINDSIGHT_API_MCP_ENABLED=true to enable it."


@router.post("/mcp/{bank_id}/")
@router.post("/mcp/{bank_id}")
async def serve_one_bank(call: CallDep, request: Request, bank_id: str) -> Response:
    """The tools of one bank."""
    return await _serve(call, request, bank_id, of_many=False)


@router.post("/mcp/")
@router.post("/mcp")
async def serve_many_banks(call: CallDep, request: Request) -> Response:
    """The tools of all banks; without a `bank_id` they are about the one that `X-Bank-Id` names."""
    named = request.headers.get(_BANK_HEADER, "").encode("latin-1").decode(errors="replace")
    return await _serve(call, request, named or _BANK_UNSAID, of_many=True)


async def _serve(call: Call, request: Request, bank: str, *, of_many: bool) -> Response:
    settings = call.services.settings
    if not settings.hindsight_api_mcp_enabled:
        raise NotFound(_SWITCHED_OFF)
    if not _may_call_from(request.headers.get("origin"), settings):
        return json_answer({"error": "This origin may not call: name it in HINDSIGHT_MCP_ALLOWED_ORIGINS"}, 403)
    try:
        principal = call.caller()
    except Unauthenticated as unknown:
        return _unauthenticated(unknown)
    except AccessDenied as refused:
        return json_answer({"error": str(refused)}, 403)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return json_answer({"error": "The content type must be application/json"}, 415)
    try:
        version = version_of(request.headers.get("mcp-protocol-version"))
        body = read_body(await request.body(), version)
    except RpcError as wrong:
        return _said(request, failed(None, wrong), wrong.status)
    exchange = Exchange(request, version, bank, of_many, _enabled(call, principal), API_VERSION)
    if isinstance(body, list):
        return await _batch(request, exchange, body)
    return await _single(request, exchange, body)


async def _single(request: Request, exchange: Exchange, body: JsonValue) -> Response:
    try:
        message = read_message(body)
    except RpcError as wrong:
        return _said(request, failed(id_of(body), wrong), wrong.status)
    if message is None or message.is_notification:
        return Response(status_code=202)
    try:
        return _said(request, answered(message.id, await exchange.answer(message)))
    except RpcError as wrong:
        status = wrong.status if exchange.version in MODERN_VERSIONS else 200
        return _said(request, failed(message.id, wrong), status)


async def _batch(request: Request, exchange: Exchange, batch: Sequence[JsonValue]) -> Response:
    """Answers to all requests of the batch, in its order; nothing when it holds none."""
    said: list[JsonObject] = []
    for entry in batch:
        try:
            message = read_message(entry)
            if message is not None and not message.is_notification:
                _require_not_first(message)
                said.append(answered(message.id, await exchange.answer(message)))
        except RpcError as wrong:
            said.append(failed(id_of(entry), wrong))
    return _said(request, said) if said else Response(status_code=202)


def _require_not_first(message: Message) -> None:
    if message.method == "initialize":
        raise RpcError(INVALID_REQUEST, "initialize may not be part of a batch")


def _said(request: Request, message: JsonObject | Sequence[JsonObject], status: int = 200) -> Response:
    """The message as JSON, or as the one event of a stream for a client that takes nothing else."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    accepted = request.headers.get("accept", "").lower()
    if status == 200 and "text/event-stream" in accepted and not {"json", "*/*"} & _kinds(accepted):
        return Response(f"event: message\ndata: {text}\n\n".encode(), media_type="text/event-stream")
    return json_bytes(text.encode(), status)


def _kinds(accepted: str) -> set[str]:
    """What of JSON, or of anything at all, an Accept header takes."""
    kinds = {part.partition(";")[0].strip() for part in accepted.split(",")}
    return {"json" if kind in {"application/json", "application/*"} else kind for kind in kinds}


def _may_call_from(origin: str | None, settings: Settings) -> bool:
    """Whether a call may come from there: from no page at all, from one of this machine here, or from a named one."""
    if origin is None or origin in settings.hindsight_mcp_allowed_origins:
        return True
    try:
        host = urlsplit(origin).hostname
    except ValueError:
        return False
    return settings.hindsight_environment == "local" and host in _LOOPBACK


def _enabled(call: Call, principal: Principal) -> EnabledTools:
    def of_bank(name: str) -> Sequence[str] | None:
        """What the bank's setting allows; of a bank that is not there, or not for this caller, the server's."""
        store, settings = call.services.store, call.services.settings
        meant = None if "\x00" in name else meaning(store, principal, name)
        if meant is None:
            return resolve(settings, {}).mcp_enabled_tools
        with store.snapshot(principal.tenant_id) as tx:
            found = tx.banks.find(meant.external_id)
        return resolve(settings, found.overrides if found else {}).mcp_enabled_tools

    return of_bank


def _unauthenticated(error: Unauthenticated) -> Response:
    answer = json_answer({"error": harmless(f"Authentication failed: {error}")}, 401)
    answer.headers["WWW-Authenticate"] = "Bearer"
    return answer
