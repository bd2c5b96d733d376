"""What an environment's process runs: `python -P entry.py (awslambdaric|plain) module.function [search path...]`.

Started as a script by `environment` with the task root as its working directory; imports nothing of `infra`, as the
code it hosts will find no `infra` in the cloud either.
"""

import http.client
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module

JsonHandler = Callable[[object, object], object]

_PATH = "/2018-06-01/runtime/"


class PlainContext:
    """The part of Lambda's context object that handlers read."""

    def __init__(self, request_id: str, arn: str, deadline: int, environment: Mapping[str, str]) -> None:
        self.aws_request_id = request_id
        self.invoked_function_arn = arn
        self.function_name = environment["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = environment["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = environment["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = environment["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = environment["AWS_LAMBDA_LOG_STREAM_NAME"]
        self._deadline = deadline

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the service stops waiting."""
        return max(0, self._deadline - int(time.time() * 1000))


class PlainRuntime:
    """The same loop as awslambdaric's, for systems it has no wheel for."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(address)

    def post(self, path: str, body: bytes) -> None:
        """Posts to the Runtime API and drops the answer."""
        self._connection.request("POST", _PATH + path, body, {"Content-Type": "application/json"})
        self._connection.getresponse().read()

    def serve(self, handler: JsonHandler) -> None:
        """Takes events until the process is killed."""
        while True:
            self._connection.request("GET", _PATH + "invocation/next")
            response = self._connection.getresponse()
            payload = response.read()
            request_id = response.headers["lambda-runtime-aws-request-id"]
            arn = response.headers["lambda-runtime-invoked-function-arn"]
            context = PlainContext(request_id, arn, int(response.headers["lambda-runtime-deadline-ms"]), os.environ)
            try:
                answer = json.dumps(handler(json.loads(payload), context), ensure_ascii=False).encode()
            except Exception as error:  # noqa: BLE001 - whatever a handler raises is its answer
                traceback.print_exc()
                self.post(f"invocation/{request_id}/error", describe(error))
            else:
                self.post(f"invocation/{request_id}/response", answer)


def describe(error: BaseException) -> bytes:
    """Lambda's error document."""
    trace = traceback.format_tb(error.__traceback__)
    return json.dumps(
        {"errorType": type(error).__name__, "errorMessage": str(error), "stackTrace": trace, "requestId": ""}
    ).encode()


def serve_plainly(name: str) -> None:
    """Loads the handler and serves it; a handler that does not load is reported, as Lambda does."""
    runtime = PlainRuntime(os.environ["AWS_LAMBDA_RUNTIME_API"])
    module, _, attribute = name.rpartition(".")
    try:
        handler: JsonHandler = getattr(import_module(module.replace("/", ".")), attribute)
    except Exception as error:  # noqa: BLE001 - importing a module may raise anything
        traceback.print_exc()
        runtime.post("init/error", describe(error))
        sys.exit(1)
    runtime.serve(handler)


def main(runtime: str, handler: str, *search_path: str) -> None:
    """Puts the task root, or the path that is given, before all else, as Lambda does, and serves."""
    sys.path[:0] = search_path or (os.environ["LAMBDA_TASK_ROOT"],)
    if runtime == "plain":
        serve_plainly(handler)
    else:
        from awslambdaric.__main__ import main as serve_with_awslambdaric

        serve_with_awslambdaric(["awslambdaric", handler])


if __name__ == "__main__":
    main(*sys.argv[1:])
