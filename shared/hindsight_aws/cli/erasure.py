"""`erasure`: receipts verified offline, and the public key that this takes.  Calls erasure/ and, for the key, KMS."""

from __future__ import annotations

import base64
import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hindsight_aws.cli.command import Answer, Exit, add, group
from hindsight_aws.errors import InvalidRequest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    from hindsight_aws.cli.command import Commands

_ALGORITHM: Final = "ECDSA_SHA_256"


def register(commands: Commands) -> None:
    """Adds the noun and its actions."""
    actions = group(commands, "erasure", "verify receipts of what was erased")
    verified = add(
        actions, "verify", verify, "whether a receipt is what was signed, asking nobody", needs_database=False
    )
    verified.add_argument("file", help="the receipt as the API gave it, or - for stdin")
    verified.add_argument("--public-key", type=Path, required=True, metavar="PEM", help="the signing key's public half")
    printed = add(actions, "public-key", public_key, "print the signing key's public half as PEM", needs_database=False)
    printed.add_argument("--key", default="", metavar="ID", help="the KMS key; default: HINDSIGHT_RECEIPT_KEY")


def verify(chosen: Namespace) -> Answer:
    """Compares the statement with its digest, and the digest with the signature."""
    receipt = _receipt(_text_of(chosen.file))
    problem = _problem(receipt, _key(chosen.public_key))
    statement = receipt.get("statement")
    told = statement if isinstance(statement, dict) else {}
    document = {"receipt": told.get("receipt"), "valid": problem is None, "problem": problem}
    if problem is not None:
        return Answer([f"NOT VALID: {problem}"], document, Exit.REFUSED)
    bank, erased = told.get("bank"), told.get("erased")
    rows = sum(erased.values()) if isinstance(erased, dict) else 0
    name = bank.get("id") if isinstance(bank, dict) else None
    lines = [f"valid: receipt {told.get('receipt')}", f"bank {name}, {rows} rows, ended {told.get('ended_at')}"]
    return Answer(lines, document)


def public_key(chosen: Namespace) -> Answer:
    """Fetches the public half with the caller's own AWS credentials."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from hindsight_aws.settings import load_settings

    settings = load_settings()
    key_id = chosen.key or settings.hindsight_receipt_key
    if not key_id:
        raise InvalidRequest("name the key: --key, or HINDSIGHT_RECEIPT_KEY")
    try:
        found = boto3.session.Session().client("kms", region_name=settings.aws_region).get_public_key(KeyId=key_id)
    except (BotoCoreError, ClientError) as failed:
        raise InvalidRequest(f"KMS gave no public key of {key_id}: {failed}") from None
    encoded = base64.encodebytes(found["PublicKey"]).decode("ascii").replace("\n", "")
    body = [encoded[start : start + 64] for start in range(0, len(encoded), 64)]
    lines = ["-----BEGIN PUBLIC KEY-----", *body, "-----END PUBLIC KEY-----"]
    return Answer(lines, {"key_id": found["KeyId"], "pem": "\n".join(lines) + "\n"})


def _text_of(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as failed:
        raise InvalidRequest(f"{file} cannot be read: {failed}") from None


def _receipt(text: str) -> dict[str, object]:
    try:
        receipt = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise InvalidRequest(f"the receipt is no JSON: {wrong}") from None
    if not isinstance(receipt, dict):
        raise InvalidRequest("the receipt is no JSON object")
    return receipt


def _problem(receipt: dict[str, object], key: EllipticCurvePublicKey) -> str | None:
    """Why the receipt is not what was signed, or None."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    from hindsight_aws.erasure.receipt import digest_of

    statement, signature = receipt.get("statement"), receipt.get("signature")
    if not isinstance(statement, dict):
        return "it has no statement"
    if not isinstance(signature, dict):
        return f"it is not signed yet (state: {receipt.get('state')})"
    digest = digest_of(statement)
    if receipt.get("digest") != digest:
        return "its statement is not what its digest was made of"
    if signature.get("algorithm") != _ALGORITHM:
        return f"it is signed in a way that is not known: {signature.get('algorithm')}"
    try:
        value = base64.b64decode(str(signature.get("value")), validate=True)
        key.verify(value, bytes.fromhex(digest), ec.ECDSA(utils.Prehashed(hashes.SHA256())))
    except (InvalidSignature, ValueError):
        return "its signature is not this key's"
    return None


def _key(file: Path) -> EllipticCurvePublicKey:
    try:
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError:
        raise InvalidRequest("verifying needs the package cryptography") from None
    try:
        key = load_pem_public_key(file.read_bytes())
    except (OSError, ValueError) as failed:
        raise InvalidRequest(f"{file} holds no public key: {failed}") from None
    if not isinstance(key, EllipticCurvePublicKey):
        raise InvalidRequest(f"{file} holds no key of this kind")
    return key
