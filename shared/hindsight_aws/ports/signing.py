"""Who vouches for receipts: a key that signs and never leaves its place."""

from __future__ import annotations

from typing import Protocol

from hindsight_aws.model.erasure import Signature


class Signer(Protocol):
    """One key of an asymmetric pair."""

    def sign(self, digest: bytes) -> Signature:
        """The signature of a SHA-256 digest.  Raises: SignerUnavailable, which may pass."""
        ...
