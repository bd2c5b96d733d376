"""Where a webhook leads, and what speaks against calling it, as far as its text tells.  Pure.

Used when a hook is made, and again before each call, which looks at the resolved addresses besides.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from hindsight_aws.model.address import is_public, literal

_PORTS: Final = {"https": 443, "http": 80}
_INSIDE: Final = ("localhost", "local", "internal", "home.arpa", "localdomain")
_ENDS_IN_A_NUMBER: Final = re.compile(r"(?:^|\.)(?:\d+|0[xX][0-9a-fA-F]*)$")
_NAME: Final = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")


@dataclass(frozen=True, slots=True)
class Destination:
    """The parts of an address that a request needs; `host` in lower case, without brackets or a final dot."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def host_header(self) -> str:
        """What the receiver is called in the request."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _PORTS[self.scheme] else f"{name}:{self.port}"


class Unfit(ValueError):
    """An address that may not be called; the message says why, for whoever gave it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the server allows besides public https: plain http, and hosts of its own network, by name or address."""

    allow_http: bool = False
    allowed_hosts: Collection[str] = ()

    def allows(self, host: str) -> bool:
        """Whether the host may be called wherever it leads."""
        return host in {allowed.lower().strip("[]").rstrip(".") for allowed in self.allowed_hosts}


def destination(url: str, rules: Rules) -> Destination:
    """Takes the address apart.  Raises: Unfit."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise Unfit("must be printable ASCII characters without spaces or backslashes")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise Unfit("is not a valid URL") from None
    if parts.scheme not in _PORTS:
        raise Unfit("must begin with https://")
    if not host:
        raise Unfit("must name a host")
    if parts.username is not None or parts.password is not None:
        raise Unfit("must hold no user name or password; send them in a header")
    if not rules.allows(host):
        if parts.scheme != "https" and not rules.allow_http:
            raise Unfit("must begin with https://")
        _refuse_inside(host)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return Destination(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, path)


def _refuse_inside(host: str) -> None:
    """Refuses what leads into a private network by its text alone."""
    address = literal(host)
    if address is not None:
        if not is_public(address):
            raise Unfit("must not lead to a private, local or reserved address")
        return
    if _ENDS_IN_A_NUMBER.search(host) or not _NAME.fullmatch(host):
        raise Unfit("must name its host by a domain name or a plain IP address")
    if "." not in host or host.endswith(tuple(f".{suffix}" for suffix in _INSIDE)):
        raise Unfit("must not lead to a host of a private network")
