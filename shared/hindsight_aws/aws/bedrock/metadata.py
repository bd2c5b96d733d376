"""Encodes any text into the characters Bedrock allows in request metadata.

Called by `converse`; calls nothing. Values show up in invocation logs, where cost is told apart by tenant and bank.
"""

from __future__ import annotations

import hashlib
import re

_LIMIT = 256
_DIGEST = 16
_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9:_@$#/+,.\-]")


def encode_value(text: str) -> str:
    """`text` with every byte outside `a-zA-Z0-9:_@$#/+,.-` written `=XX`, in UTF-8; at most 256 characters.

    Two texts never share an encoding: one that is too long keeps its beginning and ends in `=#` and a digest, which no
    encoded byte can look like.
    """
    whole = _NOT_ALLOWED.sub(lambda match: _bytes(match[0]), text)
    if len(whole) <= _LIMIT:
        return whole
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    kept = whole[: _LIMIT - _DIGEST - 2]
    kept = re.sub(r"=[0-9A-F]?$", "", kept)
    return f"{kept}=#{digest}"


def _bytes(character: str) -> str:
    return "".join(f"={byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
