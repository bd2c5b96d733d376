"""How a function logs in: as it is on a laptop, with a fresh token or a secret in the cloud."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from hindsight_aws.aws.database_login import administrator_url, login
from hindsight_aws.errors import DatabaseUnavailable, NoDatabaseToken
from hindsight_aws.settings import Settings, WrongSetting
from hindsight_aws.store.connection import ConnectionHolder

CLOUD = "postgresql://hindsight_read@db.example:5433/hindsight?sslmode=verify-full"


class Secrets:
    """Answers with one secret."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_secret_value(self, **_asked: object) -> Any:
        return {"SecretString": self.text}


def settings(**given: Any) -> Settings:
    return Settings(hindsight_database_url=CLOUD, **given)


def test_a_laptop_logs_in_as_its_connection_string_says() -> None:
    assert login(settings(hindsight_environment="local"))() == CLOUD


def test_in_the_cloud_the_password_is_a_token_signed_for_this_host_and_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")

    parts = conninfo_to_dict(login(settings(hindsight_environment="cloud"))())

    password = str(parts["password"])
    assert (parts["user"], parts["host"], parts["sslmode"]) == ("hindsight_read", "db.example", "verify-full")
    assert password.startswith("db.example:5433/?Action=connect&DBUser=hindsight_read")
    assert "X-Amz-Expires=900" in password


def test_every_connection_is_opened_with_a_token_signed_at_that_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is older than 15 minutes, or than the snapshot its process was restored from, opens nothing."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
    now = datetime(2031, 5, 4, 12)  # noqa: DTZ001 - as botocore's own clock tells it
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: now)
    shown: list[str] = []

    def connect(conninfo: str, **_options: object) -> Any:
        shown.append(str(conninfo_to_dict(conninfo)["password"]).partition("X-Amz-Date=")[2][:16])
        raise psycopg.OperationalError("down")

    monkeypatch.setattr(psycopg, "connect", connect)
    holder = ConnectionHolder(login(settings(hindsight_environment="cloud")), connect_for_s=0.0)
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            holder.get()
        now += timedelta(minutes=20)

    assert shown == ["20310504T120000Z", "20310504T122000Z"]


@pytest.mark.parametrize(
    ("url", "why"),
    [(CLOUD, "no token could be signed"), ("postgresql:///hindsight", "no host or no user")],
    ids=["no credentials", "nobody"],
)
def test_where_no_token_can_be_signed_there_is_no_database(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, why: str
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))

    with pytest.raises(NoDatabaseToken, match=why):
        login(Settings(hindsight_database_url=url, hindsight_environment="cloud"))()


def test_the_migrator_logs_in_with_the_administrators_secret() -> None:
    secrets: Any = Secrets('{"username": "root", "password": "p w%"}')

    parts = conninfo_to_dict(administrator_url(settings(hindsight_database_secret_arn="arn"), secrets))

    assert (parts["user"], parts["password"]) == ("root", "p w%")


def test_a_secret_of_another_form_is_named() -> None:
    secrets: Any = Secrets('{"token": "x"}')

    with pytest.raises(WrongSetting, match="HINDSIGHT_DATABASE_SECRET_ARN"):
        administrator_url(settings(hindsight_database_secret_arn="arn"), secrets)
