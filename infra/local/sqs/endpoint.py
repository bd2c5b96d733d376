"""The loopback SQS endpoint: AWS's JSON protocol over HTTP, for real clients. Calls the queue service."""

import json
import uuid
from typing import Final

from infra.local.http import Endpoint, HttpRequest, HttpResponse
from infra.local.sqs.errors import SqsError
from infra.local.sqs.parameters import Parameters
from infra.local.sqs.service import QueueService

_CONTENT_TYPE: Final = ("content-type", "application/x-amz-json-1.0")
_MAX_BODY: Final = 8 * 1024 * 1024


class SqsEndpoint(Endpoint):
    """Serves one queue service; credentials and signatures are not looked at."""

    def __init__(self, service: QueueService) -> None:
        self._service = service
        super().__init__(self._answer, max_body=_MAX_BODY)

    async def start(self, port: int = 0) -> str:
        """Listens; the answer is the endpoint's URL, which its queues are named by."""
        self._service.address = await super().start(port)
        return self._service.address

    def stop(self) -> None:
        """Ends waiting receivers and hangs up."""
        self._service.close()
        super().stop()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        action = (request.header("x-amz-target") or "").rpartition(".")[2]
        request_id = ("x-amzn-requestid", str(uuid.uuid4()))
        try:
            answer = await self._service.run(action, Parameters.parse(request.body))
        except SqsError as error:
            body = json.dumps({"__type": f"com.amazonaws.sqs#{error.shape}", "message": error.message}).encode()
            legacy = ("x-amzn-query-error", f"{error.code};Sender")
            return HttpResponse(400, body, (_CONTENT_TYPE, request_id, legacy))
        return HttpResponse(200, json.dumps(answer).encode(), (_CONTENT_TYPE, request_id))
