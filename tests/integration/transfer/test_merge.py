"""Documents of an archive come into a bank as if they were retained there, without the model call."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.model.ids import OperationId
from hindsight_aws.transfer import merge, points, run
from tests.integration.transfer.conftest import Ferry, forged, lines, members
from tests.support.deaths import Killed
from tests.support.invariants import broken
from tests.support.seed import Seeded


def _bank(ferry: Ferry, name: str = "target") -> None:
    assert ferry.call("PUT", f"/v1/default/banks/{name}", {"name": name}).status == 200


def _copy(ferry: Ferry) -> bytes:
    """The archive of `source`, and a bank `copy` made of it, whose documents have the ids that retain gives them."""
    archive = ferry.exported("source")
    assert ferry.done("source", ferry.post("source", "/clone", target_bank_id="copy"))["error_message"] is None
    return archive


def _documents(ferry: Ferry, bank: str = "target") -> list[str]:
    return sorted(item["id"] for item in ferry.call("GET", f"/v1/default/banks/{bank}/documents").json()["items"])


def _texts(ferry: Ferry, bank: str = "target") -> list[str]:
    items = ferry.call("GET", f"/v1/default/banks/{bank}/memories/list?limit=1000").json()["items"]
    return sorted(item["text"] for item in items)


_FACTS = [*(f"Xanthippe fact {number}" for number in range(1, 6)), "Xanthippe keeps bees."]


@pytest.mark.parametrize("way", ["transfer/import", "document-transfer"])
def test_documents_bring_their_facts_and_wait_for_consolidation_here(ferry: Ferry, seeded: Seeded, way: str) -> None:
    """In the scopes that their tags make here; with their entities, dates, tags and causes."""
    archive = ferry.exported("source")
    _bank(ferry)
    query = {"mode": "merge"} if way == "transfer/import" else {}

    ended = ferry.done("target", ferry.post("target", f"/{way}", archive, **query))

    assert (ended["status"], ended["operation_type"]) == ("completed", "import_documents"), ended["error_message"]
    assert ended["result_metadata"]["counts"] == {"documents_added": 1, "facts": 6}
    assert (_documents(ferry), _texts(ferry)) == (["doc/Xanthippe"], _FACTS)
    found = ferry.sql(
        "SELECT s.tags, w.state, count(*) AS facts FROM hindsight.consolidation_work w "
        "JOIN hindsight.scopes s USING (tenant_id, bank_id, scope_id) JOIN hindsight.banks b USING (bank_id) "
        "WHERE b.external_id = 'target' GROUP BY 1, 2 ORDER BY 1"
    )
    assert found == [
        {"tags": ["user:a"], "state": "pending", "facts": 1},
        {"tags": ["user:a", "user:b"], "state": "pending", "facts": 5},
    ]
    named = ferry.call("GET", "/v1/default/banks/target/entities").json()["items"]
    assert [entity["canonical_name"] for entity in named] == ["Xanthippe"]
    causes = ferry.sql(
        "SELECT count(*) AS n FROM hindsight.memory_links l JOIN hindsight.banks b USING (bank_id) "
        "WHERE b.external_id = 'target' AND l.link_type = 'caused_by'"
    )
    assert causes == [{"n": 5}]
    assert ferry.services.noted.scopes


@pytest.mark.parametrize(
    ("conflict", "documents", "counted"),
    [
        ("skip", 1, {"documents_skipped": 1, "facts": 0}),
        ("replace", 1, {"documents_replaced": 1, "facts": 6}),
        ("new-id", 2, {"documents_added": 1, "facts": 6}),
    ],
)
def test_a_document_whose_id_is_taken(
    ferry: Ferry, seeded: Seeded, conflict: str, documents: int, counted: dict[str, int]
) -> None:
    """Replacing ends what rested on the former facts; a new id leaves both."""
    archive = _copy(ferry)

    ended = ferry.done(
        "copy", ferry.post("copy", "/transfer/import", archive, mode="merge", document_conflict=conflict)
    )

    assert ended["error_message"] is None
    assert ended["result_metadata"]["counts"] == counted
    assert len(_documents(ferry, "copy")) == documents
    observations = ferry.call("GET", "/v1/default/banks/copy/memories/list?type=observation").json()["total"]
    assert observations == (0 if conflict == "replace" else 1)
    if conflict == "replace":
        with psycopg.connect(ferry.database.admin_url, row_factory=dict_row) as rows:
            rows.execute("SET search_path = hindsight, public")
            [bank] = rows.execute("SELECT bank_id FROM banks WHERE external_id = 'copy'").fetchall()
            assert broken(rows, [bank["bank_id"]]) == []


def test_some_documents_alone_are_exported_and_merged(ferry: Ferry, seeded: Seeded) -> None:
    _copy(ferry)
    _bank(ferry)
    whole = {"include_bank_config": False, "include_history": False}
    archive = ferry.exported("copy", document_id="doc/Xanthippe", **whole)

    ended = ferry.done("target", ferry.post("target", "/transfer/import", archive, mode="merge"))
    restored = ferry.post("source", "/transfer/import", archive, target_bank_id="other")

    assert members(archive).keys() == {"documents", "chunks", "memories"}
    assert ended["status"] == "completed"
    assert (restored.status, "mode=merge" in restored.json()["detail"]) == (400, True)


def test_documents_are_exported_with_what_else_is_asked_for(ferry: Ferry, seeded: Seeded) -> None:
    plain = ferry.done("source", ferry.post("source", "/document-transfer/export"))
    rich = ferry.done(
        "source",
        ferry.post("source", "/document-transfer/export", include_observations=True, include_knowledge_base=True),
    )

    held = [members(ferry.services.stored.objects[each["result_metadata"]["storage_key"]]) for each in (plain, rich)]
    assert held[0].keys() == {"documents", "chunks", "memories"}
    assert {"evidence", "knowledge_pages", "mental_models"} <= held[1].keys()
    assert {"webhooks", "bank"} & held[1].keys() == set()


def test_a_killed_merge_goes_on_with_the_next_document(
    ferry: Ferry, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = ferry.exported("source")
    held = members(archive)
    [document] = held["documents"]
    second = document | {"document_id": "f" * 8 + document["document_id"][8:], "external_id": "second"}
    more = forged(archive, {"documents.jsonl": lines([document, second])})
    _bank(ferry)
    accepted = ferry.post("target", "/transfer/import", more, mode="merge").json()

    def reached(point: str) -> None:
        if point == points.AFTER_BATCH:
            raise Killed

    with monkeypatch.context() as killed:
        killed.setattr(merge, "reached", reached)
        with pytest.raises(Killed):
            ferry.work()
    between = _documents(ferry)
    [row] = ferry.sql(
        "UPDATE hindsight.operations SET lease_until = '-infinity' WHERE status = 'processing' RETURNING operation_id"
    )
    ferry.services.noted.transfers.append((ferry.tenant, OperationId(row["operation_id"]), 0))
    ferry.work()

    ended = ferry.operation("target", accepted["operation_id"])
    assert between == ["doc/Xanthippe"]
    assert ended["result_metadata"]["counts"] == {"documents_added": 2, "facts": 6}
    assert (_documents(ferry), _texts(ferry)) == (["doc/Xanthippe", "second"], _FACTS)


def test_a_merge_waits_while_the_banks_vectors_are_replaced_and_counts_no_attempt(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    _bank(ferry)
    accepted = ferry.post("target", "/transfer/import", archive, mode="merge").json()
    last = ferry.services.settings.hindsight_transfer_max_attempts - 1
    ferry.sql("UPDATE hindsight.operations SET attempts = %s WHERE status = 'pending' RETURNING 1", last)
    ferry.sql("UPDATE hindsight.banks SET vectors_closed_until = now() + interval '40 seconds' RETURNING 1")

    one = ferry.services.noted.transfers.pop()
    run.run_transfer(ferry.services.transfer_ports, one[0], one[1], 60.0)
    [waiting] = ferry.sql(
        "SELECT status, attempts, due_at > now() + interval '5 seconds' AS waits FROM hindsight.operations "
        "WHERE operation_id = %s",
        one[1],
    )
    ferry.sql("UPDATE hindsight.banks SET vectors_closed_until = '-infinity' RETURNING 1")
    ferry.sql("UPDATE hindsight.operations SET due_at = now() WHERE operation_id = %s RETURNING 1", one[1])
    ferry.services.noted.transfers.append(one)
    ferry.work()

    assert waiting == {"status": "pending", "attempts": last, "waits": True}
    assert ferry.operation("target", accepted["operation_id"])["status"] == "completed"


def test_what_the_banks_policy_takes_out_does_not_come_in_by_an_archive(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    held = members(archive)
    held["memories"][0]["text"] = "Write to xanthippe@example.com."
    secret = forged(archive, {"memories.jsonl": lines(held["memories"])})
    _bank(ferry)
    policy = {"enabled": True, "rules": [{"on": "email", "action": "redact"}]}
    patched = ferry.call("PATCH", "/v1/default/banks/target/config", {"updates": {"memory_defense": policy}})

    ended = ferry.done("target", ferry.post("target", "/transfer/import", secret, mode="merge"))

    assert patched.status == 200, patched.body
    assert ended["status"] == "failed"
    assert "memory_defense" in ended["error_message"]
    assert _texts(ferry) == []


_WRONG: dict[str, object] = {
    "observation_scopes": "every",
    "causes": "none",
    "called": [["a"]],
    "occurred_start": "soon",
    "text": 7,
}


def test_a_fact_that_is_none_fails_the_merge(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    _bank(ferry)
    states = {}

    for column, value in _WRONG.items():
        held = members(archive)["memories"]
        held[0][column] = value
        wrong = forged(archive, {"memories.jsonl": lines(held)})
        ended = ferry.done("target", ferry.post("target", "/transfer/import", wrong, mode="merge"))
        states[column] = (ended["status"], column in ended["error_message"] or "time" in ended["error_message"])

    assert states == dict.fromkeys(_WRONG, ("failed", True))
    assert _documents(ferry) == []
