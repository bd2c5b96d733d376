"""What extraction finds, on its way into the database: modes, labels, order, and the dry run that stores nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from hindsight_aws.errors import ContentRefused, InvalidRequest, ModelRefused, NotFound, TooLarge
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.retain import DryRunRequest, EntityHint, RetainItem, dry_run
from hindsight_aws.text.terms import terms
from tests.integration.retain.conftest import Workshop
from tests.support.models import block, fact, one_fact_per_line


def _bank_with(workshop: Workshop, **overrides: object) -> None:
    """The bank, with these settings."""
    with workshop.store.transaction(workshop.tenant) as tx:
        bank = tx.banks.create_if_missing("bank")
        tx.banks.save(bank.bank_id, None, overrides)


def _labelled(call: ModelCall) -> JsonObject:
    return {
        "facts": [
            fact(
                "Mira bakes rye.",
                entities=["Mira"],
                labels=[{"key": "use", "value": value} for value in ("001", "002")],
            )
        ]
    }


_LABELS = [{"key": "use", "type": "multi-values", "values": ["001", "002"], "tag": True}]


def test_a_reply_without_facts_leaves_a_document_without_memories(workshop: Workshop) -> None:
    """[R038]."""
    workshop.model.script = lambda _call: {"facts": []}

    workshop.retain(RetainItem("Hello.", document_id="d"))

    assert workshop.rows("SELECT status FROM operations") == [{"status": "completed"}]
    assert workshop.rows("SELECT chunk_text FROM chunks") == [{"chunk_text": "Hello."}]
    assert workshop.rows("SELECT text FROM memory_units") == []


def test_facts_of_several_chunks_stand_in_the_order_of_the_text(workshop: Workshop) -> None:
    """[R059]."""
    _bank_with(workshop, retain_chunk_size=60)
    lines = [f"Line {number} of this text is long." for number in range(6)]

    workshop.retain(RetainItem("\n".join(lines), document_id="d"))

    rows = workshop.rows("SELECT text, chunk_index FROM memory_units ORDER BY mentioned_at, chunk_index, ordinal")
    assert [row["text"] for row in rows] == lines
    assert len({row["chunk_index"] for row in rows}) >= 3


def test_a_fact_is_found_by_the_place_it_happened_in(workshop: Workshop) -> None:
    """[R058]."""
    workshop.model.script = lambda _call: {"facts": [fact("Eve met Bo.", where="Montreal")]}

    workshop.retain(RetainItem("x"))

    (term,) = terms("Montreal")
    assert len(workshop.rows("SELECT * FROM unit_terms WHERE term = %s", term)) == 1


def test_word_for_word_a_chunk_of_which_nothing_is_said_is_stored(workshop: Workshop) -> None:
    """[R060]."""
    _bank_with(workshop, retain_extraction_mode="verbatim")
    workshop.model.script = lambda _call: {"facts": []}

    workshop.retain(RetainItem("I said it so,  exactly."))

    assert workshop.texts() == ["I said it so,  exactly."]


def test_custom_rules_are_shown_and_without_them_the_mode_is_concise(workshop: Workshop) -> None:
    _bank_with(workshop, retain_extraction_mode="custom", retain_custom_instructions="Only birds.")
    workshop.retain(RetainItem("A wren sang."))
    _bank_with(workshop, retain_extraction_mode="custom", retain_custom_instructions=" ")
    workshop.retain(RetainItem("A lark sang."))

    custom, concise = workshop.model.calls
    assert custom.prompt.startswith("extract_facts_custom@")
    assert block(custom, "instructions") == {"text": "Only birds."}
    assert concise.prompt.startswith("extract_facts@")


def test_chunks_that_no_model_reads_carry_the_banks_default_scopes(workshop: Workshop) -> None:
    """[R061]."""
    _bank_with(workshop, retain_extraction_mode="chunks", default_observation_scopes="per_tag")

    workshop.retain(RetainItem("As it is.", tags=("a", "b")))

    assert workshop.model.calls == []
    rows = workshop.rows("SELECT s.tags FROM consolidation_work w JOIN scopes s USING (scope_id) ORDER BY 1")
    assert [row["tags"] for row in rows] == [["a"], ["b"]]


def test_labels_become_entities_and_tags_of_their_fact(workshop: Workshop) -> None:
    """[R068]: two labels that are nearly the same word are two."""
    _bank_with(workshop, entity_labels=_LABELS)
    workshop.model.script = _labelled

    workshop.retain(RetainItem("x", tags=("user:mira",)))

    names = Counter(row["canonical_name"] for row in workshop.rows("SELECT canonical_name FROM entities"))
    assert names == Counter(["Mira", "use:001", "use:002"])
    assert workshop.rows("SELECT tags FROM memory_units") == [{"tags": ["user:mira", "use:001", "use:002"]}]


def test_without_free_form_only_labels_and_the_callers_names_are_entities(workshop: Workshop) -> None:
    """[R069]."""
    _bank_with(workshop, entities_allow_free_form=False)
    workshop.model.script = _labelled

    workshop.retain(RetainItem("x", entities=(EntityHint("Wes"),)))

    assert [row["canonical_name"] for row in workshop.rows("SELECT canonical_name FROM entities")] == ["Wes"]
    assert "entities" not in str(workshop.model.calls[0].tools[0].schema)


def _tried(workshop: Workshop, content: str, bank: str = "bank", **fields: Any) -> Any:
    return dry_run(workshop.ports, workshop.principal, bank, DryRunRequest(RetainItem(content), **fields))


def test_a_dry_run_tells_what_would_be_found_and_stores_only_what_it_cost(workshop: Workshop) -> None:
    tried = _tried(workshop, "One.\nTwo.")

    assert [(text, [each.text for each in found.facts]) for text, found in tried.chunks] == [
        ("One.\nTwo.", ["One.", "Two."])
    ]
    assert tried.usage.total_tokens == 120
    assert len(workshop.rows("SELECT * FROM usage_ledger WHERE task = 'extract_facts'")) == 1
    assert [workshop.rows(f"SELECT * FROM {table}") for table in ("banks", "operations", "documents")] == [[], [], []]


def test_a_dry_run_follows_the_bank_and_what_is_asked_besides(workshop: Workshop) -> None:
    _bank_with(
        workshop, retain_mission="Birds.", retain_strategies={"s": {"retain_mission": "Bees."}}, retain_chunk_size=500
    )
    item = RetainItem("x", strategy="s")

    dry_run(workshop.ports, workshop.principal, "bank", DryRunRequest(item))
    dry_run(
        workshop.ports,
        workshop.principal,
        "bank",
        DryRunRequest(item, {"retain_extraction_mode": "verbose"}, asks_causes=False, language="German"),
    )

    first, second = workshop.model.calls
    assert [block(call, "mission")["text"] for call in (first, second)] == ["Bees."] * 2
    assert second.prompt.startswith("extract_facts_verbose@")
    assert block(second, "language") == {"language": "German"}
    assert "caused_by" not in second.system


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"retain_chunk_size": 0}, "retain_chunk_size"),
        ({"retain_chunk_size": 64_000}, "RETAIN_MAX_COMPLETION_TOKENS"),
        ({"entity_labels": [{}]}, "entity_labels"),
    ],
)
def test_a_dry_run_under_settings_no_bank_could_have_is_refused(
    workshop: Workshop, overrides: dict[str, object], named: str
) -> None:
    with pytest.raises(InvalidRequest, match=named):
        _tried(workshop, "x", overrides=overrides)

    assert workshop.model.calls == []


def test_a_dry_run_that_fails_is_in_the_ledger_all_the_same(workshop: Workshop) -> None:
    workshop.model.script = lambda _call: ModelRefused("withheld")

    with pytest.raises(ModelRefused, match="withheld"):
        _tried(workshop, "x")

    assert workshop.rows("SELECT status FROM usage_ledger") == [{"status": "refused"}]


def test_a_dry_run_shows_the_model_nothing_that_screening_keeps_from_it(workshop: Workshop) -> None:
    _bank_with(workshop, memory_defense={"enabled": True, "rules": [{"on": "email", "action": "block"}]})

    with pytest.raises(ContentRefused):
        _tried(workshop, "Write to mira@example.com.")

    assert workshop.model.calls == []


def test_a_dry_run_stays_within_what_can_be_waited_for(workshop: Workshop) -> None:
    with pytest.raises(TooLarge):
        _tried(workshop, "x" * 60_001)


def test_a_dry_run_on_a_bank_out_of_sight_finds_no_bank(workshop: Workshop) -> None:
    limited = replace(workshop.principal, bank_patterns=("other-*",))

    with pytest.raises(NotFound):
        dry_run(workshop.ports, limited, "bank", DryRunRequest(RetainItem("x")))


def test_the_second_chunk_of_a_text_sees_the_end_of_the_first(workshop: Workshop) -> None:
    _bank_with(workshop, retain_chunk_size=40)
    workshop.configure(hindsight_api_retain_parallelism=1)
    workshop.model.script = one_fact_per_line

    workshop.retain(RetainItem("Mira bakes rye in Graz.\nShe opens at five, he helps.", document_id="d"))

    first, second = workshop.model.calls
    assert block(first, "neighbours") == {"after": "She opens at five, he helps."}
    assert block(second, "neighbours") == {"before": "Mira bakes rye in Graz."}
    assert (block(second, "chunk")["position"], block(second, "chunk")["total"]) == (1, 2)
