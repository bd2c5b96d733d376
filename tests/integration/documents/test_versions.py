"""A document retained again: what stays, what goes, and what it costs."""

from __future__ import annotations

import json
import time
from concurrent.futures import Future, ThreadPoolExecutor
from random import Random
from threading import Barrier, Event

import pytest

from hindsight_aws.errors import HindsightError, ModelRefused
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.retain import RetainResult
from tests.integration.documents.conftest import Shelf, at, item, sections, turns
from tests.integration.retain.conftest import Workshop
from tests.support.models import Script, block, fact, one_fact_per_line

_SIZE = 240


@pytest.fixture
def small(shelf: Shelf) -> Shelf:
    """A bank of small chunks: a section each."""
    shelf.configure_bank(retain_chunk_size=_SIZE)
    return shelf


def test_an_unchanged_document_costs_nothing_and_touches_nothing(small: Shelf) -> None:
    """Case [R090]."""
    text = "\n\n".join(sections(5))
    small.retain(item(text, metadata={"k": "v"}, tags=("a",)))
    before, asked = small.facts("d"), len(small.model.calls)

    result = small.retain(item(text, metadata={"k": "v"}, tags=("a",)))

    assert len(small.model.calls) == asked
    assert small.facts("d") == before
    assert result.usage is not None
    assert result.usage.total_tokens == 0


def test_one_changed_chunk_of_twenty_costs_one_call_and_keeps_the_rest(small: Shelf) -> None:
    parts = sections(20)
    small.retain(item("\n\n".join(parts)))
    assert len(small.chunks("d")) == len(small.model.calls) == 20
    before = {fact["text"]: fact for fact in small.facts("d")}
    kept = small.observe("Of section 3.", [before[parts[3]]["id"]])
    parts[7] = parts[7].replace("tells of", "speaks of")

    small.retain(item("\n\n".join(parts)))

    after = small.facts("d")
    assert [fact["text"] for fact in after] == parts
    assert len(small.model.calls) == 21
    assert [fact for fact in after if fact["text"] != parts[7]] == [
        fact for fact in before.values() if "Section 7" not in fact["text"]
    ]
    assert small.rows("SELECT id FROM memory_units WHERE fact_type = 'observation'") == [{"id": kept}]
    assert small.rows("SELECT sum(units) AS n FROM bank_counters WHERE fact_type <> 'observation'") == [{"n": 20}]


def test_a_paragraph_at_the_top_moves_the_facts_and_leaves_them_alone(small: Shelf) -> None:
    """Case [R094]."""
    parts = sections(20)
    small.retain(item("\n\n".join(parts)))
    before = {fact["text"]: (fact["id"], fact["updated_at"], fact["version"]) for fact in small.facts("d")}

    small.retain(item("\n\n".join(["A new beginning for all of this, told in one line.", *parts])))

    after = small.facts("d")
    assert len(small.model.calls) <= 22
    assert [fact["text"] for fact in after][1:] == parts
    assert [fact["chunk_index"] for fact in after] == list(range(21))
    assert {fact["text"]: (fact["id"], fact["updated_at"], fact["version"]) for fact in after[1:]} == before
    assert [chunk["chunk_index"] for chunk in small.chunks("d")] == list(range(21))
    assert [chunk["chunk_text"] for chunk in small.chunks("d")][1:] == parts


def test_a_removed_section_takes_its_facts_and_observations_and_costs_nothing(small: Shelf) -> None:
    """Case [R093]."""
    parts = sections(4)
    small.retain(item("\n\n".join(parts)))
    facts = small.facts("d")
    small.observe("Of the last two.", [facts[2]["id"], facts[3]["id"]])
    asked = len(small.model.calls)

    small.retain(item("\n\n".join(parts[:3])))

    assert small.fact_texts("d") == parts[:3]
    assert small.observations() == []
    assert small.work()[facts[2]["id"], ()] == "pending"
    assert len(small.model.calls) == asked
    assert len(small.chunks("d")) == 3


def test_a_repeated_paragraph_stays_as_often_as_it_stands_there(small: Shelf) -> None:
    """Case [R095]."""
    same = f"The same again: {' '.join(f'word{n}' for n in range(25))}."
    small.retain(item("\n\n".join([same] * 5)))
    first = small.facts("d")
    assert len(first) == 5

    small.retain(item("\n\n".join([same] * 5) + "\n\n" + sections(1)[0]))

    assert small.facts("d")[:5] == first
    assert len(small.chunks("d")) == 6
    assert len(small.model.calls) == 2


def test_a_replaced_document_keeps_its_day_and_leaves_no_orphan(shelf: Shelf) -> None:
    """Case [R096]."""
    shelf.retain(item("Old and gone."))
    before = shelf.document("d")
    shelf.observe("Of the old.", [shelf.facts("d")[0]["id"]])

    shelf.retain(item("New and here."))

    after = shelf.document("d")
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    assert shelf.texts() == ["New and here."]
    assert shelf.observations() == []
    assert shelf.texts_anywhere("Old and gone") == {}


def test_a_chunk_that_fails_leaves_the_former_version_whole(small: Shelf) -> None:
    """Case [R097]."""
    parts = sections(3)
    small.retain(item("\n\n".join(parts)))
    before, chunks = small.facts("d"), small.chunks("d")
    small.model.script = _refusing("Section 1")
    changed = [part.replace("tells", "speaks") for part in parts]

    with pytest.raises(ModelRefused):
        small.retain(item("\n\n".join(changed)))

    assert small.facts("d") == before
    assert small.chunks("d") == chunks
    assert small.document("d")["original_text"] == "\n\n".join(parts)


def test_what_was_paid_for_before_the_failure_is_used_by_the_next_attempt(small: Shelf) -> None:
    parts = sections(3)
    small.model.script = _refusing("Section 2")
    small.submit(item("\n\n".join(parts)))
    small.deliver_all()
    (child,) = small.rows("SELECT operation_id FROM operations WHERE kind = 'retain'")
    small.model.script = one_fact_per_line
    asked = len(small.model.calls)

    with small.store.transaction(small.tenant) as tx:
        bank = tx.banks.find("bank")
        assert bank is not None
        retried = tx.operations.retry(bank.bank_id, child["operation_id"])
    for each in retried:
        small.deliver(small.tenant, each.operation_id)

    assert small.fact_texts("d") == parts
    assert len(small.model.calls) == asked + 1


def test_a_chunk_that_comes_back_under_other_labels_costs_nothing(small: Shelf) -> None:
    parts = sections(3)
    small.retain(item("\n\n".join(parts)))

    small.retain(item("\n\n".join(parts), entities=()))
    small.retain(item("\n\n".join(parts), tags=("t",), metadata={"k": "v"}))

    assert len(small.model.calls) == 3
    assert {tuple(fact["tags"]) for fact in small.facts("d")} == {("t",)}


def test_items_that_changed_use_their_own_context_and_date(small: Shelf) -> None:
    """Case [R104]."""
    first, second = sections(2)
    dated = at("2026-03-10T15:30:00+00:00")
    small.retain(item(first, context="c1"), item(second, context="c2", timestamp=dated))

    small.retain(
        item(first.replace("tells", "speaks"), context="c1"),
        item(second.replace("tells", "speaks"), context="c2", timestamp=dated),
    )

    facts = small.facts("d")
    assert [fact["context"] for fact in facts] == ["c1", "c2"]
    assert facts[1]["mentioned_at"] == dated
    assert facts[0]["mentioned_at"] != dated


def test_a_growing_conversation_keeps_the_facts_of_its_full_chunks(small: Shelf) -> None:
    said = [f"turn {number} " + " ".join(f"w{number}x{n}" for n in range(12)) for number in range(12)]
    small.model.script = one_fact_per_turn
    small.retain(item(turns(*said[:8])))
    before = small.facts("d")

    small.retain(item(turns(*said)))

    assert small.fact_texts("d") == said
    assert {fact["id"] for fact in before[:6]} <= {fact["id"] for fact in small.facts("d")}


@pytest.mark.parametrize("update_mode", ["replace", "append"])
def test_texts_stay_unkept_where_the_bank_keeps_none(small: Shelf, update_mode: str) -> None:
    """Case [R101]."""
    small.configure_bank(retain_chunk_size=_SIZE, store_document_text=False)
    parts = sections(3)
    small.submit(item("\n\n".join(parts)))
    small.deliver_all()
    parts[1] = parts[1].replace("tells", "speaks")

    for _ in range(2):
        if update_mode == "replace":
            small.retain(item("\n\n".join(parts)))

    assert small.document("d")["original_text"] is None
    assert {chunk["chunk_text"] for chunk in small.chunks("d")} == {""}
    assert "operations" not in small.texts_anywhere("Section 0")
    assert len(small.model.calls) == (4 if update_mode == "replace" else 3)


def test_a_bank_that_stops_keeping_texts_loses_them_with_the_next_retain(small: Shelf) -> None:
    parts = sections(2)
    small.retain(item("\n\n".join(parts)))
    before = small.facts("d")
    small.configure_bank(retain_chunk_size=_SIZE, store_document_text=False)

    small.retain(item("\n\n".join(parts)))

    assert small.document("d")["original_text"] is None
    assert {chunk["chunk_text"] for chunk in small.chunks("d")} == {""}
    assert small.facts("d") == before
    assert len(small.model.calls) == 2


def test_a_document_older_than_fingerprints_is_matched_by_its_text(small: Shelf) -> None:
    parts = sections(4)
    small.retain(item("\n\n".join(parts)))
    small.change("UPDATE chunks SET part = NULL, fingerprint = NULL")
    before = small.facts("d")
    parts[3] = parts[3].replace("tells", "speaks")

    small.retain(item("\n\n".join(parts)))

    assert small.facts("d")[:3] == before[:3]
    assert len(small.model.calls) == 5


def test_an_append_adds_a_part_and_never_dates_the_others_anew(shelf: Shelf) -> None:
    """Case [R098]."""
    first = at("2026-01-01T09:00:00+00:00")
    shelf.retain(item("Turn 1.", update_mode="append", timestamp=first, context="then", metadata={"k": "1"}))
    before = shelf.facts("d")

    shelf.retain(item("Turn 2.", update_mode="append", timestamp=at("2026-02-02T09:00:00+00:00"), metadata={"k": "2"}))

    assert shelf.facts("d")[0] == before[0]
    assert [fact["metadata"] for fact in shelf.facts("d")] == [{"k": "1"}, {"k": "2"}]
    assert shelf.document("d")["original_text"] == "Turn 1.\nTurn 2."
    kinds = shelf.rows("SELECT kind FROM document_revisions ORDER BY created_at")
    assert [row["kind"] for row in kinds] == ["append", "append"]


def test_ten_appends_at_once_are_all_there_in_some_order(shelf: Shelf) -> None:
    """Case [R099]."""
    shelf.retain(item("Turn 0."))
    workers = [shelf.open_twin() for _ in range(10)]
    sent: list[Future[RetainResult]] = []

    with ThreadPoolExecutor(10) as pool:
        for number, worker in enumerate(workers, 1):
            sent.append(pool.submit(worker.retain, item(f"Turn {number}.", update_mode="append")))
    assert all(not each.result().is_async for each in sent)

    text = shelf.document("d")["original_text"]
    assert sorted(text.split("\n")) == sorted(f"Turn {number}." for number in range(11))
    assert shelf.fact_texts("d") == text.split("\n")
    assert shelf.document("d")["version"] == 11


def test_appended_arrays_are_one_array_and_prose_is_joined_by_a_line_feed(shelf: Shelf) -> None:
    """Case [R100]."""
    shelf.model.script = one_fact_per_turn
    shelf.retain(item(turns("one"), update_mode="append"))
    shelf.retain(item(turns("two", "three"), update_mode="append"))
    array = shelf.document("d")["original_text"]

    shelf.retain(item("And prose.", update_mode="append"))

    assert [turn["content"] for turn in json.loads(array)] == ["one", "two", "three"]
    assert shelf.document("d")["original_text"] == f"{array}\nAnd prose."


def test_an_overtaken_replace_ends_without_paying_and_names_the_winner(shelf: Shelf) -> None:
    """Case [R102]."""
    submitted = [shelf.submit(item(text)) for text in ("First.", "Second.", "Third.")]
    children = shelf.rows("SELECT operation_id, result FROM operations WHERE kind = 'retain' ORDER BY created_at")

    shelf.deliver_all()

    rows = shelf.rows("SELECT operation_id, status, result FROM operations WHERE kind = 'retain' ORDER BY created_at")
    assert len(submitted) == 3
    assert [row["status"] for row in rows] == ["completed"] * 3
    assert [row["result"].get("superseded_by") for row in rows] == [str(children[2]["operation_id"])] * 2 + [None]
    assert shelf.model.texts() == ["Third."]
    assert shelf.texts() == ["Third."]


def test_two_identical_retains_at_once_are_extracted_once(shelf: Shelf) -> None:
    """Case [R102]."""
    workers = [shelf.open_twin() for _ in range(2)]

    with ThreadPoolExecutor(2) as pool:
        sent = [pool.submit(worker.retain, item("Only once.")) for worker in workers]
    assert all(not each.result().is_async for each in sent)

    assert shelf.model.texts() == ["Only once."]
    assert shelf.texts() == ["Only once."]


def test_the_caller_of_an_overtaken_replace_is_told_who_won(shelf: Shelf) -> None:
    """Case [R102]."""
    shelf.retain(item("Base."))
    is_asked, may_answer = Event(), Event()

    def slow(call: ModelCall) -> JsonObject:
        is_asked.set()
        may_answer.wait(60)
        return one_fact_per_line(call)

    shelf.model.script = slow
    first, second, third = (shelf.open_twin() for _ in range(3))
    with ThreadPoolExecutor(3) as pool:
        running = pool.submit(first.retain, item("First."))
        assert is_asked.wait(60)
        overtaken = pool.submit(second.retain, item("Second."))
        _until_operations(shelf, 3)
        winner = pool.submit(third.retain, item("Third."))
        _until_operations(shelf, 4)
        may_answer.set()

    (last,) = shelf.rows("SELECT operation_id FROM operations ORDER BY created_at DESC LIMIT 1")
    told = overtaken.result()
    assert told.superseded_by == last["operation_id"]
    assert [(entry.document_id, entry.memories_count) for entry in told.items or ()] == [("d", 0)]
    assert told.usage is not None
    assert told.usage.total_tokens == 0
    assert running.result().superseded_by is None
    assert winner.result().superseded_by is None
    assert shelf.texts() == ["Third."]
    assert "Second." not in shelf.model.texts()


def test_an_append_is_never_superseded(shelf: Shelf) -> None:
    shelf.submit(item("Base."))
    shelf.deliver_all()
    shelf.submit(item("More.", update_mode="append"))
    shelf.submit(item("Whole and new."))

    shelf.deliver_all()

    rows = shelf.rows("SELECT result FROM operations WHERE kind = 'retain'")
    assert all("superseded_by" not in row["result"] for row in rows)
    assert shelf.texts() == ["Whole and new."]


def test_the_same_text_twice_without_ids_is_reported_and_not_merged(shelf: Shelf) -> None:
    """Case [R092]."""
    shelf.retain(item("Ada rows.", None, tags=("a",)))
    (first,) = shelf.rows("SELECT external_id FROM documents")

    shelf.retain(item("Ada rows.", None, tags=("a",)))
    shelf.retain(item("Ada rows.", None, tags=("b",)))

    results = [row["result"] for row in shelf.rows("SELECT result FROM operations ORDER BY created_at")]
    assert [list(result.get("duplicates", {}).values()) for result in results] == [[], [[first["external_id"]]], []]
    assert len(shelf.texts()) == 3


def test_names_that_join_alike_are_different_chunks(shelf: Shelf) -> None:
    """Case [R103]."""
    shelf.retain(item("In a.", "b_c"), bank="a")
    shelf.retain(item("In a_b.", "c"), bank="a_b")

    assert shelf.fact_texts("b_c") == ["In a."]
    assert shelf.fact_texts("c") == ["In a_b."]
    assert len(shelf.rows("SELECT DISTINCT document_id FROM chunks")) == 2


def test_items_are_grouped_as_documented_and_their_ids_lead_back(shelf: Shelf) -> None:
    """Case [R106] and [R107]."""
    shelf.retain(*(item(f"Fact {n}.", None) for n in range(200)))
    shelf.retain(item("One.", "d"), item("Two.\nThree.", "d"), item("Alone.", None))

    first, second = [row["result"]["items"] for row in shelf.rows("SELECT result FROM operations ORDER BY created_at")]
    assert len({entry["document_id"] for entry in first}) == 1
    assert [entry["memories_count"] for entry in first] == [1] * 200
    texts = {str(row["id"]): row["text"] for row in shelf.rows("SELECT id, text FROM memory_units")}
    assert [texts[entry["memory_ids"][0]] for entry in first] == [f"Fact {n}." for n in range(200)]
    assert [entry["document_id"] for entry in second][:2] == ["d", "d"]
    assert second[2]["document_id"] != "d"
    assert [[texts[each] for each in entry["memory_ids"]] for entry in second] == [
        ["One."], ["Two.", "Three."], ["Alone."],
    ]  # fmt: skip


def test_a_version_that_was_overtaken_between_reading_and_writing_is_made_again(shelf: Shelf) -> None:
    shelf.retain(item("Base."))

    def edited_meanwhile(call: ModelCall) -> JsonObject:
        shelf.change("UPDATE documents SET version = version + 1")
        shelf.model.script = one_fact_per_line
        return one_fact_per_line(call)

    shelf.model.script = edited_meanwhile
    result = shelf.retain(item("Next."))
    shelf.change("UPDATE operations SET due_at = now()")
    shelf.deliver_all()

    assert result.is_async
    assert shelf.texts() == ["Next."]
    assert shelf.model.texts() == ["Base.", "Next."]


@pytest.mark.parametrize("keeps_text", [True, False], ids=["text-kept", "text-not-kept"])
def test_whatever_is_edited_the_facts_are_those_of_the_text_in_its_order(
    shelf: Shelf, seed: int, *, keeps_text: bool
) -> None:
    shelf.configure_bank(retain_chunk_size=_SIZE, store_document_text=keeps_text)
    dice = Random(seed)
    pool = sections(30) + [f"Short line {number}." for number in range(10)]
    lines = dice.sample(pool, 8)
    shelf.retain(item("\n\n".join(lines)))
    for _ in range(12):
        for _ in range(dice.randint(1, 3)):
            place = dice.randrange(len(lines) + 1)
            if dice.random() < 0.5 and len(lines) > 2:
                moved = lines.pop(dice.randrange(len(lines)))
                lines[place:place] = [moved] if dice.random() < 0.5 else []
            else:
                lines.insert(place, dice.choice(pool))
        before = {fact["id"]: fact["updated_at"] for fact in shelf.facts("d")}

        shelf.retain(item("\n\n".join(lines)))

        facts, chunks = shelf.facts("d"), shelf.chunks("d")
        assert [fact["text"] for fact in facts] == lines
        assert [chunk["chunk_index"] for chunk in chunks] == list(range(len(chunks)))
        assert all(fact["updated_at"] == before.get(fact["id"], fact["updated_at"]) for fact in facts)
        counted = shelf.rows("SELECT coalesce(sum(units), 0) AS n FROM bank_counters")
        assert counted == [{"n": len(lines)}]


def _until_operations(shelf: Shelf, count: int) -> None:
    give_up_at = time.monotonic() + 60
    while len(shelf.rows("SELECT FROM operations")) < count:
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


def _refusing(mark: str) -> Script:
    def script(call: ModelCall) -> JsonObject | HindsightError:
        return ModelRefused("no") if mark in str(block(call, "chunk")["text"]) else one_fact_per_line(call)

    return script


def one_fact_per_turn(call: ModelCall) -> JsonObject:
    """Records each turn of the chunk as a fact."""
    text = str(block(call, "chunk")["text"])
    try:
        said = [turn["content"] for turn in json.loads(text)]
    except ValueError:
        said = [text]
    return {"facts": [fact(each) for each in said]}


def test_a_replace_that_gave_way_is_done_after_all_when_the_later_one_fails(shelf: Shelf) -> None:
    """Case [R102]: what was acknowledged is not lost to a replace that never was."""
    shelf.retain(item("Base."))
    shelf.submit(item("First."))
    shelf.submit(item("Second."))
    shelf.model.script = lambda call: (
        ModelRefused("no") if block(call, "chunk")["text"] == "Second." else one_fact_per_line(call)
    )

    shelf.deliver_all()

    rows = shelf.rows("SELECT status, result FROM operations WHERE kind = 'retain' ORDER BY created_at")
    assert [row["status"] for row in rows] == ["completed", "completed", "failed"]
    assert "superseded_by" not in rows[1]["result"]
    assert shelf.texts() == ["First."]


@pytest.mark.parametrize("seed", range(6))
def test_replaces_that_come_all_at_once_need_no_sweep_to_end(shelf: Shelf, seed: int) -> None:
    chance = Random(seed)
    texts = [f"Version {number}." for number in range(5)]
    for text in texts:
        shelf.submit(item(text))
    chance.shuffle(shelf.wakeups.operations)
    workers = [shelf.open_twin() for _ in range(4)]
    empty_handed = Barrier(4)

    def work(worker: Workshop) -> None:
        """Delivers until nobody has a message in hand and none is left."""
        while True:
            try:
                tenant_id, operation_id, _ = shelf.wakeups.operations.pop()
            except IndexError:
                empty_handed.wait(60)
                is_over = not shelf.wakeups.operations
                empty_handed.wait(60)
                if is_over:
                    return
                continue
            worker.deliver(tenant_id, operation_id)

    with ThreadPoolExecutor(4) as pool:
        for ended in [pool.submit(work, worker) for worker in workers]:
            ended.result()

    states = shelf.rows("SELECT status, result FROM operations WHERE kind = 'retain' ORDER BY created_at")
    assert [row["status"] for row in states] == ["completed"] * 5
    assert shelf.texts() == [texts[-1]]
