"""`python -m infra.local.bedrock --port N`: serves the loopback Bedrock endpoint until it is stopped.

Started by the local stack and by tests; calls `app` and uvicorn. Port 0 takes a free one; the first line names it.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
from dataclasses import fields
from pathlib import Path

import uvicorn

from infra.local.bedrock.app import BedrockEndpoint
from infra.local.bedrock.asgi import application
from infra.local.bedrock.batching import Batcher
from infra.local.bedrock.faults import FaultPlan
from infra.local.bedrock.http_protocol import CuttableProtocol
from infra.local.bedrock.speakers import RuleSpeaker, Speaker

_BACKLOG = 512
_CONTEXT = 16_384  # tokens; half a gigabyte of memory
_INTRODUCTIONS = {
    "rules": "a model made of rules, not a language model",
    "qwen": "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: a small language model, one call at a time",
}


def main() -> None:
    """Parses the command line and serves."""
    parser = argparse.ArgumentParser(prog="python -m infra.local.bedrock", description="A Bedrock endpoint offline.")
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--embed-threads", type=int, default=1, help="threads of the embedding model")
    parser.add_argument("--model", choices=sorted(_INTRODUCTIONS), default="rules", help="what answers Converse")
    parser.add_argument("--models", type=Path, default=Path(".local/models"), help="folder of qwen's file")
    parser.add_argument("--model-threads", type=int, default=1, help="threads of qwen")
    parser.add_argument("--model-context", type=int, default=_CONTEXT, help="tokens qwen can have before it")
    for field in fields(FaultPlan):
        kind = int if field.type == "int" else float
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    options = parser.parse_args()
    plan = FaultPlan(**{field.name: getattr(options, field.name) for field in fields(FaultPlan)})
    speaker = _speaker(options)
    listener = _listener(options.host, options.port)
    print(
        f"bedrock on http://{options.host}:{listener.getsockname()[1]}  "
        f"text: {_INTRODUCTIONS[options.model]}  embeddings: all-MiniLM-L6-v2, int8",
        flush=True,
    )
    asyncio.run(_serve(listener, plan, options.embed_threads, speaker))


def _speaker(options: argparse.Namespace) -> Speaker:
    if options.model == "rules":
        return RuleSpeaker()
    from infra.local.bedrock.qwen.engine import Engine, load
    from infra.local.bedrock.qwen.gguf import LocalModelUnavailable, model_file, require_runtime
    from infra.local.bedrock.qwen.speaker import QwenSpeaker

    try:
        require_runtime()
        file = model_file(options.models)
    except LocalModelUnavailable as why:
        sys.exit(str(why))
    return QwenSpeaker(Engine(load(file, options.model_threads, options.model_context)))


async def _serve(listener: socket.socket, plan: FaultPlan, threads: int, speaker: Speaker) -> None:
    batcher = Batcher(threads)
    batcher.start()
    config = uvicorn.Config(
        application(BedrockEndpoint(plan, batcher, speaker)),
        http=CuttableProtocol,
        loop="uvloop",
        lifespan="off",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
        server_header=False,
        date_header=False,
    )
    await uvicorn.Server(config).serve(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    listener = socket.create_server((host, port), backlog=_BACKLOG)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


if __name__ == "__main__":
    main()
