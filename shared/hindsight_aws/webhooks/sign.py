"""Signs deliveries: how a receiver knows that a body is ours, and of when.  Pure."""

from __future__ import annotations

import hashlib
import hmac


def signatures(secret: str, body: str, at: int) -> dict[str, str]:
    """The headers that prove a body to whoever has the secret: HMAC-SHA256, in hexadecimal.

    One signs the body alone, under the two names that receivers look for; one signs `<at>.<body>` too, so that what
    was overheard cannot be sent again later.  `at` is in seconds since 1970.
    """
    plain = f"sha256={_mac(secret, body)}"
    return {
        "X-Hindsight-Signature": plain,
        "X-Hub-Signature-256": plain,
        "X-Hindsight-Signature-V2": f"t={at},v1={_mac(secret, f'{at}.{body}')}",
    }


def _mac(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
