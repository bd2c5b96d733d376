"""Erasure: a bank, or all that carries a tag, gone for good, with a receipt that says how much went and who asked.

Called by api/, jobs/ and cli/; calls ports/erasure.
"""

from hindsight_aws.erasure.carry import carry_on
from hindsight_aws.erasure.ports import ErasurePorts
from hindsight_aws.erasure.receipt import canonical, digest_of, document_of, statement_of
from hindsight_aws.erasure.request import BankErased, erase_bank, erase_tags, receipt, receipts

__all__ = [
    "BankErased",
    "ErasurePorts",
    "canonical",
    "carry_on",
    "digest_of",
    "document_of",
    "erase_bank",
    "erase_tags",
    "receipt",
    "receipts",
    "statement_of",
]
