"""The new vectors serve and some are not in their rows yet: nobody can tell, whatever is read, written or erased."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.recall import NO_BOUNDS
from hindsight_aws.reembedding import adopt, make, move, points
from hindsight_aws.store.queries import queries
from hindsight_aws.store.recall_filters import gates
from hindsight_aws.store.tag_predicate import predicate_of
from hindsight_aws.store.vector_path import VectorPath
from hindsight_aws.store.vectors import half_vector
from tests.integration.reembedding.conftest import BANK, NEW, OLD, PAGE, REVISION, Desk
from tests.integration.reembedding.test_reembed import TEXTS
from tests.support.deaths import Killed

OBSERVED = """
INSERT INTO hindsight.memory_units
    (tenant_id, bank_id, id, fact_type, text, embedding, embedding_model, terms, tags, event_date, mentioned_at,
     scope_id, proof_count)
SELECT tenant_id, bank_id, gen_random_uuid(), 'observation', text, embedding, embedding_model, terms, '{}', event_date,
       mentioned_at, %s, 1
FROM hindsight.memory_units RETURNING scope_id
"""
LINKED = """
SELECT 1 FROM hindsight.memory_links l JOIN hindsight.memory_units u ON u.id IN (l.from_unit, l.to_unit)
WHERE u.text = 'Bob feeds the hens again.' AND l.link_type = 'semantic'
"""
_SEMANTIC = ("semantic_exact", "semantic_tagged", "semantic_index_world", "dated")


def _stopped(desk: Desk, monkeypatch: pytest.MonkeyPatch, times: int) -> str:
    """The operation, whose worker died when it had put so many vectors in place."""
    desk.configure(hindsight_reembed_batch=1)
    operation = desk.ask()
    left = [None] * times

    def reached(point: str) -> None:
        if point == (points.AFTER_MOVE if times else points.AFTER_ADOPTION) and not left[1:]:
            raise Killed
        if point == points.AFTER_MOVE:
            left.pop()

    for module in (adopt, move):
        monkeypatch.setattr(module, "reached", reached)
    with pytest.raises(Killed):
        desk.work()
    for module in (adopt, move):
        monkeypatch.setattr(module, "reached", lambda _: None)
    assert desk.serves() == NEW
    return operation


def _finished(desk: Desk, operation: str) -> None:
    desk.sql("UPDATE hindsight.operations SET lease_until = '-infinity' WHERE operation_id = %s RETURNING 1", operation)
    desk.wake(operation)
    desk.work()
    assert desk.operation(operation)["status"] == "completed"
    assert desk.beside() == 0
    assert desk.sql("SELECT vectors_beside FROM hindsight.banks") == [{"vectors_beside": None}]


@pytest.mark.parametrize("moved", [0, 3])
@pytest.mark.usefixtures("fresh_vector_indexes")
def test_every_statement_that_compares_vectors_finds_the_same_before_and_after_they_are_in_place(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, moved: int
) -> None:
    desk.retain(*TEXTS)
    (scope,) = desk.sql("SELECT scope_id FROM hindsight.scopes")
    desk.sql(OBSERVED, scope["scope_id"])
    operation = _stopped(desk, monkeypatch, moved)
    (bank,) = desk.sql("SELECT bank_id FROM hindsight.banks")
    models = desk.models()

    during = _compared(desk, bank["bank_id"], scope["scope_id"])
    _finished(desk, operation)

    assert models == ({OLD, NEW} if moved else {OLD})
    assert during == _compared(desk, bank["bank_id"], scope["scope_id"])
    assert [name for name, rows in during.items() if not rows] == []


def _compared(desk: Desk, bank_id: UUID, scope_id: UUID) -> dict[str, list[tuple[object, ...]]]:
    """What each statement finds, by its name."""
    facts = [
        row["id"] for row in desk.sql("SELECT id FROM hindsight.memory_units WHERE fact_type = 'world' ORDER BY id")
    ]
    near = {"ids": facts, "links": [0] * len(facts), "most": 5, "farthest": 2.0}
    scoped = {"scope_id": scope_id}
    vector = half_vector(desk.new.vector(TEXTS[1]))
    query: dict[str, object] = {
        "embedding": vector, "fact_type": "world", "farthest": 2.0, "farthest_dated": 2.0, "most_read": 9, "at_most": 9,
        "anchor": ["no such"], "with_untagged": True, "starts": ["-infinity"], "ends": ["infinity"],
        **gates(predicate_of(TagFilter()), NO_BOUNDS),
    }  # fmt: skip
    asked: list[tuple[str, str, dict[str, object]]] = [
        ("links", "near_in_meaning", near),
        ("links", "near_by_index", near),
        ("consolidation", "related_by_vector", {"fact_ids": facts, "per_fact": 5, **scoped}),
        ("consolidation", "neighbours", {"vectors": [vector], "at_least": -1.0, "at_most": 5, **scoped}),
        ("compaction", "pairs", {"at_least": -1.0, "at_most": 9, **scoped}),
        *(("recall", name, query) for name in _SEMANTIC),
        ("recall", "semantic_index_observation", query | {"fact_type": "observation"}),
    ]
    with desk.services.store.transaction(desk.tenant) as tx:
        return {name: sorted(tx.session.tuples(queries(of)[name], bank_id=bank_id, **each)) for of, name, each in asked}


@pytest.mark.usefixtures("fresh_vector_indexes")
@pytest.mark.parametrize("path", [VectorPath.EXACT, VectorPath.INDEX], ids=lambda path: path.value)
def test_recall_finds_the_same_while_vectors_are_put_in_place(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, path: VectorPath
) -> None:
    monkeypatch.setattr("hindsight_aws.store.recall.vector_path", lambda *_: path)
    desk.retain(*TEXTS)
    before = [desk.recall(text) for text in TEXTS]

    operation = _stopped(desk, monkeypatch, 1)
    during = [desk.recall(text) for text in TEXTS]
    _finished(desk, operation)

    assert before == during == [desk.recall(text) for text in TEXTS]


def test_what_is_written_meanwhile_stays_and_is_the_new_models(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.retain(*TEXTS, "Eve sings in the choir.")
    ids = {row["text"]: row["id"] for row in desk.sql("SELECT id, text FROM hindsight.memory_units")}
    operation = _stopped(desk, monkeypatch, 0)

    desk.retain("Bob feeds the hens again.")
    edited = desk.call("PATCH", f"{BANK}/memories/{ids[TEXTS[2]]}", {"text": "Carol sells the fence."})
    retired = desk.call("PATCH", f"{BANK}/memories/{ids[TEXTS[0]]}", {"state": "invalidated"})
    deleted = desk.call("DELETE", f"{BANK}/documents/Eve%20sings%20in%20the%20choir.")
    links = desk.sql(LINKED)
    _finished(desk, operation)

    assert [answer.status for answer in (edited, retired, deleted)] == [200, 200, 200]
    assert links, "what is not in place yet is found to be near"
    assert desk.models() == {NEW}
    (archived,) = desk.sql(
        "SELECT embedding::text AS vector, embedding_model AS model FROM hindsight.invalidated_memory_units"
    )
    texts = {text.split(" (")[0]: text for text in desk.new.texts}
    assert archived == {"vector": desk.stored(next(v for k, v in texts.items() if k.startswith("Alice"))), "model": NEW}
    (kept,) = desk.sql("SELECT embedding::text AS vector FROM hindsight.memory_units WHERE id = %s", ids[TEXTS[2]])
    assert kept["vector"] == desk.stored(next(v for k, v in texts.items() if k.startswith("Carol sells")))
    assert desk.call("PATCH", f"{BANK}/memories/{ids[TEXTS[0]]}", {"state": "valid"}).status == 200
    assert desk.recall(TEXTS[0])[0] == TEXTS[0]


def test_there_is_no_way_back_and_an_export_waits(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.retain(*TEXTS)
    operation = _stopped(desk, monkeypatch, 1)

    cancelled = desk.call("DELETE", f"{BANK}/operations/{operation}")
    export = desk.call("POST", f"{BANK}/transfer/export", {}).json()["operation_id"]
    desk.work()
    waiting = desk.operation(export)["status"]
    _finished(desk, operation)

    assert (cancelled.status, "serve already" in cancelled.json()["detail"]) == (409, True)
    assert waiting == "pending"


def test_a_tenant_whose_day_is_used_up_has_its_vectors_put_in_place(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.retain(*TEXTS)
    operation = _stopped(desk, monkeypatch, 1)
    desk.sql(
        "INSERT INTO hindsight.tenant_parking (tenant_id, parked_until, limit_name, reason) "
        "VALUES (%s, now() + interval '1 day', 'usd_per_day', 'used up') RETURNING 1",
        desk.tenant,
    )
    paid = len(desk.new.texts)

    _finished(desk, operation)

    assert desk.models() == {NEW}
    assert len(desk.new.texts) == paid


_ERASED = [
    ("document", points.AFTER_CLOSE),
    ("document", points.AFTER_ADOPTION),
    ("tag", points.AFTER_BATCH),
    ("tag", points.AFTER_MOVE),
    ("bank", points.AFTER_CLOSE),
    ("bank", points.AFTER_ADOPTION),
]


@pytest.mark.parametrize(("what", "point"), _ERASED, ids=lambda part: part.removeprefix("reembed."))
def test_what_is_erased_meanwhile_is_gone_and_the_rest_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, what: str, point: str
) -> None:
    items = [{"content": text, "document_id": f"d{place}", "tags": [f"t{place}"]} for place, text in enumerate(TEXTS)]
    assert desk.call("POST", f"{BANK}/memories", {"items": items}).status == 200
    desk.sql(REVISION)
    desk.sql(PAGE)
    desk.configure(hindsight_reembed_batch=1)
    operation = desk.ask()
    erased: list[int] = []

    def reached(at: str) -> None:
        if at == point and not erased:
            erased.append(_ERASE[what](desk))

    for module in (make, adopt, move):
        monkeypatch.setattr(module, "reached", reached)
    desk.work()
    desk.sql(
        "UPDATE hindsight.operations SET due_at = now(), lease_until = '-infinity' WHERE kind = 'reembed' RETURNING 1"
    )
    desk.wake(operation)
    desk.work()

    assert erased == [200]
    assert desk.beside() == 0
    if what == "bank":
        assert desk.sql("SELECT 1 FROM hindsight.memory_units UNION ALL SELECT 1 FROM hindsight.operations") == []
        return
    assert desk.operation(operation)["status"] == "completed"
    assert (desk.serves(), desk.models()) == (NEW, {NEW})
    assert "Bob feeds the hens." not in desk.recall("Bob feeds the hens.")
    assert [desk.recall(text)[0] for text in (TEXTS[0], TEXTS[2])] == [TEXTS[0], TEXTS[2]]


_ERASE: dict[str, Callable[[Desk], int]] = {
    "document": lambda desk: desk.call("DELETE", f"{BANK}/documents/d1").status,
    "tag": lambda desk: desk.call("POST", f"{BANK}/erasures", {"tags": ["t1"]}).status,
    "bank": lambda desk: desk.call("DELETE", BANK).status,
}
