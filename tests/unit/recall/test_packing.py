"""What fits into token budgets."""

from __future__ import annotations

import pytest

from hindsight_aws.ports.recall import StoredChunk
from hindsight_aws.recall.packing import fitting, fitting_chunks, fitting_sources
from hindsight_aws.text.tokens import count_tokens
from tests.unit.recall.made import result, unit, unit_id


def _words(count: int) -> str:
    return " ".join(["tea"] * count)


def test_a_fact_that_does_not_fit_is_skipped_for_smaller_ones() -> None:
    results = [result(1, _words(50)), result(2, _words(500)), result(3, _words(40))]

    kept = fitting(results, 100)

    assert [hit.unit.id for hit in kept] == [unit_id(1), unit_id(3)]


def test_the_best_fact_comes_whole_when_nothing_fits() -> None:
    kept = fitting([result(1, _words(500)), result(2, _words(400))], 100)

    assert [hit.unit.id for hit in kept] == [unit_id(1)]


@pytest.mark.parametrize("blank", [" " * 900, "=" * 64, "\n" + " " * 900], ids=["gap", "rule", "indentation"])
def test_a_memory_with_a_wide_table_that_fits_is_not_taken_for_a_long_one(blank: str) -> None:
    table = f"tea{blank}cup"

    kept = fitting([result(1, _words(20)), result(2, table), result(3, _words(9))], 20 + count_tokens(table))

    assert [hit.unit.id for hit in kept] == [unit_id(1), unit_id(2)]


def test_no_tokens_give_no_facts() -> None:
    assert fitting([result(1)], 0) == ()
    assert fitting([result(1)], -5) == ()


def test_the_first_chunk_that_overflows_is_cut_and_ends_the_list() -> None:
    chunks = [StoredChunk("doc_1", index, _words(60)) for index in range(3)]

    kept = fitting_chunks(chunks, "my~bank", 100)

    assert [(chunk.chunk_id, chunk.is_truncated) for chunk in kept] == [
        ("my~7Ebank_doc~5F1_0", False),
        ("my~7Ebank_doc~5F1_1", True),
    ]
    assert count_tokens(kept[1].text) == 40


def test_an_oversized_source_is_skipped_and_told() -> None:
    results = [result(1, fact_type="observation")]
    sources = {unit_id(1): (unit_id(2), unit_id(3), unit_id(4))}
    facts = {unit_id(2): unit(2, _words(8)), unit_id(3): unit(3, _words(20)), unit_id(4): unit(4, _words(2))}

    packed = fitting_sources(results, sources, facts, 10, -1)

    assert [fact.id for fact in packed.facts] == [unit_id(2), unit_id(4)]
    assert packed.ids_of == {unit_id(1): (unit_id(2), unit_id(3), unit_id(4))}
    assert packed.is_truncated


def test_a_shared_source_comes_once_and_no_limit_takes_all() -> None:
    results = [result(1, fact_type="observation"), result(5, fact_type="observation")]
    sources = {unit_id(1): (unit_id(2),), unit_id(5): (unit_id(2),)}

    packed = fitting_sources(results, sources, {unit_id(2): unit(2, _words(9_000))}, -1, -1)

    assert [fact.id for fact in packed.facts] == [unit_id(2)]
    assert not packed.is_truncated


def test_each_observation_may_have_a_budget_of_its_own() -> None:
    results = [result(1, fact_type="observation"), result(5, fact_type="observation")]
    sources = {unit_id(1): (unit_id(2),), unit_id(5): (unit_id(3),)}
    facts = {unit_id(2): unit(2, _words(5)), unit_id(3): unit(3, _words(5))}

    assert len(fitting_sources(results, sources, facts, 0, 5).facts) == 2
    nothing = fitting_sources(results, sources, facts, 4096, 0)
    assert nothing.facts == ()
    assert nothing.is_truncated
