"""Which text model the stack runs with, and what that changes for everything else."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from infra.local.__main__ import main
from infra.local.options import LocalModel, StackOptions
from infra.local.text_models import (
    TextModelError,
    choice,
    endpoint_command,
    model_settings,
    patient,
    prepare,
    threads_of,
)
from infra.local.variables import Addresses, aws_variables, function_variables
from infra.topology import TOPOLOGY, VISIBILITY_PER_TIMEOUT, ModelUse, QueueTrigger

ADDRESSES = Addresses(
    sqs="http://127.0.0.1:1", bedrock="http://127.0.0.1:2", workflows="http://127.0.0.1:3",
    database_urls=dict.fromkeys(("read", "write", "migrate"), "postgresql://x"),
    queue_urls={queue.name: f"http://127.0.0.1:1/{queue.name}" for queue in TOPOLOGY.queues},
)  # fmt: skip
QWEN = StackOptions(local_model=LocalModel.QWEN, topology=patient(TOPOLOGY, LocalModel.QWEN))


@pytest.mark.parametrize(
    ("surroundings", "chosen"),
    [
        ({}, (LocalModel.RULES, False)),
        ({"HINDSIGHT_LOCAL_MODEL": ""}, (LocalModel.RULES, False)),
        ({"HINDSIGHT_LOCAL_MODEL": "qwen"}, (LocalModel.QWEN, False)),
        ({"HINDSIGHT_BEDROCK": "aws"}, (LocalModel.RULES, True)),
    ],
)
def test_the_environment_chooses_the_model(surroundings: dict[str, str], chosen: tuple[LocalModel, bool]) -> None:
    assert choice(surroundings) == chosen


@pytest.mark.parametrize(
    ("surroundings", "said"),
    [
        ({"HINDSIGHT_LOCAL_MODEL": "llama"}, "HINDSIGHT_LOCAL_MODEL is 'llama'"),
        ({"HINDSIGHT_BEDROCK": "yes"}, "HINDSIGHT_BEDROCK is 'yes'"),
        ({"HINDSIGHT_LOCAL_MODEL": "qwen", "HINDSIGHT_BEDROCK": "aws"}, "exclude each other"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(surroundings: dict[str, str], said: str) -> None:
    with pytest.raises(TextModelError, match=said):
        choice(surroundings)


def test_few_threads_are_used_unless_more_are_asked_for() -> None:
    assert threads_of({}) in {1, 2}
    assert threads_of({"HINDSIGHT_LOCAL_MODEL_THREADS": "6"}) == 6
    with pytest.raises(TextModelError, match="whole number"):
        threads_of({"HINDSIGHT_LOCAL_MODEL_THREADS": "many"})


def test_a_model_that_is_not_installed_stops_the_start_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HINDSIGHT_LOCAL_MODEL", "qwen")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    status = main(["up", "--port", "0", "--state", str(tmp_path), "--no-prewarm"])

    assert status == 1
    assert capsys.readouterr().err == (
        "The local stack could not start. The local model needs the package xllamacpp, which is not installed: "
        "HINDSIGHT_LOCAL_MODEL=qwen make run installs what it needs.\n"
    )


def test_real_models_without_credentials_stop_the_start_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _forget_credentials(monkeypatch, tmp_path)

    with pytest.raises(TextModelError, match="none were found: set AWS_PROFILE or AWS_ACCESS_KEY_ID"):
        prepare(StackOptions(bedrock_aws=True))


def test_real_models_with_credentials_may_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _forget_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "made-up")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up")

    prepare(StackOptions(bedrock_aws=True))


def _forget_credentials(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(home / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(home / "none"))


def test_the_rules_leave_the_topology_as_it_is() -> None:
    assert patient(TOPOLOGY, LocalModel.RULES) is TOPOLOGY
    assert endpoint_command(StackOptions())[-2:] == ["--model", "rules"]


def test_a_slow_model_gets_minutes_and_one_worker_at_a_time() -> None:
    retain, ingest, recall = (QWEN.topology.function(name) for name in ("retain", "ingest", "recall"))

    assert (retain.timeout, ingest.timeout, recall.timeout) == (900, 900, TOPOLOGY.function("recall").timeout)
    assert ingest.max_concurrency == 1
    for function, trigger in QWEN.topology.each(QueueTrigger):
        assert QWEN.topology.queue(trigger.queue).visibility >= VISIBILITY_PER_TIMEOUT * function.timeout


@pytest.mark.parametrize("name", [f.name for f in QWEN.topology.functions if ModelUse.TEXT in f.models])
def test_each_function_outlives_its_model_call(name: str) -> None:
    function = QWEN.topology.function(name)

    variables = function_variables(function, QWEN, ADDRESSES)

    assert 100 <= float(variables["HINDSIGHT_API_LLM_TIMEOUT"]) < function.timeout
    assert variables["HINDSIGHT_API_LLM_MODEL"] == "hindsight-local-qwen2.5-coder-1.5b"


def test_a_lease_lasts_longer_than_a_model_call() -> None:
    settings = model_settings(QWEN.topology.function("consolidate"), LocalModel.QWEN)

    assert float(settings["HINDSIGHT_API_LLM_TIMEOUT"]) < float(settings["HINDSIGHT_API_CONSOLIDATION_LEASE_SECONDS"])
    assert float(settings["HINDSIGHT_API_LLM_TIMEOUT"]) < float(settings["HINDSIGHT_RETAIN_LEASE_SECONDS"])


def test_a_setting_of_whoever_runs_the_stack_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_LLM_TIMEOUT", "77")

    assert function_variables(QWEN.topology.function("retain"), QWEN, ADDRESSES)["HINDSIGHT_API_LLM_TIMEOUT"] == "77"


def test_real_models_are_named_by_the_settings_and_reached_without_an_override(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("HINDSIGHT_API_LLM_MODEL", "eu.amazon.nova-lite-v1:0")
    options = StackOptions(bedrock_aws=True)

    variables = function_variables(TOPOLOGY.function("retain"), options, replace(ADDRESSES, bedrock=None))

    own = {name: variables[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")}
    assert own == {"AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"}
    assert variables["AWS_REGION"] == "eu-west-1"
    assert variables["HINDSIGHT_API_LLM_MODEL"] == "eu.amazon.nova-lite-v1:0"
    assert not [name for name in variables if name.startswith("AWS_ENDPOINT_URL_BEDROCK")]
    assert variables["AWS_ENDPOINT_URL_SQS"] == ADDRESSES.sqs


def test_a_common_endpoint_of_the_callers_does_not_lead_the_queues_astray() -> None:
    own = {
        "AWS_ENDPOINT_URL": "http://elsewhere",
        "AWS_ENDPOINT_URL_SQS": "http://elsewhere",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://private",
        "AWS_DEFAULT_REGION": "eu-west-3",
    }

    variables = aws_variables(True, own)

    assert variables["AWS_REGION"] == "eu-west-3"
    assert [name for name in variables if "ENDPOINT" in name] == ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"]


def test_without_real_models_no_credential_of_the_callers_reaches_a_function() -> None:
    variables = aws_variables(False, {"AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "secret"})

    assert "own" not in variables.values()
    assert "secret" not in variables.values()
