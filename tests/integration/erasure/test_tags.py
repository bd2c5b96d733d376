"""What carries a tag erased: with all that rests on it, and nothing else."""

from __future__ import annotations

from typing import cast
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from hindsight_aws.erasure import erase_tags
from hindsight_aws.erasure.carry import carry_on
from hindsight_aws.errors import AccessDenied, InvalidField, NotFound
from hindsight_aws.model.ids import BankId, OperationId, TenantId
from hindsight_aws.model.operation import RETAIN, NewOperation
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import parse_group
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import admin
from tests.support.database import Database
from tests.support.erasing import erasure_ports, tables_with
from tests.support.invariants import broken
from tests.support.models import NotedWakeups
from tests.support.seed import Seeded, seed_bank
from tests.support.units import Unit, insert_units

MARK = "Xanthippe"
KEPT = {"audit_log", "banks", "bank_aliases", "knowledge_pages", "webhooks", "erasures"}
"""What is the bank's and carries no tags; the seed names each of these after its mark."""


@pytest.fixture
def principal(tenant: TenantId) -> Principal:
    return Principal(tenant, "tester")


@pytest.fixture
def seeded(database: Database, tenant: TenantId) -> Seeded:
    """A bank of which everything is tagged `user:a`, with facts of `user:b` beside, and a belief on both."""
    seeded = seed_bank(database, tenant, "b", MARK)
    own = uuid4()
    insert_units(
        database.admin_url,
        tenant,
        seeded.bank_id,
        [
            Unit("Yorick grows pears.", id=own, tags=("user:b",), document="doc/Yorick", entities=("Yorick",)),
            Unit("Yorick grows fruit.", "observation", tags=("user:b",), sources=(own,)),
            Unit("Both work outdoors, Xanthippe too.", "observation", sources=(own, seeded.fact)),
            Unit("Yorick told of user:abc.", tags=("user:abc",), document="doc/alike"),
        ],
    )
    _open_work(database, seeded.bank_id)
    return seeded


def _open_work(database: Database, bank_id: BankId) -> None:
    """What consolidation would have left of the evidence: each fact done in the scope of each belief on it."""
    with admin(database.admin_url) as connection:
        connection.execute(
            "INSERT INTO consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id, state, outcome, done_at) "
            "SELECT DISTINCT ON (e.fact_id, o.scope_id) e.tenant_id, e.bank_id, gen_random_uuid(), e.fact_id, "
            "o.scope_id, 'done', 'created', now() FROM observation_evidence e "
            "JOIN memory_units o ON o.bank_id = e.bank_id AND o.id = e.observation_id WHERE e.bank_id = %s "
            "ON CONFLICT DO NOTHING",
            (bank_id,),
        )


def test_nothing_that_carries_the_tag_or_rests_on_it_is_left(
    database: Database, store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    erasure = erase_tags(erasure_ports(store), principal, "b", ["user:a"], "any")

    assert erasure.state == "objects"  # the archive of the bank is still in the bucket
    assert tables_with(database, principal.tenant_id, MARK) <= KEPT
    assert {"documents": 1, "memory_units": 8, "scopes": 1, "mental_models": 1, "directives": 1}.items() <= (
        erasure.erased.items()
    )
    assert erasure.erased["observation_revisions"] > 0
    assert _texts(database, seeded.bank_id) == {
        "Yorick grows pears.",
        "Yorick grows fruit.",
        "Yorick told of user:abc.",
    }
    with psycopg.connect(database.admin_url, row_factory=dict_row, options="-c search_path=hindsight,public") as rows:
        assert [
            line for line in broken(rows, [seeded.bank_id]) if "counter" in line or "rests on nothing" in line
        ] == []


def test_the_other_sources_of_a_belief_wait_again_where_it_was(
    database: Database, store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    ports = erasure_ports(store)

    erase_tags(ports, principal, "b", ["user:a"], "any")

    with admin(database.admin_url) as connection:
        found = connection.execute(
            "SELECT s.tags FROM consolidation_work w JOIN scopes s USING (tenant_id, bank_id, scope_id) "
            "WHERE w.bank_id = %s AND w.state = 'pending'",
            (seeded.bank_id,),
        ).fetchall()
    assert ([],) in found
    assert ["user:a"] not in [tags for (tags,) in found]


def test_all_of_several_tags_are_wanted_where_that_is_asked(
    database: Database, store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    before = _texts(database, seeded.bank_id)

    erasure = erase_tags(erasure_ports(store), principal, "b", ["user:a", "user:b"], "all")

    assert erasure.state == "objects"  # the archive of the bank is still in the bucket
    assert _texts(database, seeded.bank_id) == before


def test_a_retain_accepted_before_goes_and_one_accepted_after_stays(
    database: Database, store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    early, late, mixed = (OperationId(uuid4()) for _ in range(3))
    _submit(store, principal, seeded.bank_id, early, [("one", "user:a")])
    _submit(store, principal, seeded.bank_id, mixed, [("two", "user:a"), ("three", "user:b")])
    ports = erasure_ports(store)

    erasure = erase_tags(ports, principal, "b", ["user:a"], "any")
    _submit(store, principal, seeded.bank_id, late, [("four", "user:a")])
    erase_tags(ports, principal, "b", ["user:zzz"], "any")

    with store.transaction(principal.tenant_id) as tx:
        assert tx.operations.find(early) is None
        assert tx.operations.find(late) is not None
    with admin(database.admin_url) as connection:
        (left,) = connection.execute("SELECT payload FROM operations WHERE operation_id = %s", (mixed,)).fetchall()
    assert [task["id"] for task in left[0]["documents"]] == ["three"]  # type: ignore[index]  # our own JSON
    assert erasure.blanked["operations"] == 1
    assert erasure.queues["operations"] >= 1


def test_a_receipt_counts_each_kind_of_work_that_waited(
    database: Database, store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    retain, refresh = OperationId(uuid4()), OperationId(uuid4())
    for operation_id in (retain, refresh):
        _submit(store, principal, seeded.bank_id, operation_id, [("one", "user:a")])
    with admin(database.admin_url) as connection:
        connection.execute(
            "UPDATE operations o SET kind = 'refresh_mental_model', payload = '{}', page_id = m.page_id "
            "FROM mental_models m WHERE m.bank_id = o.bank_id AND o.operation_id = %s",
            (refresh,),
        )
        connection.execute("UPDATE webhook_deliveries SET status = 'pending' WHERE bank_id = %s", (seeded.bank_id,))

    erasure = erase_tags(erasure_ports(store), principal, "b", ["user:a"], "any")

    assert {"operations": 2, "webhook_deliveries": 1}.items() <= erasure.queues.items()
    assert erasure.queues["consolidation_work"] > 0


def test_a_fact_that_only_asked_for_a_scope_of_the_tag_stays_without_it(
    database: Database, store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    fact = uuid4()
    insert_units(
        database.admin_url,
        principal.tenant_id,
        seeded.bank_id,
        [
            Unit("Pears are sweet.", id=fact, document="doc/pears"),
            Unit("Sweet.", "observation", tags=("user:a",), sources=(fact,)),
        ],
    )
    _open_work(database, seeded.bank_id)
    with admin(database.admin_url) as connection:
        asked = Jsonb([["user:a"], ["fruit"]])
        connection.execute("UPDATE memory_units SET observation_scopes = %s WHERE id = %s", (asked, fact))

    erase_tags(erasure_ports(store), principal, "b", ["user:a"], "any")

    with admin(database.admin_url) as connection:
        found = connection.execute("SELECT observation_scopes FROM memory_units WHERE id = %s", (fact,)).fetchall()
    assert found == [([["fruit"]],)]
    assert "Sweet." not in _texts(database, seeded.bank_id)


def test_a_page_that_rests_on_what_is_gone_loses_its_text_and_its_past(
    database: Database, store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    with admin(database.admin_url) as connection:
        connection.execute("UPDATE mental_models SET tags = '{}', content = %s, version = 1", (f"{MARK} keeps bees.",))
        connection.execute("UPDATE mental_model_citations SET text = %s, version = 1", (f"{MARK} is a beekeeper.",))

    erasure = erase_tags(erasure_ports(store), principal, "b", ["user:a"], "any")

    with admin(database.admin_url) as connection:
        pages = connection.execute("SELECT content, mend_at <= now() FROM mental_models").fetchall()
        cited = connection.execute("SELECT text, memory_id FROM mental_model_citations").fetchall()
    assert pages == [("", True)]
    assert cited == [(None, None)]
    assert erasure.blanked["mental_models"] == 1


def test_a_run_that_goes_on_is_waited_for(
    database: Database, store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    with admin(database.admin_url) as connection:
        connection.execute(
            "INSERT INTO reflect_runs (tenant_id, bank_id, run_id, request_hash, subject, request, deadline_at) "
            "VALUES (%s, %s, %s, 'h', 's', %s, now() + interval '1 minute')",
            (principal.tenant_id, seeded.bank_id, uuid4(), Jsonb({"query": MARK})),
        )
    ports = erasure_ports(store)

    first = erase_tags(ports, principal, "b", ["user:a"], "any")
    with admin(database.admin_url) as connection:
        connection.execute("UPDATE reflect_runs SET status = 'failed', ended_at = now() WHERE run_id IS NOT NULL")
    carry_on(ports, principal.tenant_id, first.erasure_id, 5.0)
    with admin(database.admin_url) as connection:
        connection.execute("UPDATE erasures SET due_at = now()")
    carry_on(ports, principal.tenant_id, first.erasure_id, 5.0)

    with store.transaction(principal.tenant_id) as tx:
        after = tx.erasures.find(first.erasure_id)
    assert first.state == "running"
    # A message that came before its time, as a doubled one does, would make two chains of one.
    assert [delay_s for _, _, delay_s in cast(NotedWakeups, ports.wakeups).erasures] == [31]
    assert after is not None
    assert (after.state, after.erased["reflect_runs"]) == ("objects", 1)


def test_only_whoever_sees_all_of_a_bank_and_administers_it_may_erase(
    store: PostgresStore, principal: Principal, seeded: Seeded
) -> None:
    ports, tenant = erasure_ports(store), principal.tenant_id
    writer = Principal(tenant, "w", frozenset({Permission.READ, Permission.WRITE}))
    limited = Principal(tenant, "l", forced_tags=parse_group({"tags": ["user:a"], "match": "any"}, "forced_tags"))

    for caller in (writer, limited):
        with pytest.raises(AccessDenied):
            erase_tags(ports, caller, "b", ["user:a"], "any")
    with pytest.raises(NotFound):
        erase_tags(ports, Principal(tenant, "o", bank_patterns=("c*",)), "b", ["user:a"], "any")
    with pytest.raises(InvalidField):
        erase_tags(ports, principal, "b", [""], "any")


def _submit(
    store: PostgresStore,
    principal: Principal,
    bank_id: BankId,
    operation_id: OperationId,
    documents: list[tuple[str, str]],
) -> None:
    tasks = [
        {"id": name, "mode": "replace", "place": place, "is_again": False, "parts": [{"content": MARK, "tags": [tag]}]}
        for place, (name, tag) in enumerate(documents)
    ]
    with store.transaction(principal.tenant_id) as tx:
        tx.operations.add(bank_id, [NewOperation(operation_id, RETAIN, "s", {"documents": tasks})])


def _texts(database: Database, bank_id: BankId) -> set[str]:
    with admin(database.admin_url) as connection:
        found = connection.execute("SELECT text FROM memory_units WHERE bank_id = %s", (bank_id,)).fetchall()
    return {str(text) for (text,) in found}
