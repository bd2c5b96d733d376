"""`python -m infra.local up`: serves the whole system on this machine until interrupted. Used by `make run`."""

import argparse
import logging
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Final
from uuid import UUID

from infra.local.bootstrap import BootstrapError
from infra.local.jwt_issuer import JwtError, issuer_in
from infra.local.options import DEFAULT_PORT, DEV_TENANT, LocalModel, StackOptions
from infra.local.postgres import PostgresError
from infra.local.sidecar import SidecarError
from infra.local.stack import LocalStack
from infra.local.state import StackAlreadyRunning
from infra.local.text_models import TextModelError, choice, threads_of

_MODEL_NOTES: Final = {
    LocalModel.RULES: (
        "Text model: offline and rule-based. It shows how the system works, not how well a real model extracts; "
        "set HINDSIGHT_BEDROCK=aws with AWS credentials for Bedrock itself."
    ),
    LocalModel.QWEN: (
        "Text model: Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) on this machine, one call at a time. It is real, small and "
        "often wrong; a call takes a minute or more, so use the Function URLs, which wait."
    ),
}


def main(arguments: list[str]) -> int:
    """Runs the command; the answer is the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="The whole system on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="serve until interrupted")
    up.add_argument("--port", type=int, default=DEFAULT_PORT, help="port of the HTTP API (0: a free one)")
    up.add_argument("--state", type=Path, default=None, help="folder for data and logs (default: .local)")
    up.add_argument("--no-prewarm", action="store_true", help="start functions at their first call only")
    up.add_argument("--faults", action="store_true", help="switch the fault harness on")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s", stream=sys.stderr)
    try:
        options = options_from(given)
    except (TextModelError, JwtError) as error:
        print(error, file=sys.stderr)
        return 2
    return serve(options)


def options_from(given: argparse.Namespace) -> StackOptions:
    """The stack's options from the command line and the environment. Raises: TextModelError, JwtError."""
    options = StackOptions()
    local_model, bedrock_aws = choice(os.environ)
    functions = options.topology.functions
    return replace(
        options,
        port=given.port,
        state=given.state or options.state,
        faults=given.faults,
        prewarm=() if given.no_prewarm else tuple(function.name for function in functions if function.is_api),
        database_url=os.environ.get("DATABASE_URL") or None,
        dev_tenant=UUID(os.environ["HINDSIGHT_DEV_TENANT"]) if "HINDSIGHT_DEV_TENANT" in os.environ else DEV_TENANT,
        bedrock_aws=bedrock_aws,
        local_model=local_model,
        model_threads=threads_of(os.environ),
        jwt=issuer_in(os.environ),
    )


def serve(options: StackOptions) -> int:
    """Starts, says what was started, waits for SIGINT or SIGTERM, stops."""
    interrupted = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: interrupted.set())
    begun = time.monotonic()
    stack = LocalStack(options)
    try:
        stack.start()
    except (
        BootstrapError,
        JwtError,
        PostgresError,
        SidecarError,
        StackAlreadyRunning,
        TextModelError,
        OSError,
    ) as error:
        print(f"The local stack could not start. {error}", file=sys.stderr)
        return 1
    announce(stack, time.monotonic() - begun)
    interrupted.wait()
    print("Stopping; the data stays.", flush=True)
    stack.stop()
    return 0


def announce(stack: LocalStack, seconds: float) -> None:
    """Prints where everything is."""
    options = stack.options
    bedrock = "AWS itself" if options.bedrock_aws else stack.bedrock_url if options.bedrock else "left out"
    lines = [
        f"Hindsight on this machine, up in {seconds:.1f} s. Ctrl-C ends it; data stays in {options.state}.",
        f"  HTTP API        {stack.base_url}  (no key needed: you are the dev tenant {options.dev_tenant})",
        *([f"  Token API       {stack.jwt_url}  (tokens of {options.jwt.issuer})"] if options.jwt else []),
        *(f"  {name + ' URL':<15} {url}  (no 30 s limit)" for name, url in stack.function_urls.items()),
        f"  SQS             {stack.sqs_url}",
        f"  S3              {stack.s3_url}",
        f"  Postgres        {stack.superuser_url if options.database_url is None else 'the server of DATABASE_URL'}",
        f"  Bedrock         {bedrock}",
        f"  Logs            {options.state / 'logs'}",
    ]
    if options.bedrock and not options.bedrock_aws:
        lines.append(_MODEL_NOTES[options.local_model])
    print("\n".join(lines), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
