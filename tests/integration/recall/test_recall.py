"""Recall over Postgres, as the role that reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest

from hindsight_aws.errors import AccessDenied, InvalidRequest, ModelThrottled, ModelUnavailable, NotFound
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.model.tags import TagFilter, TagLeaf, TagsMatch
from hindsight_aws.ports.model_gateway import Embedding, EmbeddingPurpose, UsageSink
from hindsight_aws.recall import Budget, MinScores, RecallQuery, fact_types_of
from hindsight_aws.settings import Settings
from tests.support.database import Database
from tests.support.recalling import EAST, NORTH, Asking, ToldEmbedder
from tests.support.units import Unit, insert_units, make_bank


class _Backwards:
    """A rerank model that likes the last best."""

    ranks_only = False

    def rerank(self, query: str, texts: Sequence[str], top: int, usage: UsageSink) -> list[tuple[int, float]]:
        return [(index, (index + 1) / len(texts)) for index in reversed(range(len(texts)))]


class _Ranking(_Backwards):
    """One whose scores tell the order alone."""

    ranks_only = True


class _Broken:
    ranks_only = False

    def rerank(self, query: str, texts: Sequence[str], top: int, usage: UsageSink) -> list[tuple[int, float]]:
        raise ModelUnavailable("down")


def _ledger(database: Database) -> list[tuple[object, ...]]:
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute("SELECT task, status, subject, input_tokens FROM hindsight.usage_ledger").fetchall()


def test_both_arms_find_and_agreement_comes_first(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(
        database.admin_url, tenant, bank,
        [
            Unit("The kettle is in the kitchen", vector=EAST),
            Unit("Water is boiled before noon", vector=NORTH),
            Unit("Mara bought a kettle", vector=NORTH),
            Unit("The tram was late", vector=EAST),
        ],
    )  # fmt: skip

    answer = asking.ask("where is the kettle?")

    assert answer.results[0].unit.text == "Mara bought a kettle"
    assert {result.unit.text for result in answer.results[1:]} == {
        "The kettle is in the kitchen",
        "Water is boiled before noon",
    }
    assert answer.results[0].scores.semantic == pytest.approx(1.0)
    assert answer.results[0].scores.keyword is not None


def test_the_rarer_word_and_the_shorter_fact_weigh_more(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(
        database.admin_url, tenant, bank,
        [Unit(f"Mara walks path {number}") for number in range(20)]
        + [
            Unit("Mara keeps an aquarium"),
            Unit("Nils keeps an aquarium and a garden and a workshop and an orchard and a boat"),
            Unit("Nils keeps an aquarium"),
        ],
    )  # fmt: skip

    texts = asking.texts("Mara aquarium")

    assert texts[0] == "Mara keeps an aquarium"
    assert texts[1] == "Nils keeps an aquarium"
    assert texts[2].startswith("Nils keeps an aquarium and")


def test_the_same_question_gives_the_same_order_whatever_the_ids(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH) for _ in range(50)])

    first = [result.unit.id for result in asking.ask("tea").results]

    assert first == sorted(first)
    assert first == [result.unit.id for result in asking.ask("tea").results]


def test_only_the_types_asked_for_come_back(database: Database, tenant: TenantId, bank: BankId, asking: Asking) -> None:
    units = [Unit(f"tea {kind}", kind, vector=NORTH) for kind in ("world", "experience", "observation")]
    insert_units(database.admin_url, tenant, bank, units)

    assert asking.texts(RecallQuery("tea", fact_types_of(["world", "opinion"]))) == ["tea world"]
    assert len(asking.texts("tea")) == 3


def test_a_retired_type_alone_finds_nothing_and_embeds_nothing(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH)])

    assert asking.texts(RecallQuery("tea", fact_types_of(["opinion"]))) == []
    assert asking.embedder.asked == []


def test_an_unknown_bank_is_not_found_before_anything_is_embedded(asking: Asking) -> None:
    with pytest.raises(NotFound, match="Bank 'nowhere' not found"):
        asking.ask("tea", "nowhere")

    assert asking.embedder.asked == []


def test_an_empty_bank_answers_nothing_and_costs_nothing(bank: BankId, asking: Asking) -> None:
    assert asking.ask("tea").results == ()
    assert asking.embedder.asked == []


def test_a_bank_that_goes_meanwhile_is_not_found(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q080]."""
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH)])

    class Slow(ToldEmbedder):
        def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
            with psycopg.connect(database.admin_url) as admin:
                admin.execute("DELETE FROM hindsight.banks")
            return super().embed(texts, purpose, usage)

    with pytest.raises(NotFound, match="Bank 'bank' not found"):
        replace(asking, embedder=Slow()).ask("tea")


def test_only_the_types_asked_for_are_found_and_none_costs_nothing(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q004] [Q006]."""
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH), Unit("tea", "experience", vector=NORTH)])

    assert asking.ask(RecallQuery("tea", fact_types_of(["opinion"]))).results == ()
    assert asking.embedder.asked == []
    (only,) = asking.ask(RecallQuery("tea", fact_types_of(["world", "opinion"]))).results
    assert only.unit.fact_type == "world"


def test_what_is_not_alike_enough_is_found_by_its_words_alone(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q016]."""
    units = [Unit("tea", vector=(0.29, 0.957, 0.0)), Unit("milk", vector=(0.29, 0.957, 0.0))]
    insert_units(database.admin_url, tenant, bank, units)

    (only,) = asking.ask("tea").results

    assert only.unit.text == "tea"
    assert only.scores.semantic is None
    assert only.scores.keyword is not None


def test_of_many_words_the_rarest_are_looked_up(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q022]."""
    crowd = [Unit(f"kettle cup water {number}") for number in range(20)]
    insert_units(database.admin_url, tenant, bank, [*crowd, Unit("samovar")])
    few = replace(asking, settings=Settings(hindsight_environment="local", hindsight_api_bm25_max_query_terms=1))

    assert few.texts("kettle cup water samovar") == ["samovar"]


def test_the_rows_behind_the_best_three_hundred_are_read(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q045]."""
    units = [Unit(f"tea {number}", vector=(1.0, number / 1_000, 0.0)) for number in range(350)]
    insert_units(database.admin_url, tenant, bank, units)

    answer = asking.ask(RecallQuery("milk", budget=Budget.HIGH, max_tokens=100_000))

    assert {hit.unit.text for hit in answer.results} == {f"tea {number}" for number in range(300)}


def test_a_key_without_read_or_for_other_banks_is_refused(bank: BankId, asking: Asking) -> None:
    with pytest.raises(AccessDenied):
        asking.limited(permissions=frozenset({Permission.WRITE})).ask("tea")
    with pytest.raises(NotFound, match="Bank 'bank' not found"):
        asking.limited(bank_patterns=("other-*",)).ask("tea")


def test_a_long_query_is_cut_before_it_is_embedded(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH)])

    asking.ask("tea " * 2_000)

    (embedded,) = asking.embedder.asked
    assert len(embedded.split()) == 500


def test_the_queries_embedding_is_on_the_ledger(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH)])

    asking.ask("tea")

    assert _ledger(database) == [("embed_query", "ok", "me", 7)]


def test_an_embedding_that_fails_is_on_the_ledger_too(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH)])
    throttled = replace(asking, embedder=ToldEmbedder(error=ModelThrottled("slow down")))

    with pytest.raises(ModelThrottled):
        throttled.ask("tea")

    assert _ledger(database) == [("embed_query", "throttled", "me", 7)]


def test_vectors_of_another_model_are_left_out_and_the_trace_says_so(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH), Unit("milk", vector=NORTH)])
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("UPDATE hindsight.banks SET embedding_model = 'another'")

    answer = asking.ask(RecallQuery("tea", with_trace=True))

    assert [result.unit.text for result in answer.results] == ["tea"]
    assert answer.trace is not None
    assert answer.trace["summary"]["degraded"] == ["semantic"]  # type: ignore[index]  # absent fails the test
    assert asking.embedder.asked == []


def test_a_fact_without_a_vector_is_found_by_its_words(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("green tea"), Unit("milk", vector=NORTH)])

    (first, second) = asking.ask("tea").results

    assert {first.unit.text, second.unit.text} == {"green tea", "milk"}
    assert {first.scores.semantic, second.scores.keyword} & {None}


def test_a_query_without_direction_is_answered_by_words(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH), Unit("milk", vector=NORTH)])
    lost = replace(asking, embedder=ToldEmbedder(vector=(0.0,)))

    assert lost.texts("tea") == ["tea"]


def test_a_floor_of_one_arm_leaves_the_other_alone(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    units = [Unit("tea leaves", vector=(1.0, 1.0)), Unit("milk", vector=(1.0, 1.0))]
    insert_units(database.admin_url, tenant, bank, units)

    (only,) = asking.ask(RecallQuery("tea", min_scores=MinScores(semantic=0.9))).results

    assert (only.unit.text, only.scores.semantic) == ("tea leaves", None)
    assert asking.texts(RecallQuery("tea", min_scores=MinScores(keyword=99.0, semantic=0.9))) == []


def test_a_question_of_stop_words_finds_by_meaning_alone(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("what is the plan", vector=NORTH)])

    (only,) = asking.ask("what is the").results

    assert only.scores.keyword is None


def test_a_bank_may_turn_its_text_search_off(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=EAST), Unit("milk", vector=NORTH)])
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("""UPDATE hindsight.banks SET config = '{"enable_text_search": false}'""")

    answer = asking.ask(RecallQuery("tea", with_trace=True))

    assert [result.unit.text for result in answer.results] == ["milk"]
    assert answer.trace is not None
    assert "bm25" not in {arm["method"] for arm in answer.trace["retrieval_results"]}  # type: ignore[attr-defined]  # JSON


def test_a_rerank_model_orders_and_a_broken_one_is_passed_over(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea tea", vector=NORTH), Unit("tea with milk", vector=EAST)])
    query = RecallQuery("tea", with_trace=True)

    fused = asking.ask(query)
    reranked = asking.ask(query, reranker=_Backwards())
    passed_over = asking.ask(query, reranker=_Broken())

    assert [hit.unit.id for hit in reranked.results] == [hit.unit.id for hit in reversed(fused.results)]
    assert reranked.results[0].scores.reranker == pytest.approx(1.0)
    assert [hit.unit.id for hit in passed_over.results] == [hit.unit.id for hit in fused.results]
    assert passed_over.trace is not None
    assert passed_over.trace["summary"]["degraded"] == ["rerank"]  # type: ignore[index]  # absent fails the test


def test_a_rerank_model_sees_dates_and_context_and_the_question_as_cut(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q011] [Q052]."""
    dated = Unit("tea", vector=NORTH, context="at noon", occurred_start=datetime(2025, 3, 5, tzinfo=UTC))
    insert_units(database.admin_url, tenant, bank, [dated, Unit("tea with milk", vector=NORTH)])
    seen: list[tuple[str, set[str]]] = []

    class Noting(_Backwards):
        def rerank(self, query: str, texts: Sequence[str], top: int, usage: UsageSink) -> list[tuple[int, float]]:
            seen.append((query, set(texts)))
            return super().rerank(query, texts, top, usage)

    asking.ask("tea " * 2_000, reranker=Noting())

    ((query, texts),) = seen
    assert [query] == asking.embedder.asked
    assert texts == {"[Date: March 05, 2025 (2025-03-05)] at noon: tea", "tea with milk"}


def test_a_model_that_only_ranks_shows_no_scores_and_takes_no_floor(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q020]."""
    insert_units(database.admin_url, tenant, bank, [Unit("tea tea", vector=NORTH), Unit("tea with milk", vector=EAST)])

    ranked = asking.ask("tea", reranker=_Ranking())

    assert [hit.unit.text for hit in ranked.results] == ["tea with milk", "tea tea"]
    assert {hit.scores.reranker for hit in ranked.results} == {None}
    with pytest.raises(InvalidRequest, match=r"min_scores\.reranker"):
        asking.ask(RecallQuery("tea", min_scores=MinScores(reranker=0.5)), reranker=_Ranking())


def test_quotes_come_with_observations_for_who_may_see_what_lies_beneath(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    mine = Unit("leaves at noon", vector=EAST, tags=("me",))
    hers = Unit("a secret", vector=EAST, tags=("her",))
    seen = Unit("tea is liked", "observation", vector=NORTH, tags=("me",), sources=(mine.id, hers.id))
    insert_units(database.admin_url, tenant, bank, [mine, hers, seen])
    query = RecallQuery("tea", fact_types_of(["observation"]), with_quotes=True)
    forced = asking.limited(forced_tags=TagLeaf(frozenset({"me"})))
    company = asking.limited(exact_scopes=frozenset({frozenset({"me"})}))

    of_all, of_forced = (asks.ask(query).quotes_of or {} for asks in (asking, forced))
    assert {quote.text for quote in of_all[seen.id]} == {"leaves at noon", "a secret"}  # type: ignore[index]  # a UUID
    assert {quote.text for quote in of_forced[seen.id]} == {"leaves at noon"}  # type: ignore[index]  # a UUID
    assert company.ask(query).quotes_of is None
    assert asking.ask(replace(query, with_quotes=False)).quotes_of is None


def test_chunks_come_without_facts_when_no_tokens_are_left_for_facts(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    units = [Unit("tea at noon", vector=NORTH, document="diary_1", chunk_index=0)]
    insert_units(database.admin_url, tenant, bank, units)

    answer = asking.ask(RecallQuery("tea", max_tokens=0, chunk_tokens=100))

    assert answer.results == ()
    assert answer.chunks is not None
    assert [(chunk.chunk_id, chunk.text) for chunk in answer.chunks] == [
        ("bank_diary~5F1_0", "Chunk 0 of diary_1: tea at noon")
    ]


def test_chunks_follow_rank_and_an_observation_brings_those_of_its_sources(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    source = Unit("leaves", vector=EAST, document="a", chunk_index=0)
    units = [
        source,
        Unit("tea tea tea", "observation", vector=NORTH, sources=(source.id,)),
        Unit("tea or something else", vector=NORTH, document="b", chunk_index=0),
    ]
    insert_units(database.admin_url, tenant, bank, units)

    answer = asking.ask(RecallQuery("tea", chunk_tokens=1_000))

    assert answer.results[0].unit.text == "tea tea tea"
    assert answer.chunks is not None
    assert [chunk.chunk_id for chunk in answer.chunks] == ["bank_a_0", "bank_b_0"]


def test_a_chunk_is_hidden_when_its_documents_tags_do_not_pass(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(
        database.admin_url, tenant, bank, [Unit("tea", vector=NORTH, tags=("a",), document="d", chunk_index=0)]
    )
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("UPDATE hindsight.documents SET tags = '{b}'")

    answer = asking.ask(RecallQuery("tea", tags=TagFilter.flat(["a"], TagsMatch.ANY_STRICT), chunk_tokens=100))

    assert len(answer.results) == 1
    assert answer.chunks == ()


def test_an_observation_inherits_its_sources_entities_once_each(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    sources = [Unit("leaves", vector=EAST, entities=("Mara", "Oslo")), Unit("cups", vector=EAST, entities=("Mara",))]
    observation = Unit("tea", "observation", vector=NORTH, sources=tuple(source.id for source in sources))
    insert_units(database.admin_url, tenant, bank, [*sources, observation])

    answer = asking.ask("tea")

    assert answer.entities_of is not None
    assert [entity.name for entity in answer.entities_of[answer.results[0].unit.id]] == ["Mara", "Oslo"]
    assert asking.ask(RecallQuery("tea", with_entities=False)).entities_of is None


def test_source_facts_come_with_observations_when_asked_for(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    sources = [Unit("leaves", vector=EAST), Unit("cups", vector=EAST)]
    observation = Unit("tea", "observation", vector=NORTH, sources=tuple(source.id for source in sources))
    insert_units(database.admin_url, tenant, bank, [*sources, observation])

    answer = asking.ask(RecallQuery("tea", fact_types_of(["observation"]), source_tokens=4_096))

    assert answer.sources is not None
    assert set(answer.sources.ids_of[answer.results[0].unit.id]) == {source.id for source in sources}
    assert {fact.text for fact in answer.sources.facts} == {"leaves", "cups"}
    assert not answer.sources.is_truncated
    assert answer.withheld is None


def test_preferred_observations_take_the_place_of_their_sources(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    source = Unit("tea at noon", vector=NORTH)
    units = [source, Unit("tea", "observation", vector=NORTH, sources=(source.id,)), Unit("tea bags", vector=NORTH)]
    insert_units(database.admin_url, tenant, bank, units)

    assert set(asking.texts(RecallQuery("tea", prefer_observations=True))) == {"tea", "tea bags"}
    assert "tea at noon" in asking.texts(RecallQuery("tea", fact_types_of(["world"]), prefer_observations=True))


def test_a_key_for_exact_scopes_sees_their_observations_and_nothing_beneath(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    source = Unit("tea at noon", vector=NORTH, tags=("company",), document="d", chunk_index=0, entities=("Mara",))
    units = [
        source,
        Unit("tea is liked", "observation", vector=NORTH, tags=("company",), sources=(source.id,)),
        Unit("tea is hers", "observation", vector=NORTH, tags=("company", "user:mara"), sources=(source.id,)),
        Unit("tea is everywhere", "observation", vector=NORTH),
    ]
    insert_units(database.admin_url, tenant, bank, units)
    company = asking.limited(exact_scopes=frozenset({frozenset({"company"})}))

    answer = company.ask(RecallQuery("tea", chunk_tokens=1_000, source_tokens=1_000))

    assert [result.unit.text for result in answer.results] == ["tea is liked"]
    assert (answer.entities_of, answer.chunks, answer.sources) == (None, None, None)
    assert answer.withheld == 1


def test_forced_tags_bind_results_sources_and_entities(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    mine = Unit("leaves", vector=EAST, tags=("user:me",), entities=("Oslo",))
    theirs = Unit("tea of hers", vector=NORTH, tags=("user:her",), entities=("Secret",))
    both = Unit("tea", "observation", vector=NORTH, tags=("user:me",), sources=(mine.id, theirs.id))
    insert_units(database.admin_url, tenant, bank, [mine, theirs, both])
    limited = asking.limited(forced_tags=TagLeaf(frozenset({"user:me"})))

    answer = limited.ask(RecallQuery("tea", tags=TagFilter.flat(["user:her", "user:me"]), source_tokens=1_000))

    assert [result.unit.text for result in answer.results] == ["tea"]
    assert answer.sources is not None
    assert [fact.text for fact in answer.sources.facts] == ["leaves"]
    assert answer.entities_of is not None
    assert [entity.name for entity in answer.entities_of[both.id]] == ["Oslo"]  # type: ignore[index]  # absent fails the test
    assert answer.withheld == 1


def test_the_requests_own_filter_binds_sources_as_well(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    source = Unit("leaves", vector=EAST, tags=("b",))
    insert_units(
        database.admin_url, tenant, bank,
        [source, Unit("tea", "observation", vector=NORTH, tags=("a",), sources=(source.id,))],
    )  # fmt: skip

    answer = asking.ask(RecallQuery("tea", tags=TagFilter.flat(["a"], TagsMatch.ANY_STRICT), source_tokens=1_000))

    assert answer.sources is not None
    assert answer.sources.facts == ()
    assert answer.sources.ids_of == {answer.results[0].unit.id: ()}


def test_no_other_bank_and_no_other_tenant_is_read(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    insert_units(database.admin_url, tenant, make_bank(database.admin_url, tenant, "next"), [Unit("tea", vector=NORTH)])
    insert_units(database.admin_url, tenant, bank, [Unit("milk", vector=EAST)])

    assert asking.texts("tea") == []


@pytest.mark.parametrize("tag", ["\0", "a\0b", "\ud800", '") || true || ("', "$t1", "{a,b}", "NULL", ""])
def test_a_hostile_tag_matches_nothing_and_breaks_nothing(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking, tag: str
) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit("tea", vector=NORTH, tags=("a",))])

    for mode in TagsMatch:
        assert asking.texts(RecallQuery("tea", tags=TagFilter.flat([tag], mode))) == []
        assert asking.texts(RecallQuery("tea", tags=TagFilter.flat([tag, "a"], TagsMatch.ANY))) == ["tea"]
