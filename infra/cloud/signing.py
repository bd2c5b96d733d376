"""The key that signs receipts of erasures: asymmetric, its private half stays in KMS. Made by the stateful stack.

Verifying needs the public half alone, which `hindsight-aws erasure public-key` prints.
"""

from typing import Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.topology import RECEIPT_KEY_SETTING, Function, Topology

_ALGORITHM: Final = "ECDSA_SHA_256"


class Signing(Construct):
    """The key, and what a function that signs needs to use it."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        self._key = kms.Key(
            self,
            "Receipts",
            description="hindsight-aws receipts of erasures",
            key_spec=kms.KeySpec.ECC_NIST_P256,
            key_usage=kms.KeyUsage.SIGN_VERIFY,
            removal_policy=RemovalPolicy.RETAIN,
        )

    def statements(self, function: Function) -> list[iam.PolicyStatement]:
        """Permission to sign by this key in the one way that receipts are signed, where the table says so."""
        if not function.signs:
            return []
        return [
            iam.PolicyStatement(
                actions=["kms:Sign"],
                resources=[self._key.key_arn],
                conditions={"StringEquals": {"kms:SigningAlgorithm": _ALGORITHM, "kms:MessageType": "DIGEST"}},
            )
        ]

    def variables(self, function: Function) -> dict[str, str]:
        """The setting that names the key to a function that signs."""
        return {RECEIPT_KEY_SETTING: self._key.key_arn} if function.signs else {}


def signing_of(scope: Construct, topology: Topology) -> Signing | None:
    """The key where a function of the table signs, or None."""
    return Signing(scope, "Signing") if any(function.signs for function in topology.functions) else None
