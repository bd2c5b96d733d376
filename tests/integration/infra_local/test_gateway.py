"""Real HTTP through the gateway to a function's process and back."""

import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import httpx
import pytest

from infra.local.gateway.gateway import TOO_LARGE
from infra.local.stack import LocalStack
from infra.topology import MIB, HttpLimits
from tests.integration.infra_local.conftest import StackMaker
from tests.integration.infra_local.test_functions import wait_until
from tests.support.fake_system import FAKE_TOPOLOGY


def port_of(url: str) -> int:
    return int(url.rsplit(":", 1)[1])


def test_a_request_reaches_the_handler_whole_and_its_answer_comes_back_whole(client: httpx.Client) -> None:
    answer = client.post("/echo", params={"tag": ["a", "b"]}, content="naïve 記憶".encode())

    event = answer.json()
    assert event["body"] == "naïve 記憶"
    assert event["queryStringParameters"] == {"tag": "a,b"}
    assert event["requestContext"]["routeKey"] == "$default"
    assert answer.headers["x-kept"] == "yes"
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]


def test_the_path_is_passed_on_as_it_came(stack: LocalStack) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(stack.base_url))

    connection.request("GET", "/echo//../a%2Fb")
    body = connection.getresponse().read()
    connection.close()

    assert json.loads(body)["pid"] > 0


def test_a_connection_is_kept_for_the_next_request(stack: LocalStack) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(stack.base_url))
    connection.connect()
    first = connection.sock

    for _ in range(3):
        connection.request("GET", "/who")
        connection.getresponse().read()

    assert connection.sock is first
    connection.close()


def test_pipelined_requests_are_answered_in_order(stack: LocalStack) -> None:
    with socket.create_connection(("127.0.0.1", port_of(stack.base_url))) as connection:
        connection.sendall(
            b"HEAD /who HTTP/1.1\r\nhost: a\r\n\r\nGET /raise HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        )
        received = b"".join(iter(lambda: connection.recv(65536), b""))

    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert received.count(b"HTTP/1.1 ") == 2
    assert received.index(b"200 OK") < received.index(b"500 Internal")


def test_head_has_the_length_and_no_body(client: httpx.Client) -> None:
    answer = client.head("/who")

    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) > 0
    assert answer.content == b""


@pytest.mark.parametrize(
    ("path", "status"),
    [("/raise", 500), ("/malformed", 500), ("/die", 500), ("/exit", 500), (f"/big?bytes={7 * MIB}", 500)],
)
def test_a_function_that_fails_answers_detail_and_the_next_call_works(
    client: httpx.Client, path: str, status: int
) -> None:
    failed = client.get(path)

    assert (failed.status_code, failed.json()) == (status, {"detail": "Internal Server Error"})
    assert client.get("/who").status_code == 200


def test_a_handler_that_does_not_load_answers_500_each_time(client: httpx.Client) -> None:
    answers = [client.get("/broken/x") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [500, 500]


def test_a_body_over_the_limit_is_413_even_while_it_is_still_being_sent(client: httpx.Client) -> None:
    answer = client.post("/who", content=b"x" * (7 * MIB))

    assert (answer.status_code, answer.json()) == (413, {"detail": TOO_LARGE})
    assert client.get("/who").status_code == 200


def test_a_body_that_is_too_large_only_as_an_event_is_413(client: httpx.Client) -> None:
    answer = client.post("/who", content=b'"' * (4 * MIB))

    assert answer.status_code == 413


def test_a_body_just_under_the_limit_passes(client: httpx.Client) -> None:
    answer = client.post("/who", content=b"x" * (6 * MIB - 8192))

    assert answer.status_code == 200


def test_past_the_time_limit_the_caller_is_let_go_except_at_the_function_url(make_stack: StackMaker) -> None:
    hasty = replace(FAKE_TOPOLOGY, http=HttpLimits(seconds=0.3))
    stack = make_stack(topology=hasty, prewarm=("front",))

    late = httpx.get(stack.base_url + "/sleep?seconds=0.8", timeout=60)
    patient = httpx.get(stack.function_urls["front"] + "/sleep?seconds=0.8", timeout=60)

    assert (late.status_code, late.json()) == (503, {"detail": "Service Unavailable"})
    assert patient.status_code == 200


def test_a_function_that_outlives_its_timeout_is_killed(stack: LocalStack) -> None:
    answer = httpx.get(stack.function_urls["hasty"], timeout=60)

    assert (answer.status_code, answer.json()) == (502, {"detail": "Bad Gateway"})
    wait_until(lambda: stack.pids()["hasty"] == [])


def test_bytes_that_are_no_http_are_refused(stack: LocalStack) -> None:
    with socket.create_connection(("127.0.0.1", port_of(stack.base_url))) as connection:
        connection.sendall(b"\x00\x01\x02nonsense\r\n\r\n")
        received = connection.recv(65536)

    assert received.startswith(b"HTTP/1.1 400 ")


def test_each_environment_serves_one_event_at_a_time_and_calls_beyond_them_wait(stack: LocalStack) -> None:
    together = Barrier(6, timeout=60)

    def call(seconds: float) -> int:
        together.wait()
        answer = httpx.get(stack.base_url + f"/sleep?seconds={seconds}", timeout=60)
        return int(answer.json()["pid"])

    with ThreadPoolExecutor(6) as threads:
        pids = list(threads.map(call, [0.2] * 6))
        if len(set(pids)) == 1:  # a busy machine needs longer to start a second environment than one needs for all
            pids = list(threads.map(call, [5.0] * 6))

    assert 2 <= len(set(pids)) <= 3
    assert max(pids.count(pid) for pid in pids) >= 2
