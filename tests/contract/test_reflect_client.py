"""The official client's reflect works unchanged, also when a run takes longer than one call may be kept waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.models.reflect_response import ReflectResponse

from hindsight_aws.api.app import create_app
from hindsight_aws.api.gateway import LambdaHandler, lambda_handler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_services
from tests.support.database import Database
from tests.support.reflect import Rig, Said, done, make_rig
from tests.support.units import Unit

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")  # the client's own


@contextmanager
def serving(make: Any, told: list[int], before_each: Callable[[], None]) -> Iterator[str]:
    """The handler behind real HTTP, as the HTTP API calls it; `told` notes each status."""
    started: list[HTTPServer] = []
    ready = threading.Event()

    def serve() -> None:
        handler: LambdaHandler = make()

        def behind_the_gateway(event: dict[str, Any], context: object) -> dict[str, Any]:
            return handler({**event, "routeKey": "POST /v1/default/banks/{bank_id}/reflect"}, context)

        caller = Caller(behind_the_gateway)

        class Door(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                before_each()
                answer = caller("POST", self.path, raw=body)
                self.send_response(answer.status)
                for name in ("content-type", "retry-after"):
                    if name in answer.headers:
                        self.send_header(name, answer.headers[name])
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
                told.append(answer.status)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        started.append(HTTPServer(("127.0.0.1", 0), Door))
        ready.set()
        started[0].serve_forever(poll_interval=0.01)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert ready.wait(60)
    yield f"http://127.0.0.1:{started[0].server_address[1]}"
    started[0].shutdown()
    started[0].server_close()
    thread.join()


class BackgroundRig:
    """A rig whose runs go on in a thread of their own, with a connection of their own."""

    def __init__(self, database: Database, store: PostgresStore, tenant: TenantId, reply: Any) -> None:
        self.rig: Rig = make_rig(database, PostgresStore(lambda: database.write_url), tenant, reply)
        self.rig.remember(Unit("Bea moved to Rome."))
        self.door_store = PostgresStore(lambda: database.write_url)
        self.services = make_services(self.door_store, tenant, hindsight_reflect_wait_seconds=0.2)
        self.threads: list[threading.Thread] = []

    def start_reflect(self, tenant_id: TenantId, bank_id: object, run_id: object) -> None:
        ids: Any = {"tenant_id": str(tenant_id), "bank_id": str(bank_id), "run_id": str(run_id), "turn": 0}
        thread = threading.Thread(target=lambda: self.rig.workflows.execute(ids))
        self.threads.append(thread)
        thread.start()

    def handler(self) -> LambdaHandler:
        from hindsight_aws.reflect.ports import ReflectDoor

        self.services.__dict__["reflect_door"] = ReflectDoor(
            self.door_store, self, self.services.settings, self.services.clock
        )
        return lambda_handler(create_app({"reflect"}, self.services), is_local=True)

    def close(self) -> None:
        for thread in self.threads:
            thread.join()
        self.rig.store.close()
        self.door_store.close()


def _ask(url: str) -> ReflectResponse:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    client = Hindsight(base_url=url)
    answer = client.reflect(bank_id="bank", query="Where does Bea live?", include_facts=True)
    client.close()  # type: ignore[no-untyped-call]  # the client's own
    loop.close()
    return answer


def test_a_run_that_outlasts_two_calls_is_answered_by_the_third_and_executed_once(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    told: list[int] = []
    released = threading.Event()

    def slow(_call: ModelCall) -> Said:
        assert released.wait(60)
        return done("In Rome.", "f1")

    system = BackgroundRig(database, store, tenant, slow)

    def end_the_run_after_two() -> None:
        if told == [503, 503]:
            released.set()
            for thread in system.threads:
                thread.join()

    # A thread of its own, because the client and the handler both want the current thread's event loop.
    with serving(system.handler, told, end_the_run_after_two) as url, ThreadPoolExecutor(1) as apart:
        answer = apart.submit(_ask, url).result()
    system.close()

    assert answer.text == "In Rome."
    assert answer.based_on is not None
    assert [memory.text for memory in answer.based_on.memories or []] == ["Bea moved to Rome."]
    assert told == [503, 503, 200]
    assert len(system.threads) == len(system.rig.model.calls) == 1
