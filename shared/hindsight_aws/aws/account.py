"""What an AWS account offers to the models, quotas, buckets and keys that a deployment stands on.  Asked by `doctor`.

Only reads.  Whatever the caller may not ask, or cannot reach from where it runs, is NotKnown: never a crash, and never
taken for an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from hindsight_aws.errors import HindsightError

_CONNECT_S: Final = 3
_READ_S: Final = 10
_ABSENT: Final = frozenset(
    {"404", "NoSuchBucket", "NoSuchPublicAccessBlockConfiguration", "NotFoundException", "ResourceNotFoundException",
     "NoSuchResourceException", "ValidationException"}
)  # fmt: skip
_PAGES: Final = 60
"""Bedrock has more than a thousand quotas, a hundred a page."""


class NotKnown(HindsightError):
    """The account did not say: no credentials, no permission, or no way to the service; the message says which."""


@dataclass(frozen=True, slots=True)
class ModelStanding:
    """How a model stands in an account and region; `obstacles` are what keeps it from being called, in words."""

    obstacles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BucketStanding:
    """A bucket that is there."""

    is_closed: bool
    """Whether it refuses to be made public, in each of the four ways."""


@dataclass(frozen=True, slots=True)
class KeyStanding:
    """A key of KMS: `state` is Enabled where it can be used, `spec` its kind."""

    state: str
    usage: str
    spec: str


class AwsAccount:
    """Questions to one account in one region.  Every method may raise NotKnown."""

    def __init__(self, region: str, client: Callable[[str], Any] | None = None) -> None:
        self._region = region
        self._make = client or self._boto3
        self._clients: dict[str, Any] = {}
        self._unreachable: dict[str, str] = {}

    def model(self, model_id: str, *, by_profile: bool = False) -> ModelStanding | None:
        """How a foundation model stands; None if this region has none of that id.

        A model that is called through a profile need not be offered in the region itself.
        """
        answer = self._ask("bedrock", "get_foundation_model_availability", modelId=model_id)
        if answer is None:
            return None
        wanted = {
            "the account has no access to it": answer.get("authorizationStatus") == "AUTHORIZED",
            "its terms are not agreed to": answer.get("agreementAvailability", {}).get("status") == "AVAILABLE",
            "the account is not entitled to it": answer.get("entitlementAvailability") == "AVAILABLE",
            "this region does not offer it": by_profile or answer.get("regionAvailability") == "AVAILABLE",
        }
        return ModelStanding(tuple(words for words, holds in wanted.items() if not holds))

    def is_legacy(self, model_id: str) -> tuple[bool, datetime | None]:
        """Whether a foundation model is to go, and when it ends, where that is known."""
        answer = self._ask("bedrock", "get_foundation_model", modelIdentifier=model_id) or {}
        life = answer.get("modelDetails", {}).get("modelLifecycle", {})
        return life.get("status") == "LEGACY", life.get("endOfLifeTime")

    def profile_models(self, profile_id: str) -> tuple[str, ...] | None:
        """ARNs of the models that an inference profile reaches; None if this region has none of that id."""
        answer = self._ask("bedrock", "get_inference_profile", inferenceProfileIdentifier=profile_id)
        return None if answer is None else tuple(str(model["modelArn"]) for model in answer["models"])

    def quota(self, service: str, code: str) -> float | None:
        """The account's value of one quota; None if Service Quotas knows none of that code."""
        answer = self._ask("service-quotas", "get_service_quota", ServiceCode=service, QuotaCode=code)
        return None if answer is None else float(answer["Quota"]["Value"])

    def quotas(self, service: str) -> Mapping[str, float]:
        """Every quota of a service that is applied to this account, by name."""
        found: dict[str, float] = {}
        page: dict[str, object] = {}
        for _ in range(_PAGES):
            answer = self._ask("service-quotas", "list_service_quotas", ServiceCode=service, MaxResults=100, **page)
            found |= {str(quota["QuotaName"]): float(quota["Value"]) for quota in (answer or {}).get("Quotas", ())}
            if not answer or "NextToken" not in answer:
                break
            page = {"NextToken": answer["NextToken"]}
        return found

    def bucket(self, name: str) -> BucketStanding | None:
        """A bucket; None if there is none of that name."""
        if self._ask("s3", "head_bucket", Bucket=name) is None:
            return None
        answer = self._ask("s3", "get_public_access_block", Bucket=name)
        return BucketStanding(answer is not None and all(answer["PublicAccessBlockConfiguration"].values()))

    def key(self, key: str) -> KeyStanding | None:
        """A key of KMS by id, ARN or alias; None if there is none."""
        answer = self._ask("kms", "describe_key", KeyId=key)
        if answer is None:
            return None
        held = answer["KeyMetadata"]
        return KeyStanding(str(held["KeyState"]), str(held["KeyUsage"]), str(held.get("KeySpec", "")))

    def who_and_when(self) -> tuple[str, datetime | None]:
        """The account's number, and the time at which AWS answered."""
        answer = self._ask("sts", "get_caller_identity") or {}
        date = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
        return str(answer.get("Account", "")), parsedate_to_datetime(date) if date else None

    def variables(self, function: str) -> Mapping[str, str] | None:
        """The environment variables of a Lambda function; None if there is none of that name."""
        answer = self._ask("lambda", "get_function_configuration", FunctionName=function)
        if answer is None:
            return None
        return {str(name): str(value) for name, value in answer.get("Environment", {}).get("Variables", {}).items()}

    def _ask(self, service: str, call: str, **arguments: object) -> Any:
        """What the service answers; None where it says that there is no such thing."""
        from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, NoCredentialsError
        from botocore.exceptions import ConnectionError as NoConnection

        if service in self._unreachable:
            raise NotKnown(self._unreachable[service])
        try:
            if service not in self._clients:
                self._clients[service] = self._make(service)
            return getattr(self._clients[service], call)(**arguments)
        except ClientError as refused:
            code = str(refused.response.get("Error", {}).get("Code", ""))
            if code in _ABSENT:
                return None
            raise NotKnown(f"{_permission(service, call)} was refused ({code})") from refused
        except NoCredentialsError:
            sentence = "there are no credentials of an AWS account here"
        except (HTTPClientError, NoConnection) as unreachable:
            sentence = f"{service} cannot be reached from here ({type(unreachable).__name__})"
        except BotoCoreError as wrong:
            raise NotKnown(f"{_permission(service, call)} could not be asked: {wrong}") from wrong
        # Asked once: each attempt would wait for the same timeout again.
        self._unreachable[service] = sentence
        raise NotKnown(sentence)

    def _boto3(self, service: str) -> Any:
        import boto3
        from botocore.config import Config

        config = Config(connect_timeout=_CONNECT_S, read_timeout=_READ_S, retries={"total_max_attempts": 1})
        session: Any = boto3.session.Session()  # its types know services by literal names alone
        return session.client(service, region_name=self._region, config=config)


def _permission(service: str, call: str) -> str:
    """A call as IAM names it, nearly: `bedrock:GetInferenceProfile`."""
    words = "".join(word.capitalize() for word in call.split("_"))
    return f"{service.replace('-', '')}:{re.sub('^HeadBucket$', 'ListBucket', words)}"
