"""Two tenants on one database: whatever one sends, no answer tells of the other, and no row of theirs is changed.

A failure names seed and request; `--hypothesis-seed` repeats the run.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors, sql

from hindsight_aws.api.app import GROUPS
from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.conftest import Dose
from tests.support.admin import admin
from tests.support.api import Answer, Caller, FakeRuntime, app_of, make_caller, make_key, make_services
from tests.support.calls import TABLE, Ids, ask, ids_of
from tests.support.database import Database, make_tenant
from tests.support.intruder import OWN_WORDS, Intruder, Request, shrunk
from tests.support.seed import Seeded, fingerprint, seed_bank

MARK, SECRET = "Xanthippe", "Zzyzxqua"
"""What the victim's things are called, which an intruder may know; and what stands in each of their texts."""
DOSES = {"small": 600, "deep": 20_000}
UNMAKING = ("/clear", "/revert", "/rebuild", "/erasures", "/mcp", "/mcp/", "/mcp/{bank_id}", "/mcp/{bank_id}/")
FRESH_EVERY = 150
"""Requests after which the intruder has a new bank, as the last has been deleted by then."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A victim whose every text holds the secret, and an intruder who knows what their things are called."""

    database: Database
    victim: Seeded
    attacker: TenantId
    holder: Caller
    caller: Caller
    intruder: Intruder
    unknown: frozenset[str]


@pytest.fixture(scope="module")
def scene(module_database: Database, module_store: PostgresStore, owner_store: PostgresStore) -> Scene:
    services = make_services(
        module_store, None, hindsight_reflect_url_wait_seconds=0.01, hindsight_retain_sync_seconds=0.2
    )
    caller = make_caller(services)
    victim = seed_bank(module_database, make_tenant(module_database, f"{MARK} and company"), f"bank-{MARK}", MARK)
    holder = replace(caller, key=make_key(owner_store, victim.tenant))
    watermarks = _live(holder, victim)
    _hide_secrets(module_database, victim.tenant)
    attacker = make_tenant(module_database, "intruder")
    names, ids = _names(module_database, victim.tenant)
    # An id within one of these is sent with it, may be kept as somebody's own words, and told back much later.
    held_within = [*watermarks, *_cursors(module_database, victim.tenant)]
    loot = {*names, *ids, *held_within}
    known = " ".join([*ids_of(victim).values(), *names, *held_within])
    unknown = frozenset(one for place, one in enumerate(ids) if place % 2 and one not in known)
    intruder = Intruder(
        _openapi(services),
        ids_of(victim),
        sorted(loot - unknown),
    )
    caller = replace(caller, key=make_key(owner_store, attacker))
    return Scene(module_database, victim, attacker, holder, caller, intruder, unknown)


def test_no_request_learns_or_changes_anything_of_another_tenant(
    scene: Scene, dose: Dose, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    before = fingerprint(scene.database, scene.victim.tenant)
    wrong: list[str] = []
    own: Ids = {}
    statuses: Counter[int] = Counter()

    with caplog.at_level(logging.DEBUG):
        for number in range(DOSES[dose]):
            if number % FRESH_EVERY == 0:
                own = ids_of(seed_bank(scene.database, scene.attacker, f"own-{number}", f"Yorick{number}"))
            request = scene.intruder.request(random.Random(f"{seed}:{number}"), own)
            answer = request.send(scene.caller)
            statuses[answer.status] += 1
            if why := _wrong(scene, request, answer):
                least = shrunk(request, partial(_fails, scene, why))
                wrong.append(f"seed {seed}, request {number}: {why}: {least}")
            assert not any(word in caplog.text for word in (SECRET, OWN_WORDS)), f"a log line of request {number}"
            caplog.clear()

    assert wrong == []
    assert fingerprint(scene.database, scene.victim.tenant) == before
    assert sum(count for status, count in statuses.items() if status < 300) > DOSES[dose] / 3


def test_the_victim_is_told_the_secret_everywhere(scene: Scene) -> None:
    """Else no request of the intruder's could have been told it."""
    answers = {
        route: ask(scene.holder, route, ids_of(scene.victim)).body.decode()
        for route in TABLE
        if route.startswith("GET") or route.endswith(("/recall", "/export"))
    }

    telling = {route for route, body in answers.items() if SECRET in body}
    assert len(telling) >= 15, sorted(set(answers) - telling)


def _fails(scene: Scene, why: str, request: Request) -> bool:
    return _wrong(scene, request, request.send(scene.caller)) == why


def _wrong(scene: Scene, request: Request, answer: Answer) -> str | None:
    """What is wrong with the answer; None when nothing is.  An echo of what was sent, as part of a cursor, is not."""
    told = f"{answer.body.decode(errors='replace')} {answer.headers}"
    if SECRET in told:
        return "tells a text of another tenant"
    if found := sorted(one for one in scene.unknown if one in told and one not in repr(request)):
        return f"tells an id of another tenant: {found[0]}"
    return None if answer.status < 500 or _is_fair(answer) else f"answers {answer.status}"


def _is_fair(answer: Answer) -> bool:
    """Whether it says that the operation is not served, or when to come again."""
    return answer.status == 501 or (answer.status == 503 and "retry-after" in answer.headers)


def _openapi(services: FakeRuntime) -> dict[str, Any]:
    found: dict[str, Any] = app_of(frozenset(GROUPS), services).openapi()
    return found


def _live(victim: Caller, seeded: Seeded) -> list[str]:
    """Has the victim use every route that makes something, in words of their own; the watermarks they are given."""
    marks = []
    bank = f"/v1/default/banks/{seeded.bank}"
    text = f"Speak of {MARK} alone."
    asked = victim("PATCH", f"{bank}/config", {"updates": {"retain_mission": text, "observations_mission": text}})
    assert asked.status == 200
    for route, body in TABLE.items():
        if route.startswith("POST") and not route.endswith(UNMAKING):
            own = ids_of(seeded) | {"document_id": f"vines-{MARK}"} if "items" in str(body) else ids_of(seeded)
            answer = ask(victim, route, own, _in_own_words)
            assert answer.status < 500 or answer.status in {501, 503}, (route, answer.body)
            marks.append(answer.headers.get("x-hindsight-watermark", ""))
    return [mark for mark in marks if mark]


def _in_own_words(body: str) -> str:
    """The body with the victim's name in each of its sentences."""
    return (
        body.replace(". ", f" {MARK} says. ")
        .replace('."', f' {MARK} says."')
        .replace('": "n"', f'": "n of {MARK} too"')
    )


def _hide_secrets(database: Database, tenant: TenantId) -> None:
    """Puts the secret into every text of the tenant's that is more than a name, in whatever tables there are."""
    hidden = 0
    for table, column, kind in _columns(database, ("text", "jsonb", "text[]")):
        changed = sql.SQL(
            "UPDATE hindsight.{table} SET {column} = replace({column}::text, {mark}, {both})::{kind} "
            "WHERE tenant_id = {tenant} AND {column}::text ~ {words}"
        ).format(
            table=sql.Identifier(table),
            column=sql.Identifier(column),
            kind=sql.SQL(kind),
            mark=sql.Literal(MARK),
            both=sql.Literal(f"{MARK} {SECRET}"),
            words=sql.Literal(f"[[:alpha:]] {MARK}|{MARK} [[:alpha:]]"),
            tenant=sql.Literal(str(tenant)),
        )
        with admin(database.admin_url) as connection:
            try:
                hidden += connection.execute(changed).rowcount
            except errors.CheckViolation:
                continue
    assert hidden >= 12


def _names(database: Database, tenant: TenantId) -> tuple[Sequence[str], Sequence[str]]:
    """Whatever of the tenant's might name a thing: short texts without the secret; and their ids."""
    names: set[str] = set()
    ids: set[str] = set()
    with admin(database.admin_url) as connection:
        for table, column, _ in _columns(database, ("text", "uuid", "text[]")):
            found = connection.execute(
                sql.SQL("SELECT DISTINCT {column} FROM hindsight.{table} WHERE tenant_id = {tenant}").format(
                    table=sql.Identifier(table), column=sql.Identifier(column), tenant=sql.Literal(str(tenant))
                )
            ).fetchall()
            for (value,) in found:
                ids |= {str(value)} if isinstance(value, UUID) else set()
                texts = value if isinstance(value, list) else [value]
                names |= {text for text in texts if isinstance(text, str) and len(text) < 200 and SECRET not in text}
    return sorted(names), sorted(ids)


def _cursors(database: Database, tenant: TenantId) -> list[str]:
    """Where the tenant's lists of deliveries go on."""
    with admin(database.admin_url) as connection:
        found = connection.execute(
            "SELECT created_at, delivery_id FROM webhook_deliveries WHERE tenant_id = %s", (tenant,)
        ).fetchall()
    return [f"{moment}~{delivery}" for moment, delivery in found]


def _columns(database: Database, kinds: Sequence[str]) -> list[tuple[str, str, str]]:
    """Table, column and type of every column of these types in tables that bear a tenant."""
    with admin(database.admin_url) as connection:
        found = connection.execute(
            "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute AS a "
            "JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_attribute AS t ON t.attrelid = c.oid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' AND t.attname = 'tenant_id' "
            "AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' "
            "AND format_type(a.atttypid, a.atttypmod) = ANY (%s) ORDER BY 1, 2",
            (list(kinds),),
        ).fetchall()
    return [(str(table), str(column), str(kind)) for table, column, kind in found]
