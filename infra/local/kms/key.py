"""The key that signs receipts on this machine: made when it is first wanted, kept as files. Called by the endpoint."""

from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

KEY_ID: Final = "alias/hindsight-receipts"
_PRIVATE: Final = "receipts.pem"
_PUBLIC: Final = "receipts.pub.pem"


class ReceiptKey:
    """An ECC_NIST_P256 key in a folder; its public half lies beside it, for whoever verifies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key: ec.EllipticCurvePrivateKey | None = None

    @property
    def public_file(self) -> Path:
        """Where the public half is, as PEM."""
        return self._folder / _PUBLIC

    def sign(self, digest: bytes) -> bytes:
        """The signature of a SHA-256 digest, DER-encoded as KMS gives it."""
        return self._loaded().sign(digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))

    def public(self) -> bytes:
        """The public half as DER."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self._loaded().public_key().public_bytes(serialization.Encoding.DER, form)

    def _loaded(self) -> ec.EllipticCurvePrivateKey:
        if self._key is None:
            self._key = self._read() or self._make()
        return self._key

    def _read(self) -> ec.EllipticCurvePrivateKey | None:
        try:
            pem = (self._folder / _PRIVATE).read_bytes()
        except FileNotFoundError:
            return None
        key = serialization.load_pem_private_key(pem, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{self._folder / _PRIVATE} holds no key of this kind")
        return key

    def _make(self) -> ec.EllipticCurvePrivateKey:
        key = ec.generate_private_key(ec.SECP256R1())
        self._folder.mkdir(parents=True, exist_ok=True)
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        self.public_file.write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM, form))
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        # Whole or not there: a stack that is killed while it writes must not leave half a key.
        unfinished = self._folder / f"{_PRIVATE}.new"
        unfinished.touch(mode=0o600)
        unfinished.write_bytes(pem)
        unfinished.replace(self._folder / _PRIVATE)
        return key
