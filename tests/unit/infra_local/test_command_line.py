"""The command line turns arguments and environment into a stack's options, and says what runs."""

import argparse
from uuid import UUID

import pytest

from infra.local.__main__ import main, options_from


def given(**changes: object) -> argparse.Namespace:
    return argparse.Namespace(**({"port": 8888, "state": None, "no_prewarm": False, "faults": False} | changes))


def test_up_warms_every_api_function_unless_told_not_to() -> None:
    assert {"retain", "recall", "admin"} <= set(options_from(given()).prewarm)
    assert options_from(given(no_prewarm=True)).prewarm == ()


def test_a_database_url_takes_the_place_of_our_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://somebody@db/x")

    assert options_from(given()).database_url == "postgresql://somebody@db/x"


def test_real_models_are_used_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = options_from(given())
    monkeypatch.setenv("HINDSIGHT_BEDROCK", "aws")

    assert (asked.bedrock_aws, options_from(given()).bedrock_aws) == (False, True)


def test_the_dev_tenant_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_DEV_TENANT", "00000000-0000-4000-8000-000000000001")

    assert options_from(given()).dev_tenant == UUID("00000000-0000-4000-8000-000000000001")


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["down"])

    assert "invalid choice" in capsys.readouterr().err
