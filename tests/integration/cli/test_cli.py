"""The command line, against a real database."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import pytest

from hindsight_aws.cli import main
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.tenants.tokens import token_hash
from tests.support.database import Database

NOBODY = "http://127.0.0.1:9"
"""An address at which nobody answers."""


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    told = capsys.readouterr()
    return code, told.out, told.err


def _token(out: str) -> str:
    found = re.search(r"^token  (hsk_\S+)$", out, re.MULTILINE)
    assert found is not None
    return found[1]


def test_a_key_that_was_made_opens_the_door_until_it_is_revoked(
    database: Database, store: PostgresStore, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--database-url", database.owner_url)
    _, tenant, _ = _run(capsys, "tenant", "create", "Acme", *where)
    tenant_id = tenant.strip()

    code, made, _ = _run(
        capsys, "key", "create", tenant_id, "--name", "bot", "--permissions", "read", "--banks", "a:*,b",
        "--forced-tags", '{"tags": ["user:a"]}', "--fact-types", "observation", "--exact-scope", "company:acme,team:x",
        "--exact-scope", "", "--expires", "30d", *where,
    )  # fmt: skip
    record = store.resolve_key(token_hash(_token(made)))
    _, listed, _ = _run(capsys, "key", "list", tenant_id, *where)
    _run(capsys, "key", "revoke", tenant_id, made.split()[1], *where)
    after = store.resolve_key(token_hash(_token(made)))

    assert code == 0
    assert record is not None
    assert (record.tenant_id, record.subject) == (UUID(tenant_id), "bot")
    assert (record.permissions, record.bank_patterns) == (frozenset({"read"}), ("a:*", "b"))
    assert record.forced_tags == {"tags": ["user:a"]}
    assert (record.fact_types, record.exact_scopes) == (frozenset({"observation"}), (("company:acme", "team:x"), ()))
    assert not record.is_expired
    assert "bot" in listed
    assert _token(made) not in listed
    assert after is not None
    assert after.is_revoked


def test_tenants_are_listed_by_whoever_owns_the_schema(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--database-url", database.owner_url)
    for name in ("Acme", "Bolt"):
        _run(capsys, "tenant", "create", name, *where)

    code, out, _ = _run(capsys, "tenant", "list", *where)

    assert code == 0
    assert [line.split("  ")[-1] for line in out.splitlines()] == ["Acme", "Bolt"]


def test_the_dev_tenant_is_made_once_and_gets_a_key_each_time(
    database: Database, store: PostgresStore, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = str(uuid4())
    arguments = ("dev-tenant", "--tenant", tenant, "--database-url", database.admin_url)

    _, first, _ = _run(capsys, *arguments)
    _, second, _ = _run(capsys, *arguments)

    assert "(was there)" not in first
    assert "(was there)" in second
    for out in (first, second):
        record = store.resolve_key(token_hash(_token(out)))
        assert record is not None
        assert str(record.tenant_id) == tenant


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("tenant", "create", " "), "a tenant needs a name"),
        (("key", "create", str(uuid4()), "--permissions", "all"), "permissions are read, write, admin"),
        (("key", "create", str(uuid4()), "--forced-tags", "{"), "forced tags are JSON"),
        (("key", "create", str(uuid4()), "--forced-tags", "[]"), "forced tags"),
        (("key", "create", str(uuid4()), "--expires", "2020-01-01"), "must lie in the future"),
        (("key", "create", str(uuid4())), "no such tenant"),
        (("key", "revoke", str(uuid4()), str(uuid4())), "has no working key"),
    ],
)
def test_a_wrong_command_says_why_and_fails(
    database: Database, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    code, _, told = _run(capsys, *arguments, "--database-url", database.owner_url)

    assert code == 1
    assert sentence in told


def test_migrating_an_up_to_date_database_changes_nothing(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = _run(capsys, "migrate", "--database-url", database.admin_url)

    assert code == 0
    assert "0 applied now" in out


def test_doctor_finds_a_function_role_sound(
    database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_DATABASE_URL", database.write_url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", NOBODY)

    code, out, _ = _run(capsys, "doctor", "--admin-database-url", database.admin_url)

    assert "ok     Role hindsight_write is bound by row-level security." in out
    assert "ok     Every migration was applied." in out
    assert "0.8 or newer is needed" in out
    assert "WRONG  HINDSIGHT_QUEUE_INGEST_URL is not set" in out
    assert "WRONG  Bedrock is out of reach at 127.0.0.1:9" in out
    assert code == 1


def test_doctor_refuses_a_role_that_the_policies_do_not_bind(
    database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_DATABASE_URL", database.admin_url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", NOBODY)

    code, out, _ = _run(capsys, "doctor")

    assert code == 1
    assert "WRONG  Role postgres is a superuser" in out


def test_doctor_names_a_wrong_variable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_CONSOLIDATION_STRATEGIES", '[{"scope": []}]')

    code, out, _ = _run(capsys, "doctor")

    assert code == 1
    assert "HINDSIGHT_API_CONSOLIDATION_STRATEGIES[0] has unknown key 'scope'" in out


def test_the_model_contract_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "model-contract")

    assert code == 0
    assert '"record_facts"' in out
