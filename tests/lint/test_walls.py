"""The walls that tests/conftest.py puts around every test."""

import os
import socket

import pytest

# Reserved for documentation: no host answers there, on any network.
_ELSEWHERE = ("192.0.2.1", 9)


def test_reaching_for_another_host_fails_the_test() -> None:
    with socket.socket() as client, pytest.raises(pytest.fail.Exception, match="only loopback"):
        client.connect(_ELSEWHERE)


def test_loopback_may_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())

        assert client.getpeername() == server.getsockname()


def test_no_setting_or_account_of_the_developer_is_seen() -> None:
    inherited = [
        name for name in os.environ if name.startswith("HINDSIGHT_") and not name.startswith("HINDSIGHT_TEST_")
    ]

    assert inherited == []
    assert os.environ["AWS_ACCESS_KEY_ID"] == "test"
