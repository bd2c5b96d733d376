"""What becomes of a page when what it rests on is deleted: withheld at once, mended, and gone from its past."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from hindsight_aws.errors import ModelRefused
from hindsight_aws.jobs.refreshes import tend_pages
from hindsight_aws.mental_models import dry_run, manage
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall
from hindsight_aws.ports.store import DueBy
from tests.support.admin import changing
from tests.support.reflect import Said
from tests.support.refreshing import Garden, edits, page, ready, retraction
from tests.support.units import Unit

SECRET = "Rosalind hides gold where it grows"
"""Every text holds a word of the question, so that a search finds it."""
GOLD, ROSES, DOG = Unit(f"{SECRET}."), Unit("Roses grow in the yard."), Unit("The dog sleeps where it grows.")
GOLD_BLOCK, ROSE_BLOCK = f"{SECRET} here.", "Roses grow here."


def _written(garden: Garden, *cites: str, **trigger: Any) -> None:
    garden.rig.remember(GOLD, ROSES, DOG)
    asked = garden.plant(**{"mode": "delta", **trigger})
    aliases = ("f1", "f2", "f3")
    garden.say(ready(), page(GOLD_BLOCK, ROSE_BLOCK, cites=cites or aliases))
    garden.grow(asked)


def _block(garden: Garden, text: str) -> str:
    structure = garden.model().structure
    assert structure is not None
    sections = structure["sections"]
    assert isinstance(sections, list)
    return next(str(block["id"]) for section in sections for block in section["blocks"] if block["text"] == text)


def _unsaid(garden: Garden) -> JsonObject:
    return {"op": "remove_block", "section_id": "plants", "block_id": _block(garden, GOLD_BLOCK)}


def _everything(garden: Garden) -> str:
    """All that the database holds of pages, their past, what they rest on, and runs' answers."""
    tables = ("mental_models", "mental_model_revisions", "mental_model_citations", "reflect_runs", "reflect_steps")
    with changing(garden.rig.database.admin_url) as connection:
        rows = [connection.execute(f"SELECT t::text FROM {table} t").fetchall() for table in tables]
    return str(rows)


def test_a_page_that_rests_on_a_deleted_memory_is_stale_and_withheld(garden: Garden) -> None:
    """[X067] Stale in the single read, and in lists; its text is shown to nobody until it is mended."""
    _written(garden)

    garden.delete(GOLD.id)

    view = garden.view()
    assert view.staleness == "source_deleted"
    assert view.is_withheld
    assert [one.staleness for one in garden.listed()] == ["source_deleted"]


def test_a_retraction_removes_what_rested_on_it_and_nothing_else(garden: Garden) -> None:
    """[X067] The unsay pass: one call, also when nothing is new; citations pruned, the past blanked."""
    _written(garden)
    unsaid = _unsaid(garden)
    garden.delete(GOLD.id)
    garden.say(retraction(unsaid))

    done = garden.refresh()

    view = garden.view()
    assert garden.outcome(done) == ("completed", "content_written", None)
    assert garden.tasks == ["retract"]
    assert SECRET in "\n".join(garden.rig.model.calls[0].blocks)
    assert view.model.content == "# Plants\n\nRoses grow here.\n"
    assert view.staleness is None
    assert [entry.content for entry in garden.history()] == [None, ""]
    assert SECRET not in _everything(garden)


def test_new_memories_are_worked_in_after_the_retraction(garden: Garden) -> None:
    _written(garden)
    unsaid = _unsaid(garden)
    garden.delete(GOLD.id)
    garden.rig.remember(Unit("Tulips grow in the yard."))
    garden.say(ready(), retraction(unsaid), edits({"op": "append_block", "section_id": "plants", "text": "Tulips."}))

    garden.refresh()

    assert garden.tasks == ["reflect_turn", "retract", "refresh_ops"]
    assert SECRET not in "\n".join(garden.rig.model.calls[-1].blocks)
    assert garden.model().content == "# Plants\n\nRoses grow here.\n\nTulips.\n"


def test_a_retraction_that_fails_is_tried_again_and_shows_nothing_meanwhile(garden: Garden) -> None:
    """[X067] On failure what is gone is kept for the next try."""
    _written(garden)
    unsaid = _unsaid(garden)
    garden.delete(GOLD.id)
    garden.say(retraction({"op": "burn"}))

    done = garden.refresh()

    assert done.status == "failed"
    assert garden.view().is_withheld
    garden.say(retraction(unsaid))
    assert garden.outcome(garden.refresh()) == ("completed", "content_written", None)
    assert not garden.view().is_withheld


def test_a_retraction_waits_for_consolidation(garden: Garden) -> None:
    """[X067] Pending consolidation: deferred without a call; the text stays withheld."""
    _written(garden)
    garden.delete(GOLD.id)
    _await_consolidation(garden)
    garden.say(ready())

    done = garden.refresh()

    assert garden.outcome(done) == ("completed", "content_preserved_no_new_facts", None)
    assert garden.tasks == []
    assert garden.view().is_withheld


@pytest.mark.parametrize("is_left", [True, False])
def test_a_text_that_rested_on_deleted_memories_alone_goes_with_them(garden: Garden, is_left: bool) -> None:
    """[X067] All cited are gone: G7 asks for more than pruned citations.  Written anew, or empty without any memory."""
    _written(garden, "f1")
    cited = _cited(garden)
    others = [unit for unit in (GOLD, ROSES, DOG) if unit.id != cited]
    garden.delete(cited, *(() if is_left else (unit.id for unit in others)))
    garden.say(ready(), page("Only the rest.", cites=("f1",)))

    done = garden.refresh()

    assert garden.outcome(done) == ("completed", "content_written", None)
    assert garden.tasks == (["reflect_turn", "refresh_document"] if is_left else [])
    assert garden.model().content == ("# Plants\n\nOnly the rest.\n" if is_left else "")
    assert not garden.view().is_withheld
    assert SECRET not in _everything(garden)


def test_the_sweep_has_pages_mended_that_nobody_refreshes(garden: Garden) -> None:
    _written(garden)
    garden.say(ready(), page())
    garden.refresh(full=True)
    assert garden.model().is_paused
    unsaid = _unsaid(garden)
    garden.delete(GOLD.id)
    garden.say(retraction(unsaid))
    due = garden.rig.store.due_work(100, DueBy(observations=True, auto_consolidation=True))

    tend_pages(garden.door, due)

    assert [work.kind for work in due] == ["page_deletion"]
    assert garden.tasks == ["retract"]
    assert garden.view().staleness is None
    assert garden.rig.store.due_work(100, DueBy(observations=True, auto_consolidation=True)) == []


def test_a_former_text_goes_with_what_it_rested_on(garden: Garden) -> None:
    """The present text no longer rests on the memory; the past one does."""
    _written(garden)
    garden.say(ready(), page("All new.", cites=("f2",)))
    garden.refresh(full=True)
    gone = next(unit for unit in (GOLD, ROSES, DOG) if unit.id != _cited(garden))
    assert garden.history()[0].content is not None

    garden.delete(gone.id)

    assert garden.history()[0].content is None
    assert garden.view().staleness is None
    tend_pages(garden.door, garden.rig.store.due_work(100, DueBy(observations=True, auto_consolidation=True)))
    assert SECRET not in _everything(garden)
    assert garden.tasks == ["reflect_turn", "refresh_document"]


def test_what_a_page_read_in_another_goes_with_what_that_one_rested_on(garden: Garden) -> None:
    """[G7] The second page names the roses and the first page; its words come from the gold beneath that."""
    garden.rig.remember(GOLD, ROSES)
    first, second = garden.plant("first"), garden.plant("second")
    garden.say(ready(), page(GOLD_BLOCK, cites=("f1", "f2")))
    garden.grow(first)
    garden.say(ready(), _of_the_page)
    garden.grow(second)
    assert SECRET in garden.model("second").content

    garden.delete(GOLD.id)

    assert [garden.view(name).is_withheld for name in ("first", "second")] == [True, True]


@pytest.mark.parametrize("how", ["mended", "mended unkept", "cleared", "cleared unkept", "removed"])
def test_a_page_is_not_written_from_one_that_changed_while_it_was_read(garden: Garden, how: str) -> None:
    """What it read rested on what is gone: either that is known and withholds the text, or it is tried again."""
    garden.rig.remember(GOLD, ROSES)
    first, second = garden.plant("first"), garden.plant("second")
    garden.say(ready(), page(GOLD_BLOCK, cites=("f1", "f2")))
    garden.grow(first)
    model = garden.model("first")

    def meanwhile(call: ModelCall) -> Said:
        garden.delete(GOLD.id)
        with garden.rig.store.transaction(garden.rig.tenant) as tx:
            if how == "removed":
                manage.delete(tx, garden.rig.bank_id, model.page_id)
            else:
                manage.clear(tx, garden.rig.bank_id, model, keeps_past="unkept" not in how)
            if "mended" in how:
                tx.mental_models.purge(garden.rig.bank_id, model.page_id)
        return _of_the_page(call)

    garden.say(ready(), meanwhile)

    garden.grow(second)

    assert garden.operation(second.operation_id).status == "pending"
    assert SECRET not in garden.model("second").content


@pytest.mark.parametrize("how", ["deleted", "edited", "waits", "refused"])
def test_a_preview_of_a_withheld_page_tells_nothing_of_what_is_gone(garden: Garden, how: str) -> None:
    """[G7] Its present text is shown, compared and stored as empty; the new one only once that was taken out."""
    _written(garden)
    unsaid = _unsaid(garden)
    if how == "edited":
        garden.edit(GOLD, "Rosalind grows nothing here.")
    else:
        garden.delete(GOLD.id)
    added = edits({"op": "append_block", "section_id": "plants", "text": "Tulips."})
    if how == "waits":
        _await_consolidation(garden)
        garden.rig.remember(Unit("Tulips grow in the yard."))
        garden.say(ready(), edits({"op": "append_block", "section_id": "plants", "text": f"{SECRET} and tulips."}))
    elif how == "refused":
        garden.say(retraction())
    else:
        garden.say(*([ready()] if how == "edited" else []), retraction(unsaid), added)

    run = dry_run.dry_run(garden.door, garden.rig.principal, garden.rig.bank, "plants")

    assert run.answer is not None, (run.status, run.error)
    told = json.dumps(run.answer)
    assert SECRET not in told
    assert run.answer["current_content"] == ""
    assert ("Roses grow here." in told.split("preview_content")[1]) == (how in {"deleted", "edited"})
    with changing(garden.rig.database.admin_url) as connection:
        answers = connection.execute("SELECT r.answer::text FROM reflect_runs r").fetchall()
    assert SECRET not in str(answers)


def test_an_edited_fact_leaves_its_former_words_nowhere(garden: Garden) -> None:
    """[G7] An edit is a deletion of what was said: withheld at once, taken out, gone from the past."""
    _written(garden)
    unsaid = _unsaid(garden)
    garden.edit(GOLD, "Rosalind grows nothing here.")
    assert garden.view().staleness == "source_deleted"
    assert garden.view().is_withheld
    edit = edits({"op": "append_block", "section_id": "plants", "text": "Rosalind grows nothing."})
    garden.say(ready(), retraction(unsaid), edit)

    done = garden.refresh()

    assert garden.outcome(done) == ("completed", "content_written", None)
    assert garden.model().content == "# Plants\n\nRoses grow here.\n\nRosalind grows nothing.\n"
    assert SECRET not in _everything(garden)
    garden.delete(GOLD.id)
    assert garden.view().is_withheld


def test_a_correction_that_changes_no_word_withholds_nothing(garden: Garden) -> None:
    _written(garden)

    garden.edit(GOLD, GOLD.text)

    assert not garden.view().is_withheld


def test_a_fact_that_is_edited_while_its_page_is_written_withholds_it(garden: Garden) -> None:
    garden.rig.remember(GOLD)
    asked = garden.plant()

    def meanwhile(_call: ModelCall) -> Said:
        garden.edit(GOLD, "Rosalind grows nothing here.")
        return page(GOLD_BLOCK, cites=("f1",))

    garden.say(ready(), meanwhile)

    garden.grow(asked)

    assert garden.view().is_withheld


def test_a_retraction_that_waits_leaves_an_edited_fact_gone(garden: Garden) -> None:
    """New words are worked in while the old ones wait to be taken out: the page stays withheld."""
    _written(garden)
    garden.edit(GOLD, "Rosalind grows nothing here.")
    _await_consolidation(garden)
    garden.say(ready(), edits({"op": "append_block", "section_id": "plants", "text": "Nothing grows."}))

    garden.refresh()

    assert "Nothing grows." in garden.model().content
    assert garden.view().is_withheld


def test_a_page_that_cannot_be_mended_is_asked_for_ever_more_seldom(garden: Garden) -> None:
    """[G10] Refused each time: a day of sweeps pays for few calls, and after ten failures it waits for somebody."""
    _written(garden)
    garden.delete(GOLD.id)
    garden.say(ModelRefused("no"))

    for _ in range(8):
        _pass(garden, timedelta(minutes=15))
    soon = len(garden.tasks)
    for _ in range(15):
        _pass(garden, timedelta(days=1))

    assert 3 <= soon <= 5
    assert len(garden.tasks) == 10
    garden.say(retraction(_unsaid(garden)))
    assert garden.outcome(garden.refresh()) == ("completed", "content_written", None)


def _await_consolidation(garden: Garden) -> None:
    """The roses are to be consolidated."""
    with changing(garden.rig.database.admin_url) as connection:
        at = (garden.rig.tenant, garden.rig.bank_id)
        connection.execute(
            "INSERT INTO scopes (tenant_id, bank_id, scope_id, scope_key, tags) VALUES (%s, %s, %s, 'k', '{}')",
            (*at, ROSES.id),
        )
        connection.execute(
            "INSERT INTO consolidation_work (tenant_id, bank_id, work_id, fact_id, scope_id) "
            "VALUES (%s, %s, gen_random_uuid(), %s, %s)",
            (*at, ROSES.id, ROSES.id),
        )


def _pass(garden: Garden, span: timedelta) -> None:
    """Time goes by, and a sweep."""
    with changing(garden.rig.database.admin_url) as connection:
        connection.execute("UPDATE mental_models SET mend_at = mend_at - %s", (span,))
        connection.execute(
            "UPDATE mental_model_revisions SET changed_at = changed_at - %s WHERE kind = 'failure'", (span,)
        )
        connection.execute("UPDATE mental_models SET last_refreshed_at = last_refreshed_at - %s", (span,))
    tend_pages(garden.door, garden.rig.store.due_work(100, DueBy(observations=True, auto_consolidation=True)))


def _of_the_page(call: ModelCall) -> Said:
    """The model copies what the other page says, and names that page and the roses."""
    (evidence,) = (
        json.loads(block.split("\n")[1]) for block in call.blocks if block.startswith('<data kind="evidence">')
    )
    aliases = {piece["text"]: piece["id"] for piece in evidence}
    pages: list[JsonValue] = [alias for alias in aliases.values() if alias.startswith("p")]
    assert pages
    ((_, reply),) = page(f"{SECRET}, says the other page.", cites=(aliases[ROSES.text],)).uses
    return Said((("refresh_document", {**reply, "mental_model_ids": pages}),))


def _cited(garden: Garden) -> UUID:
    page_id = garden.model().page_id
    with garden.rig.store.snapshot(garden.rig.tenant) as tx:
        (citation,) = tx.mental_models.citations(garden.rig.bank_id, page_id)
    return citation.id
