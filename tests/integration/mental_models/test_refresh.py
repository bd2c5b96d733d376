"""Refreshes of mental models, as whole runs: what they write, what they leave, and what they cost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hindsight_aws.errors import DatabaseUnavailable, ModelUnavailable
from hindsight_aws.mental_models import manage
from hindsight_aws.mental_models.refresh.basis import basis_of
from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.request import job_from_json
from hindsight_aws.store.reflect import PostgresReflectRuns
from tests.support.admin import changing
from tests.support.reflect import Said
from tests.support.refreshing import Garden, edits, page, ready
from tests.support.units import Unit

ROSES, DOG = Unit("Roses grow in the yard."), Unit("The dog sleeps in the yard.")
TULIPS = Unit("Tulips grow in the yard too.")
SECTION: JsonObject = {"op": "append_block", "section_id": "plants", "text": "Tulips too."}
WRONG: JsonObject = {"op": "append_block", "section_id": "plants", "text": "x", "why": "y"}
ELSEWHERE: JsonObject = {"op": "append_block", "section_id": "bees", "text": "x"}
WRITTEN = ("completed", "content_written", None)


def _written(garden: Garden, **trigger: Any) -> None:
    """A page about roses, and a memory that it has not seen."""
    garden.rig.remember(ROSES, DOG)
    asked = garden.plant(**trigger)
    garden.say(ready(), page("Roses grow here.", cites=("f1",)))
    garden.grow(asked)
    garden.rig.remember(TULIPS)


def test_a_first_refresh_writes_the_page_from_what_it_found(garden: Garden) -> None:
    garden.rig.remember(ROSES, DOG)
    garden.say(ready(), page("Roses grow here.", cites=("f1",)))

    asked = garden.plant(mode="delta")
    garden.grow(asked)

    view = garden.view()
    assert garden.outcome(garden.operation(asked.operation_id)) == WRITTEN
    assert view.model.content == "# Plants\n\nRoses grow here.\n"
    assert view.staleness is None
    assert garden.tasks == ["reflect_turn", "refresh_document"]
    assert view.model.last_full_refreshed_at is not None


def test_new_memories_are_worked_in_by_edits(garden: Garden) -> None:
    _written(garden, mode="delta")
    assert garden.view().staleness == "new_memories"
    garden.say(ready(), edits(SECTION))

    done = garden.refresh()

    assert garden.outcome(done) == WRITTEN
    assert garden.model().content == "# Plants\n\nRoses grow here.\n\nTulips too.\n"
    assert garden.tasks == ["reflect_turn", "refresh_ops"]
    assert garden.view().staleness is None
    (past,) = [entry for entry in garden.history() if entry.content]
    assert past.content == "# Plants\n\nRoses grow here.\n"


def test_only_what_is_new_is_shown_to_a_delta(garden: Garden) -> None:
    _written(garden, mode="delta")
    garden.say(ready(), edits())

    garden.refresh()

    shown = "\n".join(garden.rig.model.calls[-1].blocks)
    assert TULIPS.text in shown
    assert DOG.text not in shown


def test_an_empty_scope_costs_no_call(garden: Garden) -> None:
    """[X058] No memory in the scope: no model call, the text is preserved, and the time of the refresh moves."""
    garden.rig.remember(ROSES)

    asked = garden.plant("bees", "bees")
    garden.grow(asked)

    assert garden.outcome(garden.operation(asked.operation_id)) == (
        "completed", "content_preserved_no_new_facts", None,
    )  # fmt: skip
    assert garden.tasks == []
    assert garden.model("bees").last_refreshed_at is not None
    assert asked.scope_matches == 0


def test_nothing_new_costs_no_call(garden: Garden) -> None:
    """[X058] A delta of a page that has seen all there is."""
    _written(garden, mode="delta")
    garden.say(ready(), edits(SECTION))
    garden.refresh()
    before = garden.model()
    garden.say(ready())

    done = garden.refresh()

    after = garden.model()
    assert garden.outcome(done) == ("completed", "content_preserved_no_new_facts", None)
    assert garden.tasks == []
    assert (after.content, after.version) == (before.content, before.version)
    assert after.last_refreshed_at is not None
    assert before.last_refreshed_at is not None
    assert after.last_refreshed_at > before.last_refreshed_at


def test_a_commit_that_straddles_the_cutoff_is_seen_by_the_next_refresh(garden: Garden) -> None:
    """[X059] A transaction that began before the last memory that was seen, and committed after the refresh."""
    garden.rig.remember(ROSES)
    asked = garden.plant(mode="delta")
    garden.say(ready(), page("Roses grow here.", cites=("f1",)))
    with changing(garden.rig.database.admin_url) as late:
        late.execute(
            "INSERT INTO memory_units (tenant_id, bank_id, id, fact_type, text, embedding, event_date) "
            "SELECT tenant_id, bank_id, gen_random_uuid(), fact_type, 'Lilies grow here, late.', embedding, now() "
            "FROM memory_units WHERE id = %s",
            (ROSES.id,),
        )
        garden.rig.remember(DOG)
        garden.grow(asked)
        assert [view.staleness for view in (garden.view(), *garden.listed())] == [None, None]

    assert [view.staleness for view in (garden.view(), *garden.listed())] == ["new_memories"] * 2
    page_id = garden.model().page_id
    with garden.rig.store.snapshot(garden.rig.tenant) as tx:
        reading = tx.mental_models.reading(garden.rig.bank_id, page_id)
    seen = garden.model().last_memory_seen_at
    assert reading.unseen == 1
    assert reading.oldest_unseen is not None
    assert seen is not None
    assert reading.oldest_unseen < seen
    garden.say(ready(), edits())

    garden.refresh()

    assert "Lilies grow here, late." in "\n".join(garden.rig.model.calls[-1].blocks)
    assert garden.view().staleness is None
    assert garden.model().last_memory_seen_at == seen


def test_a_delta_without_edits_leaves_every_byte(garden: Garden) -> None:
    """[X060] Zero edits: the text, its structure and its version stay."""
    _written(garden, mode="delta")
    before = garden.model()
    garden.say(ready(), edits())

    done = garden.refresh()

    after = garden.model()
    assert garden.outcome(done) == ("completed", "content_unchanged", None)
    assert (after.content, after.structure, after.version) == (before.content, before.structure, before.version)
    assert garden.view().staleness is None


def test_one_malformed_edit_is_asked_about_once_more_and_then_fails(garden: Garden) -> None:
    """[X061] The second call holds the error; a second bad reply leaves text and watermark as they were."""
    _written(garden, mode="delta")
    before = garden.model()
    garden.say(ready(), edits(SECTION, WRONG))

    done = garden.refresh()

    after = garden.model()
    assert garden.outcome(done) == ("failed", "refresh_failed_delta_not_applied", "delta_ops_failed")
    assert garden.tasks == ["reflect_turn", "refresh_ops", "refresh_ops"]
    assert "operations[1].why does not belong to append_block" in "\n".join(garden.rig.model.calls[-1].blocks)
    assert after.content == before.content
    assert after.last_memory_seen_at == before.last_memory_seen_at
    assert after.last_refreshed_at == before.last_refreshed_at
    assert after.last_refresh_failed_at is not None
    assert after.is_paused


def test_a_malformed_edit_that_is_mended_is_applied(garden: Garden) -> None:
    """[X061] One bad reply, then a good one."""
    _written(garden, mode="delta")
    garden.say(ready(), edits(WRONG), edits(SECTION))

    done = garden.refresh()

    assert garden.outcome(done) == WRITTEN
    assert "Tulips too." in garden.model().content


def test_edits_of_which_none_fits_fail_the_refresh(garden: Garden) -> None:
    """[X062] All skipped: asked once more with the real ids, then failed."""
    _written(garden, mode="delta")
    garden.say(ready(), edits(ELSEWHERE))

    done = garden.refresh()

    assert garden.outcome(done) == ("failed", "refresh_failed_delta_not_applied", "delta_ops_all_skipped")
    assert "plants:" in "\n".join(garden.rig.model.calls[-1].blocks)


def test_one_edit_of_several_that_does_not_fit_is_a_warning(garden: Garden) -> None:
    """[X062] One of three skipped."""
    _written(garden, mode="delta")
    garden.say(ready(), edits(SECTION, ELSEWHERE, {**SECTION, "text": "Both."}))

    done = garden.refresh()

    assert garden.outcome(done) == WRITTEN
    response = garden.model().response
    assert response is not None
    assert response["warnings"] == ["there is no section 'bees'"]
    assert garden.model().content.endswith("Tulips too.\n\nBoth.\n")


def test_another_question_is_answered_by_a_whole_page(garden: Garden) -> None:
    """[X066] source_query changed: full; one that failed does not count the new question as answered."""
    _written(garden, mode="delta")
    with changing(garden.rig.database.admin_url) as connection:
        connection.execute("UPDATE mental_models SET source_query = 'What sleeps here?'")
    garden.say(ready(), page())

    failed = garden.refresh()

    assert garden.outcome(failed) == ("failed", "refresh_failed_empty_candidate", "empty_candidate")
    assert garden.model().written_query == "What grows here?"
    garden.say(ready(), page("The dog.", heading="Sleepers", cites=("f1",)))

    done = garden.refresh()

    assert garden.outcome(done) == WRITTEN
    assert garden.tasks[-1] == "refresh_document"
    assert garden.model().written_query == "What sleeps here?"


@pytest.mark.parametrize(
    ("tags", "trigger", "filtered"),
    [
        (["a"], {}, [{"tags": ["a"], "match": "all_strict", "resolve": "exact"}]),
        (["a"], {"tags_match": "any"}, [{"tags": ["a"], "match": "any", "resolve": "exact"}]),
        (["a"], {"tag_groups": [{"tags": ["b"]}]}, [{"tags": ["b"], "match": "any_strict", "resolve": "exact"}]),
        ([], {}, []),
    ],
    ids=["all_strict by default", "tags_match of the trigger", "tag_groups alone", "no tags, no filter"],
)
def test_a_model_reads_what_its_tags_and_trigger_name(
    garden: Garden, tags: list[str], trigger: dict[str, Any], filtered: list[JsonValue]
) -> None:
    """[X056] What the refresh searches with."""
    garden.rig.remember(Unit("Roses.", tags=("a", "b")))
    garden.rig.workflows.runs = False
    asked = garden.plant("plants", *tags, **trigger)
    garden.grow(asked)
    run = garden.rig.find(RunId(garden.rig.workflows.started[-1]))

    with garden.rig.store.snapshot(garden.rig.tenant) as tx:
        basis = basis_of(tx, run)

    assert basis.request["tags"] == filtered
    assert job_from_json(basis.request).request.excluded_pages == {"plants"}


def test_a_model_never_finds_itself(garden: Garden) -> None:
    """[X057] The search for pages in its own refresh, and reading it by its id, find nothing of it."""
    _written(garden)
    looks = Said((
        ("search_mental_models", {"reason": "r", "query": "Roses grow here."}),
        ("read_mental_models", {"reason": "r", "mental_model_ids": ["plants"]}),
    ))  # fmt: skip
    garden.say(looks, ready(), page("All new.", cites=("f1",)))

    garden.refresh(full=True)

    told = str([turn.results for call in garden.rig.model.calls for turn in call.history])
    assert "Roses grow here." not in told


def test_an_empty_page_keeps_the_old_one_and_pauses_what_comes_by_itself(garden: Garden) -> None:
    """[X068] The old text stays, the operation failed, automatic refreshes wait."""
    _written(garden)
    before = garden.model()
    garden.say(ready(), page())

    done = garden.refresh()

    assert garden.outcome(done) == ("failed", "refresh_failed_empty_candidate", "empty_candidate")
    after = garden.model()
    assert after.content == before.content
    assert after.is_paused
    (failure,) = [entry for entry in garden.history() if entry.kind == "failure"]
    assert failure.failure_reason == "empty_candidate"


def test_a_model_that_cannot_be_reached_pauses_nothing(garden: Garden) -> None:
    """[X068] A passing error: tried again later, and nothing is paused."""
    _written(garden)
    garden.say(ModelUnavailable("away"))

    waiting = garden.refresh()

    assert waiting.status == "pending"
    assert waiting.next_retry_at is not None
    assert waiting.next_retry_at > datetime.now(UTC)
    assert not garden.model().is_paused
    assert garden.model().last_refresh_failed_at is None


def test_a_refresh_that_somebody_asked_for_ends_the_pause(garden: Garden) -> None:
    """[X069] Success clears what a failure had paused."""
    _written(garden)
    garden.say(ready(), page())
    garden.refresh()
    assert garden.model().is_paused
    garden.say(ready(), page("Tulips.", cites=("f1",)))

    garden.refresh()

    assert not garden.model().is_paused


def test_a_reply_that_is_no_document_is_asked_about_once_and_then_fails(garden: Garden) -> None:
    """[X039] A block that is an object: one more call, which names the field, then failure."""
    garden.rig.remember(ROSES)
    block: JsonObject = {"text": "Roses."}
    wrong: JsonObject = {"sections": [{"heading": "Plants", "level": 1, "blocks": [block]}]}
    garden.say(ready(), Said((("refresh_document", {"document": wrong, "answer_found": True}),)))

    asked = garden.plant()
    garden.grow(asked)

    assert garden.outcome(garden.operation(asked.operation_id)) == ("failed", "refresh_failed_error", "no_answer")
    assert garden.tasks == ["reflect_turn", "refresh_document", "refresh_document"]
    assert "document.sections[0].blocks[0] must be a string" in "\n".join(garden.rig.model.calls[-1].blocks)
    assert garden.model().content == ""


def test_a_page_with_a_schema_carries_what_fits_it(garden: Garden) -> None:
    garden.rig.remember(ROSES)
    schema: JsonObject = {"type": "object", "properties": {"plant": {"type": "string"}}, "required": ["plant"]}
    filled = Said((("structured_answer", {"plant": "rose"}),))
    garden.say(ready(), page("Roses.", cites=("f1",)), filled)

    garden.grow(garden.plant(response_schema=schema, keep_trace=True))

    response = garden.model().response
    assert response is not None
    assert response["structured_output"] == {"plant": "rose"}
    trace = response["trace"]
    assert isinstance(trace, dict)
    assert [call["tool"] for call in trace["tool_calls"]]
    assert ROSES.text not in str(response)


def test_a_page_without_what_its_schema_asks_for_is_not_written(garden: Garden) -> None:
    garden.rig.remember(ROSES)
    schema: JsonObject = {"type": "object", "properties": {"plant": {"type": "string"}}, "required": ["plant"]}
    garden.say(ready(), page("Roses.", cites=("f1",)), Said((("structured_answer", {"tree": "oak"}),)))

    asked = garden.plant(response_schema=schema)
    garden.grow(asked)

    done = garden.operation(asked.operation_id)
    assert garden.outcome(done) == ("failed", "refresh_failed_structured_output", "structured_output_failed")
    assert garden.model().content == ""


def test_a_cleared_page_is_written_whole_again(garden: Garden) -> None:
    """[X075] Clear: the next delta is a full one."""
    _written(garden, mode="delta")
    model = garden.model()
    with garden.rig.store.transaction(garden.rig.tenant) as tx:
        manage.clear(tx, garden.rig.bank_id, model, keeps_past=True)
    assert garden.model().content == ""
    garden.say(ready(), page("All of it.", cites=("f1",)))

    done = garden.refresh()

    assert garden.outcome(done) == WRITTEN
    assert garden.tasks == ["reflect_turn", "refresh_document"]
    assert [entry.content for entry in garden.history() if entry.content] == ["# Plants\n\nRoses grow here.\n"]


def test_sixty_refreshes_and_sixty_failures_leave_fifty_of_each(garden: Garden) -> None:
    """[X074] Fifty versions and fifty failures are kept, and no more rows than that."""
    _written(garden)
    page_id = garden.model().page_id
    with garden.rig.store.transaction(garden.rig.tenant) as tx:
        for _ in range(60):
            tx.mental_models.clear(garden.rig.bank_id, page_id)
            tx.mental_models.fail(garden.rig.bank_id, page_id, "o", "r", "m", pauses=False)

    kinds = [entry.kind for entry in garden.history()]

    assert kinds.count("version") == 50
    assert kinds.count("failure") == 50
    with changing(garden.rig.database.admin_url) as connection:
        assert connection.execute("SELECT count(*) FROM mental_model_revisions").fetchone() == (100,)


def test_a_page_is_embedded_once_however_often_its_end_is_tried(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vector was paid for: it is kept until the text is written."""
    garden.rig.remember(ROSES)
    asked = garden.plant()
    garden.say(ready(), page("Roses grow here.", cites=("f1",)))
    end, tried = PostgresReflectRuns.complete, iter([False])

    def fails_once(runs: PostgresReflectRuns, bank_id: BankId, run_id: RunId, answer: JsonObject | None) -> bool:
        if not next(tried, True):
            raise DatabaseUnavailable("gone for a moment")
        return end(runs, bank_id, run_id, answer)

    monkeypatch.setattr(PostgresReflectRuns, "complete", fails_once)

    garden.grow(asked)

    assert garden.outcome(garden.operation(asked.operation_id)) == WRITTEN
    assert garden.rig.embedder.texts.count("Plants\n\n# Plants\n\nRoses grow here.\n") == 1
    assert next(tried, None) is None
