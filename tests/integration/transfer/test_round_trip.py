"""What goes into an archive comes out of it: the same bank under other ids."""

from __future__ import annotations

import json
from typing import Any, cast
from uuid import UUID

import pytest

from hindsight_aws.errors import ModelThrottled
from hindsight_aws.jobs.consolidate import consolidate
from hindsight_aws.jobs.transfer import transfer
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.transfer.kinds import KINDS
from hindsight_aws.transfer.moving import Moved
from tests.integration.transfer.conftest import Ferry, Rows, manifest, members
from tests.support.consolidation import creates
from tests.support.models import HashEmbedder, block, one_fact_per_line
from tests.support.seed import Seeded

_PAIRS = ("entity_id_1", "entity_id_2", "first_id", "second_id")


def moved(archive: bytes, tenant: TenantId, bank_id: BankId) -> dict[str, Rows]:
    """The rows of an archive with the ids that they have in a bank it was restored to."""
    ids = Moved(tenant, bank_id)
    found = members(archive)
    return {kind.name: [ids.row(kind, row) for row in found[kind.name]] for kind in KINDS if kind.name in found}


def in_no_order(rows: dict[str, Rows]) -> dict[str, list[str]]:
    """Rows in no order, with lists of ids in no order: order follows from ids, which are new."""
    return {name: sorted(json.dumps(_plain(row), sort_keys=True) for row in found) for name, found in rows.items()}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    pair = sorted(str(row[name]) for name in _PAIRS if name in row)
    rest = {name: value for name, value in row.items() if name not in _PAIRS}
    return {**rest, "pair": pair, "causes": sorted(row.get("causes", []))}


def _bank_id(ferry: Ferry, name: str) -> BankId:
    [row] = ferry.sql("SELECT bank_id FROM hindsight.banks WHERE external_id = %s", name)
    return BankId(row["bank_id"])


@pytest.mark.parametrize("way", ["import", "clone"])
def test_an_export_of_what_was_restored_is_what_was_exported(ferry: Ferry, seeded: Seeded, way: str) -> None:
    """Up to ids: facts, vectors, postings, evidence, pending work, pages, settings and history."""
    first = ferry.exported("source")

    if way == "import":
        answer = ferry.post("source", "/transfer/import", first, target_bank_id="copy")
    else:
        answer = ferry.post("source", "/clone", target_bank_id="copy", include_history=True)
    ended = ferry.done("source", answer)
    assert ended["error_message"] is None
    second = ferry.exported("copy")

    expected, found = moved(first, ferry.tenant, _bank_id(ferry, "copy")), members(second)
    [bank], [copied] = expected.pop("bank"), found.pop("bank")
    assert (copied["name"], copied["config"]) == (bank["name"], bank["config"])
    assert in_no_order(found) == in_no_order(expected)
    assert {kind.name for kind in KINDS} - found.keys() <= {
        "bank",
        "entity_keys",
        "entity_spellings",
        "near_duplicates",
    }
    assert manifest(second)["embedding"] == manifest(first)["embedding"]
    assert ended["result_metadata"]["target_bank_id"] == "copy"
    assert ended["result_metadata"]["counts"]["memories"] == 7


def test_what_memories_are_found_by_is_rebuilt(ferry: Ferry, seeded: Seeded) -> None:
    ferry.done("source", ferry.post("source", "/clone", target_bank_id="copy"))

    copy = _bank_id(ferry, "copy")
    for table, of in (
        ("unit_tags", "tag, count(*)"),
        ("unit_terms", "fact_type || term || tf || ' ' || length, count(*)"),
        ("bank_counters", "fact_type, sum(units) || ' ' || sum(terms)"),
    ):
        counted = f"SELECT {of} FROM hindsight.{table} WHERE bank_id = %s GROUP BY 1 ORDER BY 1"
        assert ferry.sql(counted, copy) == ferry.sql(counted, seeded.bank_id)
        assert ferry.sql(counted, copy)


def test_a_restored_bank_is_worked_on_like_any_other(ferry: Ferry, seeded: Seeded) -> None:
    """Its pending facts are due, its scopes and links are free, its recall answers."""
    ferry.done("source", ferry.post("source", "/clone", target_bank_id="copy"))

    answer = ferry.call("POST", "/v1/default/banks/copy/memories/recall", {"query": "Xanthippe keeps bees"})
    held = ferry.sql(
        "SELECT b.link_lease_until < now() AS links, s.lease_until < now() AS scopes, b.restored_by "
        "FROM hindsight.banks b JOIN hindsight.scopes s USING (bank_id) WHERE b.external_id = 'copy'"
    )
    assert "Xanthippe keeps bees." in [result["text"] for result in answer.json()["results"]]
    assert held == [{"links": True, "scopes": True, "restored_by": None}]
    stats = [ferry.call("GET", f"/v1/default/banks/{bank}/stats").json() for bank in ("source", "copy")]
    assert stats[0]["pending_consolidation"] == stats[1]["pending_consolidation"] == 5


def test_what_is_a_receivers_own_business_or_under_seal_never_leaves(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")

    text = json.dumps(members(archive))
    assert "secret of Xanthippe" not in text
    assert "was sealed" not in text
    assert [hook["is_enabled"] for hook in members(archive)["webhooks"]] == [False]


def test_settings_without_data_tell_nothing_of_the_data(ferry: Ferry, seeded: Seeded) -> None:
    """Pages come as questions, without answers and what those rest on."""
    archive = ferry.exported("source", include_data=False)

    ferry.done("source", ferry.post("source", "/transfer/import", archive, target_bank_id="copy"))
    again = ferry.exported("source")
    ferry.done("source", ferry.post("source", "/transfer/import", again, target_bank_id="bare", include_data=False))

    assert members(archive).keys() == {"bank", "mental_models", "knowledge_pages", "directives", "webhooks"}
    assert "keeps bees" not in json.dumps(members(archive))
    for bank in ("copy", "bare"):
        [page] = ferry.call("GET", f"/v1/default/banks/{bank}/mental-models").json()["items"]
        assert (page["name"], page["content"] or "") == ("Xanthippe", "")
        assert ferry.call("GET", f"/v1/default/banks/{bank}/memories/list").json()["total"] == 0


def test_vectors_of_another_model_are_made_anew(ferry: Ferry, seeded: Seeded) -> None:
    """In batches, counted in the ledger; the rows then say whose they are."""
    archive = ferry.exported("source")
    other = HashEmbedder(model="another-model")
    ferry.services.__dict__["embedder"] = other
    ferry.services.__dict__.pop("transfer_ports", None)

    ended = ferry.done("source", ferry.post("source", "/transfer/import", archive, target_bank_id="copy"))

    found = ferry.sql(
        "SELECT DISTINCT u.embedding_model, b.embedding_model AS of_bank, u.embedding IS NULL AS is_bare "
        "FROM hindsight.memory_units u JOIN hindsight.banks b USING (tenant_id, bank_id) WHERE b.external_id = 'copy'"
    )
    assert ended["status"] == "completed", ended["error_message"]
    assert found == [{"embedding_model": "another-model", "of_bank": "another-model", "is_bare": False}]
    assert ended["result_metadata"]["usage"] is not None


def _attempt(ferry: Ferry) -> list[float]:
    """One message of the transfer queue; after how many seconds there are to be more."""
    noted = ferry.services.noted.transfers
    tenant_id, operation_id, _ = noted.pop(0)
    transfer(ferry.services.transfer_ports, f'{{"tenant_id": "{tenant_id}", "operation_id": "{operation_id}"}}', 60.0)
    return [seconds for _, _, seconds in noted]


def test_vectors_that_a_tenant_may_not_pay_for_today_are_made_when_it_may(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    other = HashEmbedder(model="another-model")
    ferry.services.__dict__["embedder"] = other
    ferry.services.__dict__.pop("transfer_ports", None)
    ferry.sql(
        "INSERT INTO hindsight.tenant_parking (tenant_id, parked_until, limit_name, reason) "
        "VALUES (%s, now() + interval '1 day', 'usd_per_day', 'spent') RETURNING reason",
        ferry.tenant,
    )

    asked = ferry.post("source", "/transfer/import", archive, target_bank_id="copy")
    waits = _attempt(ferry)
    waiting = ferry.operation("source", asked.json()["operation_id"])
    made_over_the_limit = len(other.texts)
    ferry.sql("DELETE FROM hindsight.tenant_parking RETURNING reason")
    ferry.sql("UPDATE hindsight.operations SET due_at = now() RETURNING status")
    ended = ferry.done("source", asked)

    assert (waiting["status"], waiting["retry_count"], made_over_the_limit) == ("pending", 0, 0)
    assert waits == [300]
    assert ended["status"] == "completed", ended["error_message"]


def test_what_vectors_cost_is_in_the_ledger_when_the_rest_cannot_be_made(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    other = HashEmbedder(model="another-model")
    other.failures.append(ModelThrottled("slower"))
    ferry.services.__dict__["embedder"] = other
    ferry.services.__dict__.pop("transfer_ports", None)

    ferry.post("source", "/transfer/import", archive, target_bank_id="copy")
    _attempt(ferry)

    assert ferry.sql("SELECT status FROM hindsight.usage_ledger WHERE model_id = 'another-model'") == [
        {"status": "throttled"}
    ]


def test_a_bank_that_was_lived_in_is_carried(ferry: Ferry) -> None:
    """Quotes of a model, a fact that was corrected, revisions that lost their words."""
    ferry.services.model.script = _believes_everything
    items = [
        {
            "content": f"Ana {what}.\nShe said so.",
            "document_id": "talk",
            "tags": ["user:a"],
            "entities": [{"text": "Ana"}],
        }
        for what in ("keeps bees", "bakes rye bread")
    ]
    ferry.call("POST", "/v1/default/banks/lived/memories", {"items": items})
    _drain(ferry)
    [fact, *_] = ferry.call("GET", "/v1/default/banks/lived/memories/list?type=world").json()["items"]
    corrected = ferry.call("PATCH", f"/v1/default/banks/lived/memories/{fact['id']}", {"text": "Ana keeps wasps."})
    _drain(ferry)

    first = ferry.exported("lived")
    ended = ferry.done("lived", ferry.post("lived", "/transfer/import", first, target_bank_id="copy"))

    assert corrected.status == 200, corrected.body
    assert (ended["status"], ended["error_message"]) == ("completed", None)
    held = members(first)
    assert any(row["blanked_at"] for row in held["revisions"])
    assert {row["origin"] for row in held["evidence"]} == {"model"}
    expected, found = moved(first, ferry.tenant, _bank_id(ferry, "copy")), members(ferry.exported("copy"))
    assert in_no_order(found | {"bank": []}) == in_no_order(expected | {"bank": []})


def _believes_everything(call: ModelCall) -> JsonObject:
    if call.task == "extract_facts":
        return one_fact_per_line(call)
    facts = cast("list[dict[str, str]]", block(call, "facts"))
    return creates(
        *((f"It is held that {fact['text']}", [UUID(fact["id"])]) for fact in facts),
        quotes={UUID(fact["id"]): fact["text"][:-1] for fact in facts},
    )


def _drain(ferry: Ferry) -> None:
    for row in ferry.sql("SELECT tenant_id, bank_id, scope_id FROM hindsight.scopes"):
        body = json.dumps({name: str(value) for name, value in row.items()})
        consolidate(ferry.services.consolidation_ports, body, lambda: 300.0, ferry.services.pages_door)
