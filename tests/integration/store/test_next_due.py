"""When a sweep has to ask next: what will be told of in an hour is foretold for that hour, kind by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.ports.store import DueBy
from hindsight_aws.store.queries import queries
from tests.support.database import Database

SQL: Final = queries("crossing")
ASKED: Final = DueBy(observations=True, auto_consolidation=True, compaction_seconds=86_400)
PLACE: Final = "'{0}', '{0}'"
WORK: Final = "INSERT INTO consolidation_work (tenant_id, bank_id, scope_id, work_id, fact_id, state, "
OPERATION: Final = "INSERT INTO operations (tenant_id, bank_id, operation_id, kind, subject, "
HELD: Final = "'{0}', '{0}', '{0}', '{0}', '{0}'"
EVENT: Final = (
    "INSERT INTO webhooks (tenant_id, bank_id, webhook_id, url, event_types, method, timeout_seconds, listens_since) "
    "VALUES ('{0}', '{0}', '{0}', 'u', '{{}}', 'POST', 30, 'epoch'); "
    "INSERT INTO webhook_events (tenant_id, bank_id, event_id, event, operation_id, status, created_at) "
    "VALUES ('{0}', '{0}', '{0}', 'e', '{0}', 'completed', {at})"
)
KEPT: Final = (
    "INSERT INTO kept_files (tenant_id, bank_id, file_id, object_key, filename, content_type, size, operation_id, "
    "retain_operation_id, "
)
KINDS: Final = {
    "consolidation": WORK + "due_at) VALUES (" + HELD + ", 'pending', {at})",
    "revival": WORK + "failed_at, revivals) VALUES (" + HELD + ", 'failed', {at} - interval '600 seconds' * "
    "(1 + 0.25 * (hashtextextended('{0}', 0) & 1023) / 1023.0), 1)",
    "parked": WORK + "due_at) VALUES (" + HELD + ", 'pending', now() - interval '1 day'); "
    "INSERT INTO tenant_parking (tenant_id, parked_until, limit_name, reason) VALUES ('{0}', {at}, 'usd', 'r')",
    "retain": OPERATION + "due_at) VALUES (" + PLACE + ", '{0}', 'retain', 's', {at})",
    "held": OPERATION + "lease_until) VALUES (" + PLACE + ", '{0}', 'transfer', 's', {at})",
    "links": "INSERT INTO link_maintenance (tenant_id, bank_id, kind, item_id, due_at) VALUES (" + PLACE
    + ", 'fact', '{0}', {at})",
    "compaction": "UPDATE scopes SET unmeasured_since = {at} - interval '1 day' * (0.75 + 0.5 * "
    "(hashtextextended('{0}', 0) & 1023) / 1023.0)",
    "pages": "UPDATE scopes SET unread_since = {at} - interval '5 minutes'",
    "shadow": "UPDATE scopes SET rebuilds = '{0}', lease_until = {at}",
    "webhook": "INSERT INTO webhook_deliveries (tenant_id, bank_id, delivery_id, event_id, url, due_at) VALUES ("
    + PLACE + ", '{0}', '{0}', 'u', {at})",
    "erasure": "INSERT INTO erasures (tenant_id, bank_id, erasure_id, bank, kind, subject, due_at) VALUES (" + PLACE
    + ", '{0}', 'b', 'bank', 's', {at})",
    "kept_files": KEPT + "created_at) VALUES (" + PLACE
    + ", '{0}', 'k', 'f', 't', 1, '{0}', '{0}', {at} - interval '1 day')",
}  # fmt: skip


@pytest.fixture
def rows(module_database: Database) -> Iterator[psycopg.Connection]:
    """A transaction that sees no tenant but what it writes itself, past every constraint; it is rolled back."""
    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute(
            "SET session_replication_role = replica; SET search_path = hindsight, public; TRUNCATE tenants CASCADE"
        )
        yield admin
        admin.rollback()


def foretold(rows: psycopg.Connection) -> datetime | None:
    found = rows.execute(SQL["next_due"].text, asdict(ASKED)).fetchone()
    return found[0] if found else None


def present(rows: psycopg.Connection) -> datetime:
    found = rows.execute("SELECT now()").fetchone()
    assert found is not None
    now: datetime = found[0]
    return now


def told(rows: psycopg.Connection) -> int:
    return len(rows.execute(SQL["due_work"].text, {"at_most": 10, **asdict(ASKED)}).fetchall())


def write(rows: psycopg.Connection, kind: str, at: str, **config: object) -> None:
    own = str(uuid4())
    rows.execute("SAVEPOINT before")
    rows.execute(f"INSERT INTO banks (tenant_id, bank_id, external_id) VALUES ({PLACE}, 'bank')".format(own).encode())
    rows.execute(
        "INSERT INTO scopes (tenant_id, bank_id, scope_id, scope_key, tags, created_at) "
        f"VALUES ({PLACE}, '{{0}}', '', '{{{{}}}}', 'epoch')".format(own).encode()
    )
    rows.execute(KINDS[kind].format(own, at=at).encode())


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_will_be_due_is_foretold_for_when_it_will_be_told(rows: psycopg.Connection, kind: str) -> None:
    now = present(rows)

    write(rows, kind, "now() + interval '1 hour'")
    later, early = foretold(rows), told(rows)
    rows.execute("ROLLBACK TO before")
    write(rows, kind, "now() - interval '1 second'")
    due = foretold(rows)

    assert later is not None
    assert abs(later - now - timedelta(hours=1)) < timedelta(minutes=1)
    assert early == 0
    assert told(rows) == 1
    assert due is not None
    assert due <= now


def test_an_event_that_a_hook_was_not_told_of_is_due_at_once(rows: psycopg.Connection) -> None:
    rows.execute(EVENT.format(uuid4(), at="now() - interval '1 minute'").encode())
    now = present(rows)

    due = foretold(rows)

    assert due is not None
    assert due <= now
    assert told(rows) == 1


def test_a_file_that_its_document_let_go_of_is_due_at_once(rows: psycopg.Connection) -> None:
    rows.execute(
        f"{KEPT} held_at) VALUES ({PLACE}, '{{0}}', 'k', 'f', 't', 1, '{{0}}', '{{0}}', now())".format(uuid4()).encode()
    )

    due = foretold(rows)

    assert due is not None
    assert due <= present(rows)


def test_nothing_is_foretold_where_nothing_waits_or_what_waits_is_not_wanted(rows: psycopg.Connection) -> None:
    nothing = foretold(rows)
    write(rows, "consolidation", "'infinity'")
    rows.execute(OPERATION.encode() + b"due_at) VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), "
                 b"'consolidation', 's', now())")  # fmt: skip
    assert nothing is None
    assert foretold(rows) is None
