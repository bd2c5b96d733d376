"""What each function's process imports before its first event: its own use case, and no heavy library it may not need.

Timings are in docs/howto/cold-start.md (`python -m tests.bench cold`); here only what was imported is looked at.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hindsight_aws.api.app import GROUPS
from hindsight_aws.jobs.message import ids_of
from hindsight_aws.webhooks.messages import order_of
from infra.topology import TOPOLOGY, DatabaseRole, Route
from tests.bench.cold_events import event_of

_REPOSITORY = Path(__file__).resolve().parents[2]
_WEB = {"fastapi", "starlette", "mangum", "anyio", "opentelemetry", "hindsight_aws.api"}
_FOR_LATER = {"boto3", "botocore.session", "urllib3", "numpy", "croniter", "hindsight_aws.aws.bedrock"}
_USE_CASES = {
    "recall": {"recall"},
    "retain": {"retain", "files"},
    "reflect": {"reflect", "mental_models", "consolidate"},
    "admin": {"retain", "documents", "curation", "consolidate", "reflect", "mental_models"},
    "mcp": {"retain", "recall", "documents", "curation", "consolidate", "reflect", "mental_models"},
    "ingest": {"retain"},
    "convert": {"retain", "files"},
    "transfer": {"retain"},
    "consolidate": {"consolidate", "mental_models"},
    "reflect_step": {"reflect"},
    "sweep": {"consolidate", "reflect", "mental_models"},
}
"""The large use cases that a function may import, of those that any function has."""
_DOORS = [entry.name for entry in TOPOLOGY.functions if any(isinstance(one, Route) for one in entry.triggers)]
_WORKERS = [entry.name for entry in TOPOLOGY.functions if entry.name not in _DOORS]
_WITHOUT_DATABASE = [entry.name for entry in TOPOLOGY.functions if entry.database_role is None]
_WITH_STORE = [entry.name for entry in TOPOLOGY.functions if entry.database_role not in {None, DatabaseRole.MIGRATE}]

# One process for all: each function is imported in a fork of its own, which inherits only what every function needs.
_REPORT = """
import json, os, sys
import pydantic_settings

def report(function):
    if os.fork():
        assert os.wait()[1] == 0, function
        return
    __import__(f"functions.{function}.handler")
    print(json.dumps([function, sorted(sys.modules)]), flush=True)
    os._exit(0)

without_database, workers, doors = json.loads(sys.argv[1])
for function in without_database:
    report(function)
import psycopg
os.environ["HINDSIGHT_DATABASE_URL"] = "postgresql://127.0.0.1/none"
for function in workers:
    report(function)
import fastapi
for function in doors:
    report(function)
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, set[str]]:
    """The modules of each function's process, by the function's name."""
    environment = {**os.environ, "HINDSIGHT_ENVIRONMENT": "local", "PYTHONPATH": f"{_REPOSITORY / 'shared'}"}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            _REPORT,
            json.dumps([_WITHOUT_DATABASE, [one for one in _WORKERS if one not in _WITHOUT_DATABASE], _DOORS]),
        ],
        check=False,
        cwd=_REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return {function: set(modules) for function, modules in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("function", _WORKERS)
def test_a_worker_imports_no_web_framework(imported: dict[str, set[str]], function: str) -> None:
    assert imported[function] & _WEB == set()


@pytest.mark.parametrize("function", _DOORS + _WORKERS)
def test_what_only_an_event_may_need_waits_for_that_event(imported: dict[str, set[str]], function: str) -> None:
    repositories = {f"hindsight_aws.store.{name}" for name in ("recall", "memories", "documents", "observations")}

    assert imported[function] & (_FOR_LATER | repositories) == set()


@pytest.mark.parametrize("function", _WITHOUT_DATABASE)
def test_a_function_without_a_database_imports_nothing_of_one(imported: dict[str, set[str]], function: str) -> None:
    of_databases = {
        name for name in imported[function] if name.startswith(("psycopg", "pgvector", "hindsight_aws.store"))
    }

    assert of_databases == set()


@pytest.mark.parametrize("function", _WITH_STORE)
def test_the_store_is_imported_before_the_first_event(imported: dict[str, set[str]], function: str) -> None:
    assert "hindsight_aws.store.postgres" in imported[function]


@pytest.mark.parametrize("function", _DOORS + _WORKERS)
def test_the_benchmark_of_cold_starts_has_an_event_of_each_function(function: str) -> None:
    """And one that its job can read: what is dropped unread would cost nothing."""
    event = event_of(function)

    assert event or function == "sweep"
    if function == "deliver":
        assert ids_of(event["Records"][0]["body"], "tenant_id", "bank_id", "delivery_id")
    if function == "send":
        assert order_of(event["Records"][0]["body"]).not_after == 0


@pytest.mark.parametrize("function", _DOORS + _WORKERS)
def test_a_function_imports_its_own_use_cases_and_no_others(imported: dict[str, set[str]], function: str) -> None:
    large = {f"hindsight_aws.{name}" for names in _USE_CASES.values() for name in names}

    found = {module.rpartition(".")[2] for module in imported[function] & large}

    assert found <= _USE_CASES.get(function, set())


@pytest.mark.parametrize("function", _DOORS)
def test_a_door_imports_the_routes_of_its_own_group(imported: dict[str, set[str]], function: str) -> None:
    prefix = "hindsight_aws.api.routes."

    routes = {module.removeprefix(prefix) for module in imported[function] if module.startswith(prefix)}

    assert routes == set(GROUPS[function])
