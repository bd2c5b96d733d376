"""Signatures by a key in KMS: the digest goes there, the private key never comes here.  Made by runtime.py.

Honours AWS_ENDPOINT_URL_KMS.
"""

from __future__ import annotations

import base64
from functools import cached_property
from typing import Final, Protocol, TypedDict, cast

from hindsight_aws.errors import SignerUnavailable
from hindsight_aws.model.erasure import Signature
from hindsight_aws.settings import Settings

_ALGORITHM: Final = "ECDSA_SHA_256"
_CONNECT_S: Final = 3
_READ_S: Final = 10


class _Signed(TypedDict):
    KeyId: str
    Signature: bytes


class _Kms(Protocol):
    """What of boto3's client is called."""

    def sign(self, *, KeyId: str, Message: bytes, MessageType: str, SigningAlgorithm: str) -> _Signed:  # noqa: N803 - boto3's names
        ...


class KmsSigner:
    """Signer over one KMS key."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def sign(self, digest: bytes) -> Signature:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._client.sign(
                KeyId=self._settings.hindsight_receipt_key,
                Message=digest,
                MessageType="DIGEST",
                SigningAlgorithm=_ALGORITHM,
            )
        except (BotoCoreError, ClientError) as failed:
            raise SignerUnavailable("KMS did not sign the receipt") from failed
        return Signature(answer["KeyId"], _ALGORITHM, base64.b64encode(answer["Signature"]).decode("ascii"))

    @cached_property
    def _client(self) -> _Kms:
        import boto3
        from botocore.config import Config

        config = Config(retries={"total_max_attempts": 1}, connect_timeout=_CONNECT_S, read_timeout=_READ_S)
        return cast(_Kms, boto3.session.Session().client("kms", region_name=self._settings.aws_region, config=config))
