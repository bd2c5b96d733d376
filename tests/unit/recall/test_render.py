"""The answer's bytes, held against the published schema."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

from hindsight_aws.model.ids import EntityId, ScopeId
from hindsight_aws.model.recalled import (
    Freshness,
    NamedEntity,
    Quote,
    RankedUnit,
    RecallAnswer,
    RecalledChunk,
    Scores,
    SourceFacts,
)
from hindsight_aws.recall import render
from tests.unit.recall.made import unit, unit_id

_TOP = ["results", "trace", "entities", "chunks", "source_facts", "source_facts_truncated"]
_RESULT = [
    "id", "text", "type", "entities", "context", "occurred_start", "occurred_end", "mentioned_at", "document_id",
    "metadata", "chunk_id", "tags", "source_fact_ids", "scores", "attachments",
]  # fmt: skip


def test_nothing_found_has_every_key_and_nulls() -> None:
    body = json.loads(render(RecallAnswer(results=())))

    assert body == dict.fromkeys(_TOP) | {"results": []}


def test_a_result_has_every_key_in_order() -> None:
    found = unit(
        7, 'Say "hi" \\ \n ☕ \u2028', mentioned_at=datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2))),
        document="doc_1", metadata={"k": "v"}, tags=("user:mara",),
    )  # fmt: skip
    scores = Scores(0.5, None, 0.25, 1e-7)

    body = json.loads(render(RecallAnswer((RankedUnit(found, scores),), bank="b")))

    (result,) = body["results"]
    assert list(result) == _RESULT
    assert result["text"] == found.text
    assert result["mentioned_at"] == "2026-01-01T22:00:00+00:00"
    assert result["chunk_id"] == "b_doc~5F1_0"
    assert result["metadata"] == {"k": "v"}
    assert result["scores"] == {"final": 0.5, "reranker": None, "semantic": 0.25, "keyword": 1e-7}
    assert result["source_fact_ids"] is None


def test_an_instant_keeps_its_microseconds() -> None:
    found = unit(1, mentioned_at=datetime(2026, 1, 2, 3, 4, 5, 30_000, tzinfo=UTC))

    body = json.loads(render(RecallAnswer((RankedUnit(found, Scores(1.0)),))))

    assert body["results"][0]["mentioned_at"] == "2026-01-02T03:04:05.030000+00:00"


def test_entities_stand_with_the_result_and_by_name_in_order_of_appearance() -> None:
    mara, tea = NamedEntity(EntityId(UUID(int=5)), "Mara"), NamedEntity(EntityId(UUID(int=6)), 'T"ea')
    results = (RankedUnit(unit(1), Scores(1.0)), RankedUnit(unit(2), Scores(0.9)), RankedUnit(unit(3), Scores(0.8)))

    body = json.loads(render(RecallAnswer(results, entities_of={unit_id(1): (tea,), unit_id(2): (mara, tea)})))

    assert [result["entities"] for result in body["results"]] == [['T"ea'], ["Mara", 'T"ea'], None]
    assert list(body["entities"]) == ['T"ea', "Mara"]
    assert body["entities"]["Mara"] == {
        "entity_id": str(mara.entity_id),
        "canonical_name": "Mara",
        "observations": [],
    }


def test_chunks_sources_and_what_is_withheld_are_shown() -> None:
    answer = RecallAnswer(
        (RankedUnit(unit(1, fact_type="observation"), Scores(1.0)),),
        chunks=(RecalledChunk("b_d_0", "text", 0, True),),
        sources=SourceFacts({unit_id(1): (unit_id(2), unit_id(3))}, (unit(2),), True),
        withheld=2,
        trace={"summary": {"results_returned": 1}},
    )

    body = json.loads(render(answer))

    assert body["chunks"] == {
        "b_d_0": {"id": "b_d_0", "text": "text", "chunk_index": 0, "truncated": True, "attachments": None}
    }
    assert body["results"][0]["source_fact_ids"] == [str(unit_id(2)), str(unit_id(3))]
    assert list(body["source_facts"]) == [str(unit_id(2))]
    assert body["source_facts"][str(unit_id(2))]["scores"] is None
    assert body["source_facts_truncated"] is True
    assert body["withheld"] == 2
    assert body["trace"]["summary"]["results_returned"] == 1


def test_metadata_is_text_to_text() -> None:
    odd = unit(1)
    odd = type(odd)(**{name: getattr(odd, name) for name in odd.__slots__} | {"metadata": {"n": 1, "gone": None}})

    body = json.loads(render(RecallAnswer((RankedUnit(odd, Scores(1.0)),))))

    assert body["results"][0]["metadata"] == {"n": "1"}


def test_an_observation_shows_whether_it_is_stale_and_its_evidence_when_that_was_asked_for() -> None:
    results = (RankedUnit(unit(1, fact_type="observation"), Scores(1.0)), RankedUnit(unit(2), Scores(0.9)))
    fresh = {unit_id(1): Freshness(ScopeId(UUID(int=7)), 1, 0)}
    quotes = {unit_id(1): (Quote(unit_id(2), 'so "green"', "model"),)}

    shown = json.loads(render(RecallAnswer(results, fresh_of=fresh, quotes_of=quotes)))["results"]
    plain = json.loads(render(RecallAnswer(results, fresh_of=fresh)))["results"]

    assert shown[0]["stale"] is True
    assert shown[0]["evidence"] == [{"fact_id": str(unit_id(2)), "quote": 'so "green"', "origin": "model"}]
    assert "evidence" not in shown[1]
    assert "evidence" not in plain[0]
