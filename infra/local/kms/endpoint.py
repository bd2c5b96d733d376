"""The loopback KMS endpoint: Sign and GetPublicKey of one key, in AWS's JSON protocol. Calls the key."""

import asyncio
import base64
import binascii
import json
from typing import Final

from infra.local.http import Endpoint, HttpRequest, HttpResponse
from infra.local.kms.key import KEY_ID, ReceiptKey

_CONTENT_TYPE: Final = ("content-type", "application/x-amz-json-1.1")
_MAX_BODY: Final = 64 * 1024
_DIGEST_BYTES: Final = 32
_ALGORITHM: Final = "ECDSA_SHA_256"
_ARN: Final = "arn:aws:kms:us-east-1:000000000000:key/hindsight-receipts"


class _Refused(Exception):
    """What KMS would not do; the message says why, `kind` is what clients tell errors by."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class KmsEndpoint(Endpoint):
    """Serves one key; credentials and signatures of requests are not looked at."""

    def __init__(self, key: ReceiptKey) -> None:
        self._key = key
        super().__init__(self._answer, max_body=_MAX_BODY)

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        action = (request.header("x-amz-target") or "").rpartition(".")[2]
        try:
            answer = await asyncio.to_thread(self._act, action, _document(request.body))
        except _Refused as refused:
            body = json.dumps({"__type": refused.kind, "message": str(refused)}).encode()
            return HttpResponse(400, body, (_CONTENT_TYPE,))
        return HttpResponse(200, json.dumps(answer).encode(), (_CONTENT_TYPE,))

    def _act(self, action: str, asked: dict[str, object]) -> dict[str, object]:
        if asked.get("KeyId") not in (KEY_ID, _ARN):
            raise _Refused("NotFoundException", f"There is no key {asked.get('KeyId')!r} here.")
        if action == "GetPublicKey":
            public = base64.b64encode(self._key.public()).decode()
            return {"KeyId": _ARN, "PublicKey": public, "KeySpec": "ECC_NIST_P256", "KeyUsage": "SIGN_VERIFY"}
        if action != "Sign":
            raise _Refused("UnsupportedOperationException", f"The local KMS endpoint does not implement {action}.")
        if asked.get("MessageType") != "DIGEST" or asked.get("SigningAlgorithm") != _ALGORITHM:
            raise _Refused("ValidationException", f"This key signs digests by {_ALGORITHM} alone.")
        signature = base64.b64encode(self._key.sign(_digest(asked.get("Message")))).decode()
        return {"KeyId": _ARN, "Signature": signature, "SigningAlgorithm": _ALGORITHM}


def _document(body: bytes) -> dict[str, object]:
    try:
        asked = json.loads(body)
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        raise _Refused("SerializationException", "The request is no JSON object.")
    return asked


def _digest(message: object) -> bytes:
    try:
        digest = base64.b64decode(message, validate=True) if isinstance(message, str) else b""
    except binascii.Error:
        digest = b""
    if len(digest) != _DIGEST_BYTES:
        raise _Refused("ValidationException", "Message must be a SHA-256 digest.")
    return digest
