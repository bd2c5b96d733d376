"""Bodies become messages, or errors with the codes of JSON-RPC; versions are served, negotiated or refused."""

from __future__ import annotations

import json

import pytest

from hindsight_aws.api.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    MOST_MESSAGES,
    Message,
    RpcError,
    answered,
    failed,
    id_of,
    negotiated,
    read_body,
    read_message,
    version_of,
)

LATEST = HANDSHAKE_VERSIONS[-1]
PING: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"NaN", b"[" * 100_000, b"1" * 5_000, b'{"a": Infinity}'])
def test_what_is_no_json_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(RpcError) as refused:
        read_body(body, LATEST)

    assert (refused.value.code, refused.value.status) == (-32700, 400)


@pytest.mark.parametrize("value", [None, 1, "ping", True, [PING], {}, {"method": "ping"}, {**PING, "jsonrpc": "1.0"}])
def test_what_is_no_message_is_an_invalid_request(value: object) -> None:
    with pytest.raises(RpcError) as refused:
        read_message(json.loads(json.dumps(value)))

    assert refused.value.code == -32600


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"method": 7}, -32600),
        ({"method": None}, -32600),
        ({"id": None}, -32600),
        ({"id": True}, -32600),
        ({"id": 1.5}, -32600),
        ({"id": []}, -32600),
        ({"params": []}, -32602),
        ({"params": "x"}, -32602),
    ],
)
def test_a_message_with_a_wrong_member_is_refused(change: dict[str, object], code: int) -> None:
    with pytest.raises(RpcError) as refused:
        read_message(json.loads(json.dumps({**PING, **change})))

    assert refused.value.code == code


def test_a_message_without_an_id_is_a_notification_and_one_without_a_method_an_answer() -> None:
    assert read_message(dict(PING)) == Message(1, "ping", {})  # type: ignore[arg-type]  # JSON
    told = read_message({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert told is not None
    assert told.is_notification
    assert read_message({"jsonrpc": "2.0", "id": 1, "result": {}}) is None
    assert read_message({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}}) is None


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_only_the_early_versions_have_batches(version: str) -> None:
    body = json.dumps([PING, PING]).encode()

    if version <= "2025-03-26":
        assert read_body(body, version) == [PING, PING]
    else:
        with pytest.raises(RpcError, match="has no batches"):
            read_body(body, version)


@pytest.mark.parametrize("count", [0, MOST_MESSAGES + 1])
def test_a_batch_is_neither_empty_nor_endless(count: int) -> None:
    with pytest.raises(RpcError) as refused:
        read_body(json.dumps([PING] * count).encode(), "2025-03-26")

    assert refused.value.code == -32600


def test_text_comes_without_lone_surrogates() -> None:
    body = read_body(b'{"jsonrpc": "2.0", "id": "\\ud800x", "method": "ping"}', LATEST)

    assert id_of(body) == "x"


@pytest.mark.parametrize(("asked", "given"), [*zip(HANDSHAKE_VERSIONS, HANDSHAKE_VERSIONS, strict=True)])
def test_a_version_that_is_known_is_agreed_to(asked: str, given: str) -> None:
    assert negotiated(asked) == given


@pytest.mark.parametrize("asked", ["2026-07-28", "2099-01-01", ""])
def test_a_version_that_has_no_handshake_here_is_answered_with_the_latest(asked: str) -> None:
    assert negotiated(asked) == LATEST


def test_a_request_in_an_unknown_version_is_told_the_known_ones() -> None:
    assert version_of(None) == "2025-03-26"
    with pytest.raises(RpcError) as refused:
        version_of("1900-01-01")

    said = failed(7, refused.value)
    assert said["error"] == {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": [*HANDSHAKE_VERSIONS, "2026-07-28"], "requested": "1900-01-01"},
    }


def test_an_answer_bears_the_id_of_its_request() -> None:
    assert answered("a", {"x": 1}) == {"jsonrpc": "2.0", "id": "a", "result": {"x": 1}}
