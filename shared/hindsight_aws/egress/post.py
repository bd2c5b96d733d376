"""Makes one HTTP request to a receiver that a stranger named, and to no address that is not public.

Made by runtime.py.  Calls the operating system alone: no proxy, no redirect, no second look at a name.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from typing import Final

from hindsight_aws.model.address import Address, is_public
from hindsight_aws.model.destination import Destination, Rules, Unfit, destination
from hindsight_aws.model.webhook import Order, Receipt

Resolve = Callable[[str, int], Sequence[Address]]
_LEAST_S: Final = 0.1
_LONGEST_ERROR: Final = 200


def resolve(host: str, port: int) -> Sequence[Address]:
    """The addresses of a name, as the operating system has them.  Raises: OSError; UnicodeError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [ip_address(str(entry[4][0])) for entry in found]


class GuardedOutbound:
    """Outbound by the rules it is made with."""

    def __init__(self, rules: Rules, find: Resolve = resolve) -> None:
        self._rules = rules
        self._find = find

    def post(self, order: Order) -> Receipt:
        deadline = time.monotonic() + order.http.timeout_seconds
        try:
            where = destination(order.url, self._rules)
            addresses = self._addresses(where)
            return Receipt(_ask(where, addresses, order, deadline))
        except Unfit as unfit:
            return Receipt(None, f"not sent: the URL {unfit}")
        except TimeoutError:
            return Receipt(None, "timed out")
        except (OSError, HTTPException, ValueError) as error:
            if time.monotonic() >= deadline:
                return Receipt(None, "timed out")
            return Receipt(None, f"{type(error).__name__}: {error}"[:_LONGEST_ERROR])

    def _addresses(self, where: Destination) -> Sequence[Address]:
        """Where the name leads, asked once.  Raises: Unfit when any of it is not public; OSError."""
        addresses = self._find(where.host, where.port)
        if not self._rules.allows(where.host) and not all(is_public(address) for address in addresses):
            raise Unfit("leads to a private, local or reserved address")
        return addresses


def _ask(where: Destination, addresses: Sequence[Address], order: Order, deadline: float) -> int:
    """The status that the receiver answers.  Only what comes before the body is read.

    Raises: TimeoutError; OSError; HTTPException.
    """
    connected = _connect(where, addresses, deadline)
    # A receiver that answers a byte at a time would never meet the socket's own timeout.
    alarm = threading.Timer(_left(deadline), _shut, [connected])
    alarm.daemon = True
    alarm.start()
    try:
        if isinstance(connected, ssl.SSLSocket):
            connected.do_handshake()
        connection = HTTPConnection(where.host, where.port)
        connection.sock = connected
        headers = {**order.headers, "Host": where.host_header, "Connection": "close"}
        connection.request(order.http.method, where.target, order.body.encode(), headers)
        status = connection.getresponse().status
        if time.monotonic() >= deadline:
            raise TimeoutError("the receiver was cut off")
        return status
    finally:
        alarm.cancel()
        connected.close()


def _connect(where: Destination, addresses: Sequence[Address], deadline: float) -> socket.socket:
    """A connection to one of these very addresses.  Raises: OSError when none can be reached."""
    failed: OSError = OSError("the name has no address")
    for address in addresses:
        try:
            plain = socket.create_connection((str(address), where.port), _left(deadline))
        except OSError as error:
            failed = error
            continue
        if where.scheme == "http":
            return plain
        trust = ssl.create_default_context()
        return trust.wrap_socket(plain, server_hostname=where.host, do_handshake_on_connect=False)
    raise failed


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), _LEAST_S)


def _shut(connected: socket.socket) -> None:
    # Not the method of a TLS socket, which forgets its session under the hands of whoever reads.
    with suppress(OSError):
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
