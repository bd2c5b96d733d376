"""What a fault of the wire becomes, and that its message repeats nothing of the request."""

from __future__ import annotations

import traceback

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from hindsight_aws.aws.bedrock import BedrockClients, BedrockTextModel
from hindsight_aws.aws.bedrock.failures import failure_of
from hindsight_aws.errors import (
    HindsightError,
    ModelDenied,
    ModelInputTooLong,
    ModelRefused,
    ModelThrottled,
    ModelUnavailable,
)
from hindsight_aws.ports.model_gateway import ModelCall

MEMORY = "Penelope is tired"


def refusal(code: str, text: str, status: int = 400) -> ClientError:
    return ClientError(
        {
            "Error": {"Code": code, "Message": text},
            "ResponseMetadata": {
                "HTTPStatusCode": status, "RequestId": "r-1", "HTTPHeaders": {}, "RetryAttempts": 0, "HostId": "",
            },
        },
        "Converse",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        (ParamValidationError(report=f"Invalid type, value: {MEMORY}"), ModelDenied,
         "the model call could not be made: ParamValidationError"),
        (refusal("ValidationException", f"Malformed input: '{MEMORY}' does not match"), ModelDenied,
         "ValidationException (request r-1)"),
        (refusal("ValidationException", f"Input is too long: {MEMORY}"), ModelInputTooLong,
         "ValidationException: the input is too long for the model (request r-1)"),
        (refusal("ValidationException", f"blocked by content filtering policy: {MEMORY}"), ModelRefused,
         "ValidationException: the content is not allowed (request r-1)"),
        (refusal("ValidationException", "The provided model identifier is invalid."), ModelDenied,
         "ValidationException: the model id is not known in this region (request r-1)"),
        (refusal("ModelErrorException", f"the model choked on {MEMORY}", 424), ModelUnavailable,
         "ModelErrorException (request r-1)"),
        (refusal("ThrottlingException", f"Too many tokens: {MEMORY}", 429), ModelThrottled,
         "ThrottlingException: the input is too long for the model (request r-1)"),
    ],
)  # fmt: skip
def test_a_fault_is_named_and_never_quotes_the_request(
    fault: BaseException, kind: type[HindsightError], message: str
) -> None:
    failure = failure_of(fault)

    assert type(failure) is kind
    assert str(failure) == message


def test_a_call_the_client_library_refuses_leaves_no_text_in_its_traceback() -> None:
    call = ModelCall(
        task="t", prompt="p@1", model="m", system="s", blocks=({MEMORY: 1},), max_tokens=10, tenant="t", bank="b",  # type: ignore[arg-type]  # the point of the test
    )  # fmt: skip
    clients = BedrockClients("eu-central-1")

    with pytest.raises(ModelDenied) as caught:
        BedrockTextModel(clients).ask(call, lambda _usage: None)
    clients.close()

    assert MEMORY not in "".join(traceback.format_exception(caught.value))
