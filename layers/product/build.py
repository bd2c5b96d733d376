"""Packs shared/hindsight_aws and the database's root certificates. Called when assets are built; needs no network."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

from layers.archive import Archive, pack
from layers.bytecode import compile_tree

CERTIFICATES: Final = "rds-ca.pem"
CERTIFICATES_AT: Final = f"/opt/{CERTIFICATES}"
"""Where a function finds the public roots of Amazon RDS (RSA2048 G1, one per region), for `sslmode=verify-full`."""

_MOUNTED_AT: Final = "/opt"


def build_product(root: Path, into: Path) -> Archive:
    """The layer's archive. Raises: BytecodeError."""
    with tempfile.TemporaryDirectory(prefix="hindsight-layer-") as scratch:
        folder = Path(scratch)
        shutil.copytree(
            root / "shared" / "hindsight_aws",
            folder / "python" / "hindsight_aws",
            ignore=shutil.ignore_patterns("__pycache__", "*.pyc", ".*"),
        )
        compile_tree(folder, _MOUNTED_AT)
        shutil.copyfile(Path(__file__).with_name(CERTIFICATES), folder / CERTIFICATES)
        return pack(folder, into / "product.zip")
