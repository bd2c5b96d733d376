"""The command line inside the private network: what an administrator invokes the migrate function with."""

import json
import logging

import pytest
from psycopg.conninfo import make_conninfo

from functions.migrate.handler import handler
from hindsight_aws.settings import WrongSetting
from tests.support.database import Database

_PASSWORD = "owners" + "-pass" + "word"
_QUEUE_SETTINGS = [f"HINDSIGHT_QUEUE_{name}_URL" for name in ("INGEST", "CONSOLIDATE")]


@pytest.fixture(autouse=True)
def _signed_in(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the cloud, with a password in the connection string, which the server of the tests does not ask for."""
    monkeypatch.setenv("HINDSIGHT_DATABASE_URL", make_conninfo(database.admin_url, password=_PASSWORD))


def test_the_first_tenant_and_its_key_are_made_from_outside_by_invoking(capfd: pytest.CaptureFixture[str]) -> None:
    made = handler({"Command": ["tenant", "create", "Acme", "--json"]}, None)
    tenant = str(json.loads(made["Output"])["tenant_id"])

    key = handler({"Command": ["key", "create", tenant, "--name", "bot", "--permissions", "read,write"]}, None)

    assert (made["ExitCode"], key["ExitCode"]) == (0, 0)
    assert "hsk_" in key["Output"]
    assert capfd.readouterr().out == ""  # which would be the function's log


@pytest.mark.parametrize("command", [["conquer"], ["tenant", "show", "nobody"]], ids=["unknown", "wrong"])
def test_a_wrong_command_is_answered_and_changes_nothing(command: list[str]) -> None:
    answer = handler({"Command": command}, None)

    assert answer["ExitCode"] != 0
    assert answer["Errors"]


@pytest.mark.parametrize(
    "command",
    [["cost"], ["openapi"], ["redrive"], ["redrive", "ingest"], ["tenant", "list"], ["migrate"], ["conquer"], []],
    ids=["cost", "openapi", "redrive", "redrive-one", "tenant-list", "migrate", "unknown", "nothing"],
)
def test_no_answer_and_no_log_holds_the_administrators_password(
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for setting in _QUEUE_SETTINGS:
        monkeypatch.delenv(setting, raising=False)

    with caplog.at_level(logging.DEBUG):
        answer = handler({"Command": command}, None)

    assert _PASSWORD not in json.dumps(answer) + caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize("command", [["cost"], ["openapi"]], ids=["cost", "openapi"])
def test_a_command_without_a_database_is_run_too(command: list[str]) -> None:
    answer = handler({"Command": command}, None)

    assert (answer["ExitCode"], answer["Errors"]) == (0, "")
    assert answer["Output"]


@pytest.mark.parametrize("command", [["tenant", "list"], ["migrate"], ["doctor"]], ids=["list", "migrate", "doctor"])
def test_a_database_that_refuses_is_told_of_without_the_password(
    command: list[str], database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    nobody = make_conninfo(database.admin_url, user="nobody_knows", password=_PASSWORD)
    monkeypatch.setenv("HINDSIGHT_DATABASE_URL", nobody)
    monkeypatch.setattr("hindsight_aws.cli.database._CONNECT_FOR_S", 0.0)
    monkeypatch.setenv("HINDSIGHT_DATABASE_CONNECT_SECONDS", "1")

    with caplog.at_level(logging.DEBUG):
        answer = handler({"Command": command}, None)

    assert answer["ExitCode"] != 0
    assert _PASSWORD not in json.dumps(answer) + caplog.text


@pytest.mark.parametrize(
    "malformed",
    [f"postgresql://owner:a {_PASSWORD}@host/db", f"host=nowhere {_PASSWORD}"],
    ids=["blank", "word"],
)
def test_a_connection_string_that_cannot_be_read_is_not_repeated(
    malformed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_DATABASE_URL", malformed)

    with pytest.raises(WrongSetting) as refused:
        handler({"Command": ["tenant", "list"]}, None)

    assert refused.value.__suppress_context__
    assert _PASSWORD not in str(refused.value)


def test_doctor_inside_takes_the_administrators_connection_for_no_functions(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
    monkeypatch.setenv("HINDSIGHT_DATABASE_SECRET_ARN", "arn:aws:secretsmanager:eu-central-1:1:secret:x")
    monkeypatch.setattr("functions.migrate.handler.administrator_url", lambda _: database.admin_url)

    answer = handler({"Command": ["doctor"]}, None)

    assert answer["ExitCode"] == 0, answer["Output"]
    assert "ok     Role hindsight_write is bound by row-level security." in answer["Output"]
    assert "ok     Every migration was applied." in answer["Output"]
