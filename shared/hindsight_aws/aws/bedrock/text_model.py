"""`TextModel` over Converse: one request, one usage record, one typed outcome.

Joined to the use cases by `runtime`; calls `converse`, `replies`, `failures` and boto3.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

from hindsight_aws.aws.bedrock.capabilities import capability_of
from hindsight_aws.aws.bedrock.clients import BedrockClients
from hindsight_aws.aws.bedrock.converse import converse_request
from hindsight_aws.aws.bedrock.failures import WIRE_FAULTS, failure_of, status_of
from hindsight_aws.aws.bedrock.replies import read_reply, tokens_of
from hindsight_aws.errors import ModelError
from hindsight_aws.ports.model_gateway import (
    CallStatus,
    JsonObject,
    ModelCall,
    ModelReply,
    ModelUsage,
    TokenUsage,
    UsageSink,
)
from hindsight_aws.usage.prices import usd_for

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient


class BedrockTextModel:
    """Keeps `ports.model_gateway.TextModel`. `strict` asks for enforced tool schemas where the model has them."""

    def __init__(self, clients: BedrockClients, *, strict: bool = False) -> None:
        self._clients = clients
        self._strict = strict

    def ask(self, call: ModelCall, usage: UsageSink) -> ModelReply:
        request = converse_request(call, capability_of(call.model), strict=self._strict)
        request["modelId"] = self._clients.address(call.model)
        started = time.perf_counter()

        def record(status: CallStatus, tokens: TokenUsage) -> float:
            took = (time.perf_counter() - started) * 1000
            usd = usd_for(call.model, tokens)
            usage(ModelUsage(call.task, call.prompt, call.model, status, tokens, usd, took))
            return took

        try:
            response = _converse(self._clients.runtime, request)
        except WIRE_FAULTS as fault:
            failure = failure_of(fault)
            record(status_of(failure), TokenUsage())
            raise failure from None
        tokens = tokens_of(response)
        try:
            uses, text, stop = read_reply(response, call)
        except ModelError as failure:
            record(status_of(failure), tokens)
            raise
        return ModelReply(uses, text, stop, tokens, record("ok", tokens), call.model)


def _converse(client: BedrockRuntimeClient, request: JsonObject) -> JsonObject:
    """The call itself; the request is built for Converse elsewhere, so its many typed dictionaries are not repeated."""
    return cast(JsonObject, client.converse(**cast(Any, request)))
