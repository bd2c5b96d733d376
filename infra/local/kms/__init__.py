"""KMS on this machine: one key, kept in the stack's folder, that signs digests; whatever else is asked is refused."""

from infra.local.kms.endpoint import KmsEndpoint
from infra.local.kms.key import KEY_ID, ReceiptKey

__all__ = ["KEY_ID", "KmsEndpoint", "ReceiptKey"]
