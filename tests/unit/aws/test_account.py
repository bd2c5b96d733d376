"""What an account is asked for `doctor`, in the shapes that botocore knows, and that a refusal is no answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError, NoCredentialsError
from botocore.stub import Stubber

from hindsight_aws.aws.account import AwsAccount, BucketStanding, KeyStanding, ModelStanding, NotKnown

_MODEL = "anthropic.claude-haiku-4-5-20251001-v1:0"
_PROFILE = f"us.{_MODEL}"
_AVAILABLE = {
    "modelId": _MODEL,
    "agreementAvailability": {"status": "AVAILABLE"},
    "authorizationStatus": "AUTHORIZED",
    "entitlementAvailability": "AVAILABLE",
    "regionAvailability": "AVAILABLE",
}


@pytest.fixture(scope="module")
def clients() -> dict[str, Any]:
    """Made once: each reads its service's model from disk."""
    session: Any = boto3.session.Session()
    services = ("bedrock", "service-quotas", "s3", "kms", "sts", "lambda")
    return {service: session.client(service, region_name="us-east-1") for service in services}


@pytest.fixture
def stubs(clients: dict[str, Any]) -> Iterator[dict[str, Stubber]]:
    with ExitStack() as stack:
        yield {service: stack.enter_context(Stubber(client)) for service, client in clients.items()}


@pytest.fixture
def account(clients: dict[str, Any]) -> AwsAccount:
    return AwsAccount("us-east-1", clients.__getitem__)


def test_what_keeps_a_model_from_being_called_is_said_in_words(account: AwsAccount, stubs: dict[str, Stubber]) -> None:
    for changes in ({}, {"authorizationStatus": "NOT_AUTHORIZED"}, {"regionAvailability": "NOT_AVAILABLE"}):
        stubs["bedrock"].add_response("get_foundation_model_availability", _AVAILABLE | changes, {"modelId": _MODEL})
    stubs["bedrock"].add_client_error("get_foundation_model_availability", "ResourceNotFoundException")

    assert account.model(_MODEL) == ModelStanding(())
    assert account.model(_MODEL) == ModelStanding(("the account has no access to it",))
    assert account.model(_MODEL, by_profile=True) == ModelStanding(())
    assert account.model(_MODEL) is None


def test_a_model_that_is_to_go_says_when(account: AwsAccount, stubs: dict[str, Stubber]) -> None:
    ends_at = datetime(2026, 11, 30, tzinfo=UTC)
    details = {"modelArn": f"arn:aws:bedrock:us-east-1::foundation-model/{_MODEL}", "modelId": _MODEL}
    for life in ({"status": "LEGACY", "endOfLifeTime": ends_at}, {"status": "ACTIVE"}):
        stubs["bedrock"].add_response("get_foundation_model", {"modelDetails": details | {"modelLifecycle": life}})

    assert account.is_legacy(_MODEL) == (True, ends_at)
    assert account.is_legacy(_MODEL) == (False, None)


def test_a_profile_is_its_models_in_their_regions(account: AwsAccount, stubs: dict[str, Stubber]) -> None:
    arn = f"arn:aws:bedrock:us-west-2::foundation-model/{_MODEL}"
    stubs["bedrock"].add_response(
        "get_inference_profile",
        {
            "inferenceProfileName": "x", "inferenceProfileArn": "arn:aws:bedrock:us-east-1:1:inference-profile/x",
            "models": [{"modelArn": arn}], "inferenceProfileId": _PROFILE, "status": "ACTIVE", "type": "SYSTEM_DEFINED",
        },
        {"inferenceProfileIdentifier": _PROFILE},
    )  # fmt: skip

    assert account.profile_models(_PROFILE) == (arn,)


def test_quotas_are_read_page_by_page(account: AwsAccount, stubs: dict[str, Stubber]) -> None:
    first = {"Quotas": [{"QuotaName": "a", "Value": 1.0}], "NextToken": "more"}
    stubs["service-quotas"].add_response("list_service_quotas", first, {"ServiceCode": "bedrock", "MaxResults": 100})
    stubs["service-quotas"].add_response(
        "list_service_quotas",
        {"Quotas": [{"QuotaName": "b", "Value": 0.0}]},
        {"ServiceCode": "bedrock", "MaxResults": 100, "NextToken": "more"},
    )
    stubs["service-quotas"].add_response(
        "get_service_quota", {"Quota": {"Value": 10.0}}, {"ServiceCode": "lambda", "QuotaCode": "L-1"}
    )
    stubs["service-quotas"].add_client_error("get_service_quota", "NoSuchResourceException")

    assert account.quotas("bedrock") == {"a": 1.0, "b": 0.0}
    assert account.quota("lambda", "L-1") == 10
    assert account.quota("lambda", "L-2") is None


def test_a_bucket_is_closed_when_all_four_blocks_are_on(account: AwsAccount, stubs: dict[str, Stubber]) -> None:
    blocks = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    for blocked in (dict.fromkeys(blocks, True), dict.fromkeys(blocks, True) | {"BlockPublicPolicy": False}):
        stubs["s3"].add_response("head_bucket", {})
        stubs["s3"].add_response("get_public_access_block", {"PublicAccessBlockConfiguration": blocked})
    stubs["s3"].add_client_error("head_bucket", "404", http_status_code=404)

    assert [account.bucket("b") for _ in range(3)] == [BucketStanding(True), BucketStanding(False), None]


def test_key_caller_and_function_are_read(account: AwsAccount, stubs: dict[str, Stubber]) -> None:
    stubs["kms"].add_response(
        "describe_key",
        {"KeyMetadata": {"KeyId": "k", "KeyState": "Enabled", "KeyUsage": "SIGN_VERIFY", "KeySpec": "ECC_NIST_P256"}},
    )
    stubs["sts"].add_response("get_caller_identity", {"Account": "123456789012"})
    stubs["lambda"].add_response(
        "get_function_configuration", {"Environment": {"Variables": {"HINDSIGHT_BUCKET": "b"}}}
    )
    stubs["lambda"].add_client_error("get_function_configuration", "ResourceNotFoundException")

    assert account.key("k") == KeyStanding("Enabled", "SIGN_VERIFY", "ECC_NIST_P256")
    assert account.who_and_when() == ("123456789012", None)
    assert account.variables("sweep") == {"HINDSIGHT_BUCKET": "b"}
    assert account.variables("other") is None


def test_a_call_that_is_not_permitted_is_named_as_iam_names_it(account: AwsAccount, stubs: dict[str, Stubber]) -> None:
    stubs["bedrock"].add_client_error("get_inference_profile", "AccessDeniedException")
    stubs["s3"].add_client_error("head_bucket", "403", http_status_code=403)

    with pytest.raises(NotKnown, match=r"bedrock:GetInferenceProfile was refused \(AccessDeniedException\)"):
        account.profile_models(_PROFILE)
    with pytest.raises(NotKnown, match=r"s3:ListBucket was refused \(403\)"):
        account.bucket("b")


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (NoCredentialsError(), "no credentials"),
        (ConnectTimeoutError(endpoint_url="https://kms"), "kms cannot be reached from here"),
    ],
    ids=["no-credentials", "no-way"],
)
def test_a_service_that_cannot_be_asked_is_asked_once(fault: Exception, sentence: str) -> None:
    asked: list[str] = []

    class Client:
        def describe_key(self, KeyId: str) -> None:  # noqa: N803 - boto3's name
            asked.append(KeyId)
            raise fault

    account = AwsAccount("us-east-1", lambda _: Client())

    for key in ("a", "b"):
        with pytest.raises(NotKnown, match=sentence):
            account.key(key)
    assert asked == ["a"]
