"""Keys and tenants in the database: rotation, last use, suspension."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import psycopg
import pytest

from hindsight_aws.errors import (
    AccessDenied,
    Conflict,
    InvalidRequest,
    NotFound,
    Unauthenticated,
    WorkRaced,
)
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import NewKey, Permission, Principal
from hindsight_aws.ports.store import DueBy
from hindsight_aws.ports.tenants import KeySummary
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.queries import queries
from hindsight_aws.tenants.authenticate import authenticate
from hindsight_aws.tenants.keys import KeyState, create_key, revoke_key, rotate_key, state_of
from hindsight_aws.tenants.manage import resume_tenant, suspend_tenant
from tests.support.contention import until_blocked
from tests.support.database import Database, make_tenant
from tests.support.seed import seed_bank

HOLDER = NewKey(
    "bot",
    frozenset({Permission.READ, Permission.WRITE}),
    ("a:*",),
    {"tags": ["user:a"]},
    frozenset({"observation"}),
    (("company:acme",),),
)
HOUR = timedelta(hours=1)


@pytest.fixture
def tenant_id(module_database: Database) -> TenantId:
    return make_tenant(module_database)


@pytest.fixture(scope="module")
def reader(module_database: Database) -> Iterator[PostgresStore]:
    """The store as the recall function sees it."""
    opened = PostgresStore(lambda: module_database.read_url, connect_for_s=30.0)
    yield opened
    opened.close()


def _who(store: PostgresStore, token: str) -> Principal:
    return authenticate(store, Settings(), f"Bearer {token}")


def _listed(owner_store: PostgresStore, tenant_id: TenantId) -> dict[UUID, KeySummary]:
    with owner_store.transaction(tenant_id) as tx:
        return {key.key_id: key for key in tx.tenants.list_keys()}


def test_a_rotated_key_and_its_successor_are_one_principal_until_the_overlap_ends(
    owner_store: PostgresStore, module_store: PostgresStore, tenant_id: TenantId
) -> None:
    now = datetime.now(UTC)
    old = create_key(owner_store, tenant_id, HOLDER, None, now)

    new = rotate_key(owner_store, tenant_id, old.key_id, HOUR, now).made
    newest = rotate_key(owner_store, tenant_id, new.key_id, timedelta(0), now).made

    assert _who(module_store, old.token) == _who(module_store, newest.token)
    assert _who(module_store, newest.token).subject == f"bot#{old.key_id}"
    with pytest.raises(Unauthenticated, match="expired"):
        _who(module_store, new.token)
    keys = _listed(owner_store, tenant_id)
    assert (keys[old.key_id].successor_id, keys[new.key_id].predecessor_id) == (new.key_id, old.key_id)
    assert keys[newest.key_id].predecessor_id == new.key_id
    assert keys[old.key_id].expires_at == now + HOUR
    later = now + timedelta(seconds=1)
    assert {key: state_of(keys[key], later) for key in keys} == {
        old.key_id: KeyState.ROTATED, new.key_id: KeyState.EXPIRED, newest.key_id: KeyState.ACTIVE,
    }  # fmt: skip


def test_a_key_never_works_longer_for_being_rotated_and_its_successor_lives_as_long_as_it_was_to(
    owner_store: PostgresStore, tenant_id: TenantId
) -> None:
    now = datetime.now(UTC)
    old = create_key(owner_store, tenant_id, HOLDER, now + HOUR, now)

    rotated = rotate_key(owner_store, tenant_id, old.key_id, 24 * HOUR, now)

    assert rotated.predecessor_until == now + HOUR
    assert rotated.made.expires_at is not None
    assert abs(rotated.made.expires_at - (now + HOUR)) < timedelta(minutes=1)
    assert _listed(owner_store, tenant_id)[old.key_id].expires_at == now + HOUR


def test_what_is_over_or_was_rotated_is_not_rotated(owner_store: PostgresStore, tenant_id: TenantId) -> None:
    now = datetime.now(UTC)
    rotated, revoked = (create_key(owner_store, tenant_id, HOLDER, None, now).key_id for _ in range(2))
    expired = create_key(owner_store, tenant_id, HOLDER, now + HOUR, now).key_id
    rotate_key(owner_store, tenant_id, rotated, HOUR, now)
    revoke_key(owner_store, tenant_id, revoked)

    for key_id, reason in ((rotated, "its successor is"), (revoked, "was revoked"), (expired, "has expired")):
        with pytest.raises(Conflict, match=reason):
            rotate_key(owner_store, tenant_id, key_id, timedelta(0), now + 2 * HOUR if key_id == expired else now)
    with pytest.raises(NotFound):
        rotate_key(owner_store, tenant_id, uuid4(), HOUR, now)
    for overlap, expires_at in ((timedelta(days=91), None), (HOUR, now - HOUR)):
        with pytest.raises(InvalidRequest):
            rotate_key(owner_store, tenant_id, rotated, overlap, now, expires_at)


def test_of_two_rotations_at_once_the_second_is_told_of_the_first(
    owner_store: PostgresStore, module_database: Database, tenant_id: TenantId
) -> None:
    now = datetime.now(UTC)
    old = create_key(owner_store, tenant_id, HOLDER, None, now)
    url = f"{module_database.owner_url}&options=-csearch_path%3Dhindsight,public"
    other = PostgresStore(lambda: url, connect_for_s=30.0)

    with ThreadPoolExecutor(1) as pool:
        with owner_store.transaction(tenant_id) as tx:
            tx.tenants.lock_key(old.key_id)
            second = pool.submit(rotate_key, other, tenant_id, old.key_id, HOUR, now)
            until_blocked(module_database)
            tx.tenants.add_successor(old.key_id, successor := uuid4(), b"hash of the first", None)
            tx.tenants.end_key_by(old.key_id, now + HOUR)
        with pytest.raises(Conflict, match=str(successor)):
            second.result()
    other.close()


def test_the_database_takes_no_second_successor(
    owner_store: PostgresStore, module_database: Database, tenant_id: TenantId
) -> None:
    now = datetime.now(UTC)
    old = create_key(owner_store, tenant_id, HOLDER, None, now)
    rotate_key(owner_store, tenant_id, old.key_id, HOUR, now)

    with psycopg.connect(module_database.admin_url) as admin, pytest.raises(psycopg.errors.UniqueViolation):
        admin.execute(
            "INSERT INTO hindsight.api_keys (tenant_id, key_id, key_hash, subject, permissions, predecessor_id) "
            "VALUES (%s, gen_random_uuid(), gen_random_uuid()::text::bytea, 's', '{read}', %s)",
            (tenant_id, old.key_id),
        )


def test_a_use_is_noted_once_an_hour_and_never_by_the_reading_role(
    owner_store: PostgresStore,
    module_store: PostgresStore,
    reader: PostgresStore,
    module_database: Database,
    tenant_id: TenantId,
) -> None:
    key = create_key(owner_store, tenant_id, HOLDER, None, datetime.now(UTC))

    def age(minutes: int) -> None:
        with psycopg.connect(module_database.admin_url) as admin:
            admin.execute("UPDATE hindsight.key_uses SET last_used_at = now() - make_interval(mins => %s)", (minutes,))

    def used() -> datetime | None:
        return _listed(owner_store, tenant_id)[key.key_id].last_used_at

    _who(reader, key.token)
    before = used()
    _who(module_store, key.token)
    first = used()
    age(50)
    aged = used()
    _who(module_store, key.token)
    within_the_hour = used()
    age(61)
    _who(module_store, key.token)
    after = used()

    assert before is None
    assert first is not None
    assert within_the_hour == aged
    assert after is not None
    assert after > first


def test_nobody_notes_a_use_of_another_tenants_key(
    owner_store: PostgresStore, module_store: PostgresStore, module_database: Database, tenant_id: TenantId
) -> None:
    key = create_key(owner_store, tenant_id, HOLDER, None, datetime.now(UTC))
    other = make_tenant(module_database)

    with pytest.raises(WorkRaced), module_store.transaction(other) as tx:
        tx.tenants.note_use(key.key_id)

    assert _listed(owner_store, tenant_id)[key.key_id].last_used_at is None


def test_a_key_that_only_recalls_was_used_when_its_last_call_cost_something(
    owner_store: PostgresStore, module_database: Database, tenant_id: TenantId
) -> None:
    key = create_key(owner_store, tenant_id, HOLDER, None, datetime.now(UTC))

    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute(
            "INSERT INTO hindsight.usage_ledger (tenant_id, entry_id, subject, task, model_id, status) "
            "VALUES (%s, gen_random_uuid(), %s, 'embed', 'm', 'ok')",
            (tenant_id, f"bot#{key.key_id}"),
        )

    assert _listed(owner_store, tenant_id)[key.key_id].last_used_at is not None


def test_a_suspended_tenant_is_refused_at_once_and_served_again_when_resumed(
    owner_store: PostgresStore, module_store: PostgresStore, reader: PostgresStore, tenant_id: TenantId
) -> None:
    key = create_key(owner_store, tenant_id, HOLDER, None, datetime.now(UTC))

    suspend_tenant(owner_store, tenant_id)
    suspend_tenant(owner_store, tenant_id)

    for store in (module_store, reader):
        with pytest.raises(AccessDenied, match="suspended"):
            _who(store, key.token)
    resume_tenant(owner_store, tenant_id)
    assert _who(module_store, key.token).tenant_id == tenant_id


def test_work_of_a_suspended_tenant_is_not_handed_out_and_comes_back_with_it(
    owner_store: PostgresStore, module_store: PostgresStore, module_database: Database
) -> None:
    resting, working = (
        seed_bank(module_database, make_tenant(module_database), name, name) for name in ("resting", "working")
    )
    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute("UPDATE hindsight.operations SET status = 'pending', due_at = now(), lease_until = '-infinity'")
        row = admin.execute(
            "SELECT operation_id, kind FROM hindsight.operations WHERE tenant_id = %s", (resting.tenant,)
        ).fetchone()
    assert row is not None
    operation_id, kind = row

    def due(tenant_id: TenantId) -> set[str]:
        found = module_store.due_work(100, DueBy(observations=True, auto_consolidation=True, everywhere=True))
        return {work.kind for work in found if work.tenant_id == tenant_id}

    def lease() -> object:
        with module_store.transaction(resting.tenant) as tx:
            return tx.operations.lease(operation_id, 60, kind)

    before = due(resting.tenant)
    suspend_tenant(owner_store, resting.tenant)
    meanwhile, lease_meanwhile = due(resting.tenant), lease()
    of_others = due(working.tenant)
    resume_tenant(owner_store, resting.tenant)

    assert f"operation:{kind}" in before
    assert (meanwhile - DELETES, lease_meanwhile) == (set(), None)
    assert of_others == before
    assert due(resting.tenant) == before
    assert lease() is not None


@pytest.mark.parametrize(
    ("topic", "lease"),
    [
        ("operations", "lease"), ("consolidation", "take_scope_lease"), ("links", "take_lease"),
        ("refreshes", "claim"), ("deliveries", "claim"),
    ],
)  # fmt: skip
def test_no_lease_is_given_for_a_suspended_tenant(topic: str, lease: str) -> None:
    text = queries(topic)[lease].text

    assert (
        b"NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = %(tenant_id)s AND t.suspended_at IS NOT NULL)" in text
    )


DELETES = {"seal", "audit", "erasure"}
"""Kinds of work that only take away what is due for it."""
GOES_ON = {
    "api_keys": "who calls is told before it is told that its tenant is suspended",
    "tenants": "this is where it stands who is suspended",
    "key_uses": "no work",
    "tenant_limits": "no work",
    "tenant_parking": "no work",
    "limit_alerts": "an alert is told to the operator, not done for the tenant",
    "usage_ledger": "no work",
    "sealed_generations": "what is due for deletion is deleted",
    "audit_log": "likewise",
    "erasures": "likewise",
    "kept_files": "likewise",
    "reembedded_vectors": "ids alone; the operations that they are told with are hidden",
}
"""Tables that the router reads of suspended tenants too; of all others due_work must hand nothing out."""


def test_every_table_that_the_router_reads_hides_suspended_tenants(module_database: Database) -> None:
    with psycopg.connect(module_database.admin_url) as admin:
        policies = admin.execute(
            "SELECT tablename, qual FROM pg_policies "
            "WHERE schemaname = 'hindsight' AND 'hindsight_router' = ANY (roles)"
        ).fetchall()

    assert {table for table, qual in policies if "suspended_at" not in qual} <= set(GOES_ON)
    assert sum("suspended_at" in qual for _, qual in policies) >= 11
