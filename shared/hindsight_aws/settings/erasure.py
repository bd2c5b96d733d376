"""How erasures are vouched for.  Part of Settings."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class ErasureSettings(BaseSettings):
    """How erasures are vouched for."""

    hindsight_receipt_key: str = Field(
        "",
        description="Id, ARN or alias of the KMS key (ECC_NIST_P256, SIGN_VERIFY) that signs the receipts of erasures; "
        "without it they stay unsigned.",
    )
