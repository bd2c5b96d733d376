"""How a function in the cloud proves to Postgres who it is: an IAM token, signed here, or the administrator's secret.

Called by runtime.py, the migrate door and doctor.  On a laptop the connection string needs no more than it says.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from hindsight_aws.errors import NoDatabaseToken
from hindsight_aws.settings import Settings, WrongSetting

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

_POSTGRES_PORT: Final = 5432


def login(settings: Settings) -> Callable[[], str]:
    """What gives a connection string that logs in now.

    A token lives for 15 minutes, so in the cloud each connection gets its own; signing one takes no network.
    What it gives raises NoDatabaseToken where there are no credentials, or no host or user to sign for.
    """
    url = settings.hindsight_database_url
    if settings.hindsight_environment == "local" or conninfo_to_dict(url).get("password"):
        return lambda: url
    return lambda: make_conninfo(url, password=_token(url, settings.aws_region))


def administrator_url(settings: Settings, secrets: SecretsManagerClient | None = None) -> str:
    """The connection string of the administrator that may migrate: the setting, with the secret's user and password.

    Raises: WrongSetting when the secret holds neither, or when the setting, of which it repeats nothing, is no
    connection string.
    """
    try:
        conninfo_to_dict(settings.hindsight_database_url)
    except ProgrammingError:  # which quotes what it cannot read, a password too
        raise WrongSetting("HINDSIGHT_DATABASE_URL: not a connection string of Postgres") from None
    if not settings.hindsight_database_secret_arn:
        return settings.hindsight_database_url
    found = json.loads(
        (secrets or _secrets(settings)).get_secret_value(SecretId=settings.hindsight_database_secret_arn)[
            "SecretString"
        ]
    )
    if not isinstance(found, dict) or not {"username", "password"} <= found.keys():
        raise WrongSetting("HINDSIGHT_DATABASE_SECRET_ARN: the secret must hold username and password")
    return make_conninfo(settings.hindsight_database_url, user=str(found["username"]), password=str(found["password"]))


def _token(url: str, region: str) -> str:
    import boto3
    from botocore.exceptions import BotoCoreError

    parts = conninfo_to_dict(url)
    if not parts.get("host") or not parts.get("user"):
        raise NoDatabaseToken("HINDSIGHT_DATABASE_URL names no host or no user to sign a token for")
    rds = boto3.session.Session().client("rds", region_name=region)
    try:
        token: str = rds.generate_db_auth_token(
            DBHostname=str(parts["host"]), Port=int(parts.get("port") or _POSTGRES_PORT), DBUsername=str(parts["user"])
        )
    except BotoCoreError as failed:
        raise NoDatabaseToken(f"no token could be signed to log in with ({type(failed).__name__})") from failed
    return token


def _secrets(settings: Settings) -> SecretsManagerClient:
    import boto3

    return boto3.session.Session().client("secretsmanager", region_name=settings.aws_region)
