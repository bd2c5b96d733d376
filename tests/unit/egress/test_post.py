"""The way out leads to the public address that was looked at, or nowhere."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from uuid import UUID

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hindsight_aws.egress import GuardedOutbound, post
from hindsight_aws.model.address import Address
from hindsight_aws.model.destination import Rules
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.webhook import Attempt, HttpConfig, Order
from tests.support.receiver import receiving

ID = UUID(int=7)
ORDER = Order(
    Attempt(TenantId(ID), BankId(ID), ID, 1), "https://example.com/h", HttpConfig(), {"X-A": "b"}, '{"a":1}', 0.0
)
LOOPBACK = Rules(allowed_hosts=("127.0.0.1",))


class Names:
    """Names that lead elsewhere each time they are asked for."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[Address]:
        self.asked.append(host)
        return [ip_address(text) for text in self.answers[len(self.asked) - 1]]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The addresses that a connection is asked for; none comes about."""
    tried: list[object] = []

    def refuse(address: tuple[str, int], timeout: float) -> socket.socket:
        tried.append(address)
        raise ConnectionRefusedError("nobody is there")

    monkeypatch.setattr(socket, "create_connection", refuse)
    return tried


def test_a_name_is_asked_for_once_and_its_address_is_the_one_that_is_called(connected: list[object]) -> None:
    """The second answer would lead inside: nobody asks for it."""
    names = Names(["93.184.216.34"], ["127.0.0.1"])

    receipt = GuardedOutbound(Rules(), names).post(ORDER)

    assert connected == [("93.184.216.34", 443)]
    assert names.asked == ["example.com"]
    assert receipt.status is None
    assert receipt.error == "ConnectionRefusedError: nobody is there"


@pytest.mark.parametrize(
    "inside", ["127.0.0.1", "169.254.169.254", "10.1.2.3", "::1", "::ffff:169.254.169.254", "fd00:ec2::254", "0.0.0.1"]
)
@pytest.mark.parametrize("others", [[], ["93.184.216.34"]], ids=["alone", "behind-a-public-one"])
def test_a_name_that_leads_inside_is_not_called(connected: list[object], inside: str, others: list[str]) -> None:
    receipt = GuardedOutbound(Rules(), Names([*others, inside])).post(ORDER)

    assert connected == []
    assert receipt.error == "not sent: the URL leads to a private, local or reserved address"


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1/", "https://169.254.169.254/", "https://localhost/", "http://example.com/", "https://127.1/"],
)
def test_what_was_not_refused_when_the_hook_was_made_is_refused_now(connected: list[object], url: str) -> None:
    names = Names()

    receipt = GuardedOutbound(Rules(), names).post(replace(ORDER, url=url))

    assert (connected, names.asked) == ([], [])
    assert receipt.error is not None
    assert receipt.error.startswith("not sent: the URL must")


def test_the_real_localhost_is_resolved_and_refused(connected: list[object]) -> None:
    assert all(address.is_loopback for address in post.resolve("localhost", 443))


def test_a_request_holds_what_the_order_says_and_no_redirect_is_followed() -> None:
    with receiving() as receiver:
        receiver.statuses = [302]

        receipt = GuardedOutbound(LOOPBACK).post(replace(ORDER, url=f"{receiver.url}?k=v"))

        [request] = receiver.received
    assert (receipt.status, receipt.error) == (302, None)
    assert (request.method, request.path, request.body) == ("POST", "/hook?k=v", '{"a":1}')
    assert request.headers["X-A"] == "b"
    assert request.headers["Host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.parametrize("drip", [b"", b"HTTP/1.1 200 OK\r\nX: "], ids=["silent", "endless-headers"])
def test_a_receiver_that_never_ends_is_given_up(drip: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "_LEAST_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if drip:
            monkeypatch.setattr(socket, "create_connection", _dripping(server, drip))
        begun = time.monotonic()

        receipt = GuardedOutbound(LOOPBACK).post(
            replace(ORDER, url=f"http://127.0.0.1:{port}/", http=HttpConfig(timeout_seconds=0))
        )

    assert receipt.error == "timed out"
    assert time.monotonic() - begun < 50


def _dripping(server: socket.socket, drip: bytes) -> object:
    real = socket.create_connection

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        ours = real(address, timeout)
        theirs, _ = server.accept()
        theirs.sendall(drip)
        ours.settimeout(60)
        theirs.detach()
        return ours

    return connect


def test_what_is_no_http_is_an_error_and_no_crash() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        order = replace(ORDER, url=f"http://127.0.0.1:{port}/", http=HttpConfig(timeout_seconds=5))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(socket, "create_connection", _dripping(server, b"\x00\xff no http\r\n\r\n"))

            receipt = GuardedOutbound(LOOPBACK).post(order)

    assert receipt.status is None
    assert receipt.error is not None
    assert receipt.error.startswith("BadStatusLine")


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key and a certificate of its own for receiver.example.com."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("receiver.example.com")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "receiver.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.mark.parametrize(
    ("host", "is_trusted", "ends"),
    [
        ("receiver.example.com", True, (204, "")),
        ("receiver.example.com", False, (None, "SSLCertVerificationError")),
        ("other.example.com", True, (None, "SSLCertVerificationError")),
    ],
    ids=["known", "unknown", "of-another-name"],
)
def test_a_receiver_is_known_by_its_name_though_its_address_is_called(
    certified: Path, monkeypatch: pytest.MonkeyPatch, host: str, is_trusted: bool, ends: tuple[int | None, str]
) -> None:
    trust = ssl.create_default_context(cafile=str(certified) if is_trusted else None)
    monkeypatch.setattr(ssl, "create_default_context", lambda: trust)
    with receiving(certified) as receiver:
        order = replace(ORDER, url=f"https://{host}:{receiver.port}/h")

        receipt = GuardedOutbound(Rules(allowed_hosts=(host,)), Names(["127.0.0.1"])).post(order)

    assert (receipt.status, (receipt.error or "").partition(":")[0]) == ends
    assert len(receiver.received) == (1 if ends[0] else 0)
