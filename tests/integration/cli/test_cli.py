"""The command line, against a real database."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID, uuid4

import psycopg
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


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code, out, told = _run(capsys, *arguments)
    assert code == 0, told
    return json.loads(out)


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
    unsure, _, asked = _run(capsys, "key", "revoke", tenant_id, made.split()[1], *where)
    _run(capsys, "key", "revoke", tenant_id, made.split()[1], "--yes", *where)
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
    assert (unsure, "give --yes" in asked) == (2, True)
    assert after is not None
    assert after.is_revoked


def test_tenants_are_listed_by_whoever_owns_the_schema(database: Database, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--database-url", database.owner_url)
    for name in ("Acme", "Bolt"):
        _run(capsys, "tenant", "create", name, *where)

    code, out, _ = _run(capsys, "tenant", "list", *where)

    assert code == 0
    assert [line.split()[-1] for line in out.splitlines()] == ["Acme", "Bolt"]


def test_a_key_is_rotated_and_the_list_tells_who_follows_whom(
    database: Database, store: PostgresStore, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--json", "--database-url", database.owner_url)
    tenant = _json(capsys, "tenant", "create", "Acme", *where)["tenant_id"]
    old = _json(capsys, "key", "create", tenant, "--scopes", "company:acme", "--expires", "90d", *where)

    new = _json(capsys, "key", "rotate", tenant, old["key_id"], "--overlap", "24h", *where)
    listed = {key["key_id"]: key for key in _json(capsys, "key", "list", tenant, *where)}
    code, out, _ = _run(capsys, "key", "list", tenant, "--database-url", database.owner_url)

    assert new["predecessor_id"] == old["key_id"]
    assert store.resolve_key(token_hash(new["token"])) is not None
    assert {key: row["state"] for key, row in listed.items()} == {old["key_id"]: "rotated", new["key_id"]: "active"}
    assert listed[old["key_id"]]["successor_id"] == new["key_id"]
    assert listed[new["key_id"]]["exact_scopes"] == [["company:acme"]]
    assert not any(made["token"] in out or made["token"] in str(listed) for made in (old, new))
    assert (code, "rotated until" in out, "not used" in out) == (0, True, True)


def test_a_tenant_is_shown_renamed_suspended_and_resumed(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--database-url", database.owner_url)
    tenant = _json(capsys, "tenant", "create", "Acme", "--json", *where)["tenant_id"]
    _run(capsys, "key", "create", tenant, *where)

    told = [
        _run(capsys, "tenant", *action, *where)[:2]
        for action in (
            ("rename", tenant, "Acme Ltd"), ("suspend", tenant), ("suspend", tenant, "--yes"), ("show", tenant),
            ("resume", tenant),
        )
    ]  # fmt: skip
    shown = _json(capsys, "tenant", "show", tenant, "--json", *where)

    assert [code for code, _ in told] == [0, 2, 0, 0, 0]
    assert "suspended  Acme Ltd" in told[3][1]
    assert (shown["name"], shown["state"], shown["working_keys"], shown["banks"]) == ("Acme Ltd", "served", 1, 0)


def test_a_database_out_of_reach_is_an_exit_code_of_its_own_and_an_error_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindsight_aws.cli.database._CONNECT_FOR_S", 0.1)

    code, out, told = _run(capsys, "tenant", "list", "--json", "--database-url", "postgresql://127.0.0.1:9/x")

    assert (code, out) == (3, "")
    assert set(json.loads(told)) == {"error"}


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
        (("key", "create", str(uuid4()), "--forced-tags", "null"), "forced tags must be an object"),
        (("key", "create", str(uuid4()), "--expires", "2020-01-01"), "must lie in the future"),
        (("key", "create", str(uuid4())), "no such tenant"),
        (("key", "revoke", str(uuid4()), str(uuid4()), "--yes"), "has no working key"),
        (("key", "rotate", str(uuid4()), str(uuid4())), "has no key"),
        (("key", "rotate", str(uuid4()), str(uuid4()), "--overlap", "365d"), "at most 90 days"),
        (("key", "create", str(uuid4()), "--name", "a\tb"), "printable"),
        (("tenant", "rename", str(uuid4()), "x"), "no such tenant"),
        (("tenant", "show", str(uuid4())), "no such tenant"),
        (("tenant", "suspend", str(uuid4()), "--yes"), "no such tenant"),
        (("tenant", "resume", str(uuid4())), "no such tenant"),
        (("tenant", "create", "x" * 201), "200 at most"),
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
    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
    _run(capsys, "tenant", "create", "Acme", "--database-url", database.owner_url)

    code, out, _ = _run(capsys, "doctor", "--admin-database-url", database.admin_url)

    assert "ok     Role hindsight_write is bound by row-level security." in out
    assert "ok     Role hindsight_read is bound by row-level security." in out
    assert "ok     Every migration was applied." in out
    assert "0.8 or newer is needed" in out
    assert "?      HINDSIGHT_QUEUE_<NAME>_URL is not set" in out
    assert "ok     1 tenants are served." in out
    assert "WARN   1 tenant is (" in out
    assert "without limits" in out
    assert code == 0


def test_doctor_in_the_account_tells_what_it_could_not_ask_and_finds_nothing_wrong(
    database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", NOBODY)

    found = _json(capsys, "doctor", "--json", "--database-url", database.admin_url)

    assert found["ok"]
    assert found["counts"]["wrong"] == 0
    unknown = [finding["sentence"] for finding in found["findings"] if finding["state"] == "not known"]
    assert sum("cannot be reached from here" in sentence for sentence in unknown) == len(unknown) - 2


def test_doctor_says_how_an_extension_that_an_upgrade_left_behind_is_renewed(
    database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("UPDATE pg_extension SET extversion = '0.8.0' WHERE extname = 'vector'")
        _, out, _ = _run(capsys, "doctor", "--database-url", database.admin_url)
        admin.execute(
            "UPDATE pg_extension SET extversion = (SELECT default_version FROM pg_available_extensions "
            "WHERE name = 'vector') WHERE extname = 'vector'"
        )

    assert "WARN   The extension `vector` is 0.8.0 and the server brings " in out
    assert "ALTER EXTENSION vector UPDATE." in out


def test_doctor_names_a_table_that_recall_may_change(
    database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("GRANT DELETE ON hindsight.banks TO hindsight_read")

        admin.commit()
        code, out, _ = _run(capsys, "doctor", "--database-url", database.admin_url)
        admin.execute("REVOKE DELETE ON hindsight.banks FROM hindsight_read")

    assert code == 1
    assert "WRONG  hindsight_read may write banks: revoke" in out


def test_doctor_refuses_a_role_that_the_policies_do_not_bind(
    database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_DATABASE_URL", database.admin_url)
    monkeypatch.setenv("HINDSIGHT_ENVIRONMENT", "local")

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
