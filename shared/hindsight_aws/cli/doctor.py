"""Checks what a deployment stands on, and says in a sentence what is wrong.  Called by the `doctor` command."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from hindsight_aws.banks.config import resolve
from hindsight_aws.errors import DatabaseUnavailable, HindsightError
from hindsight_aws.settings import Settings, WrongSetting, load_settings
from hindsight_aws.store.inspection import Inspection

_LEAST_VECTOR = (0, 8)
_REACH_FOR_S = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    is_ok: bool
    sentence: str


def check_all(admin_url: str) -> list[Finding]:
    """Everything, in order; what cannot be looked at without the thing before it is left out."""
    try:
        settings = load_settings()
        resolve(settings, {})
    except WrongSetting as wrong:
        return [Finding(False, f"A setting is wrong: {wrong}")]
    findings = [Finding(True, f"Settings can be read; this is a {settings.hindsight_environment} process.")]
    findings += _database(settings)
    if admin_url:
        findings += _migrations(admin_url)
    findings += _queue(settings)
    findings += _models(settings)
    return findings


def _database(settings: Settings) -> Iterator[Finding]:
    if not settings.hindsight_database_url:
        yield Finding(False, "HINDSIGHT_DATABASE_URL is not set.")
        return
    inspection = Inspection(lambda: settings.hindsight_database_url, settings.hindsight_database_connect_seconds)
    try:
        yield from _inside(inspection)
    except DatabaseUnavailable as broken:
        yield Finding(False, f"The database is out of reach: {broken}.")
    finally:
        inspection.close()


def _inside(inspection: Inspection) -> Iterator[Finding]:
    role = inspection.role()
    yield Finding(True, f"The database answers, as role {role.name}.")
    faults = [
        fault
        for fault, is_there in (
            ("is a superuser", role.is_superuser),
            ("bypasses row-level security", role.bypasses_policies),
            ("owns tables of the schema", role.owns_tables),
        )
        if is_there
    ]
    if faults:
        yield Finding(False, f"Role {role.name} {' and '.join(faults)}: use hindsight_write or hindsight_read.")
    else:
        yield Finding(True, f"Role {role.name} is bound by row-level security.")
    tables = inspection.table_count()
    unforced = inspection.unforced_tables()
    if tables == 0:
        yield Finding(False, "The schema is empty: run `hindsight-aws migrate`.")
    elif unforced:
        yield Finding(False, f"Row-level security is not forced on: {', '.join(unforced)}.")
    else:
        yield Finding(True, f"Row-level security is forced on every one of {tables} tables that this role may touch.")
    yield _vector(inspection.vector_version())


def _vector(version: str | None) -> Finding:
    if version is None:
        return Finding(False, "The extension `vector` is missing.")
    found = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return Finding(found >= _LEAST_VECTOR, f"The extension `vector` is {version}; 0.8 or newer is needed.")


def _migrations(admin_url: str) -> Iterator[Finding]:
    from hindsight_aws.store.migrator import pending

    waiting = pending(admin_url)
    if waiting:
        yield Finding(False, f"Migrations not applied yet: {', '.join(waiting)}.")
    else:
        yield Finding(True, "Every migration was applied.")


def _queue(settings: Settings) -> Iterator[Finding]:
    url = settings.hindsight_queue_ingest_url
    if not url:
        yield Finding(False, "HINDSIGHT_QUEUE_INGEST_URL is not set: async retains wait for the sweep.")
        return
    yield _reach("The ingest queue", url)


def _models(settings: Settings) -> Iterator[Finding]:
    if settings.hindsight_api_llm_provider == "none":
        yield Finding(True, "No text model is configured: retain stores chunks as they are.")
    try:
        yield _reach("Bedrock", _bedrock_endpoint(settings))
    except HindsightError as wrong:
        yield Finding(False, f"Bedrock cannot be asked: {wrong}.")


def _bedrock_endpoint(settings: Settings) -> str:
    from hindsight_aws.aws.bedrock import BedrockClients

    return str(BedrockClients(settings.aws_region).runtime.meta.endpoint_url)


def _reach(name: str, url: str) -> Finding:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_REACH_FOR_S).close()
    except OSError as broken:
        return Finding(False, f"{name} is out of reach at {parts.hostname}:{port}: {broken}.")
    return Finding(True, f"{name} can be reached at {parts.hostname}:{port}.")
