"""Which text model stands behind the Bedrock address, and what the rest of the stack must know about it.

Called by the command line (`choice`), the supervisor (`prepare`, `endpoint_command`, `patient`) and `variables`.
The rules answer at once; the small model needs minutes, so timeouts, leases and limits are stretched for it; AWS's own
models need the caller's credentials and nothing of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from infra.local.options import LocalModel, StackOptions
from infra.topology import VISIBILITY_PER_TIMEOUT, Function, ModelUse, Queue, QueueTrigger, Topology

_MOST_THREADS: Final = 2
_CALLS_OF_MINUTES: Final = 300
_LONGEST_LAMBDA: Final = 900
_LONGEST_CALL: Final = 600
"""Seconds one model call may take; a worker that has less than this left hands over instead of starting another."""
_MARGIN: Final = 20
"""Seconds a function outlives its model call by, at least."""


class TextModelError(RuntimeError):
    """The chosen text model cannot be used here; the message is one sentence that says why."""


def choice(surroundings: Mapping[str, str]) -> tuple[LocalModel, bool]:
    """The local model, and whether AWS's own are used instead. Raises: TextModelError for a value nobody knows."""
    local, bedrock = surroundings.get("HINDSIGHT_LOCAL_MODEL", ""), surroundings.get("HINDSIGHT_BEDROCK", "")
    if bedrock not in {"", "local", "aws"}:
        raise TextModelError(f"HINDSIGHT_BEDROCK is {bedrock!r}; it may be aws, or local.")
    if local not in {"", *LocalModel}:
        raise TextModelError(f"HINDSIGHT_LOCAL_MODEL is {local!r}; it may be qwen, or rules.")
    if local and bedrock == "aws":
        raise TextModelError("HINDSIGHT_LOCAL_MODEL and HINDSIGHT_BEDROCK=aws exclude each other; unset one.")
    return LocalModel(local or LocalModel.RULES), bedrock == "aws"


def threads_of(surroundings: Mapping[str, str]) -> int:
    """How many threads the small model computes with: HINDSIGHT_LOCAL_MODEL_THREADS, else two at most."""
    asked = surroundings.get("HINDSIGHT_LOCAL_MODEL_THREADS", "")
    if not asked:
        return min(_MOST_THREADS, os.cpu_count() or 1)
    if not asked.isdecimal() or int(asked) < 1:
        raise TextModelError(f"HINDSIGHT_LOCAL_MODEL_THREADS is {asked!r}; it must be a whole number of 1 or more.")
    return int(asked)


def prepare(options: StackOptions) -> None:
    """Sees to it that the model is there before anything is started. Raises: TextModelError; OSError, disk full."""
    if options.bedrock_aws:
        _require_credentials()
    elif options.bedrock and options.local_model is LocalModel.QWEN:
        from infra.local.bedrock.qwen.gguf import LocalModelUnavailable, model_file, require_runtime

        try:
            require_runtime()
            model_file(options.models)
        except LocalModelUnavailable as why:
            raise TextModelError(str(why)) from why


def _require_credentials() -> None:
    import botocore.session
    from botocore.exceptions import BotoCoreError

    try:
        found = botocore.session.Session().get_credentials()
    except BotoCoreError as why:
        raise TextModelError(f"HINDSIGHT_BEDROCK=aws needs AWS credentials: {why}.") from why
    if found is None:
        raise TextModelError(
            "HINDSIGHT_BEDROCK=aws needs AWS credentials, and none were found: set AWS_PROFILE or AWS_ACCESS_KEY_ID."
        )


def endpoint_command(options: StackOptions) -> list[str]:
    """What runs the Bedrock endpoint, all but its port."""
    command = [sys.executable, "-m", "infra.local.bedrock", "--model", options.local_model]
    if options.local_model is LocalModel.QWEN:
        command += ["--models", str(options.models), "--model-threads", str(options.model_threads)]
    return command


def patient(topology: Topology, model: LocalModel) -> Topology:
    """The topology with the time that model needs.

    Functions that ask it run up to Lambda's 15 minutes, workers one at a time, for the model does so too.  Tasks of a
    workflow keep the time their definition gives them.
    """
    if model is LocalModel.RULES:
        return topology
    return replace(
        topology,
        functions=tuple(map(_patient_function, topology.functions)),
        queues=tuple(map(_patient_queue, topology.queues)),
    )


def _patient_function(function: Function) -> Function:
    if ModelUse.TEXT not in function.models or function.timeout < _CALLS_OF_MINUTES:
        return function
    is_worker = any(isinstance(trigger, QueueTrigger) for trigger in function.triggers)
    return replace(function, timeout=_LONGEST_LAMBDA, max_concurrency=1 if is_worker else function.max_concurrency)


def _patient_queue(queue: Queue) -> Queue:
    return replace(queue, visibility=max(queue.visibility, VISIBILITY_PER_TIMEOUT * _LONGEST_LAMBDA))


def model_settings(function: Function, model: LocalModel) -> dict[str, str]:
    """Settings that make a function fit the model, each only where whoever runs the stack has not set it."""
    settings = {"HINDSIGHT_API_LLM_MODEL": model.wire_id}  # what is written says which model wrote it
    if model is LocalModel.RULES:
        return settings
    return settings | {
        "HINDSIGHT_API_LLM_TIMEOUT": str(min(_LONGEST_CALL, function.timeout - _MARGIN)),
        "HINDSIGHT_API_RETAIN_PARALLELISM": "1",
        "HINDSIGHT_API_RETAIN_CHUNK_SIZE": "1500",
        "HINDSIGHT_RETAIN_SYNC_SECONDS": str(_LONGEST_LAMBDA - 2 * _MARGIN),
        "HINDSIGHT_RETAIN_LEASE_SECONDS": str(_LONGEST_LAMBDA),
        "HINDSIGHT_API_CONSOLIDATION_LEASE_SECONDS": str(_LONGEST_LAMBDA),
        "HINDSIGHT_API_REFLECT_MAX_ITERATIONS": "3",
        "HINDSIGHT_API_REFLECT_MAX_CONTEXT_TOKENS": "6000",
    }
