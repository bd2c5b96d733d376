"""What a question may be: anything odd or huge is refused by name, or answered in bounded time."""

from __future__ import annotations

import time

import pytest

from tests.support.api import Caller

_BANK = "/v1/default/banks/bank"
_RECALL = f"{_BANK}/memories/recall"


@pytest.fixture
def kettle(call: Caller) -> None:
    item = {"content": "The kettle is blue.", "tags": ["kitchen"], "document_id": "letter"}
    assert call("POST", f"{_BANK}/memories", {"items": [item]}).status == 200


@pytest.mark.parametrize("query", ["?!…", "", "   ", "🙂🙂", "\ud83d", "—"])
@pytest.mark.usefixtures("kettle")
def test_a_question_without_a_word_is_refused(call: Caller, query: str) -> None:
    """[Q001]."""
    refused = call("POST", _RECALL, {"query": query})

    assert refused.status == 422
    assert "word character" in refused.body.decode()


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("kettle " * 400_000, id="a book"),
        pytest.param("k" * 2_500_000, id="one endless word"),
        pytest.param("水" * 800_000, id="no spaces"),
        pytest.param("kettle \ud83d half", id="half an emoji"),
        pytest.param("what is the", id="stop words alone"),
        pytest.param("kettle\0blue", id="a NUL"),
        pytest.param("kettle | & ! ( ' :* <-> %s %(x)s", id="operators"),
    ],
)
@pytest.mark.usefixtures("kettle")
def test_an_odd_question_is_answered_in_bounded_time(call: Caller, query: str) -> None:
    """[Q011] [Q012] [Q021]: cut, and never refused for its length."""
    began = time.process_time()

    answer = call("POST", _RECALL, {"query": query})

    assert answer.status == 200
    assert time.process_time() - began < 5


@pytest.mark.usefixtures("kettle")
def test_tags_are_as_many_as_can_be_looked_for(call: Caller) -> None:
    many = [f"tag-{number}" for number in range(999)]
    mode = {"tags_match": "any_strict"}

    found = call("POST", _RECALL, {"query": "kettle", "tags": [*many, "kitchen"], **mode})
    repeated = call("POST", _RECALL, {"query": "kettle", "tags": ["kitchen"] * 50_000, **mode})
    refused = call("POST", _RECALL, {"query": "kettle", "tags": [*many, "kitchen", "more"]})
    in_groups = call("POST", _RECALL, {"query": "kettle", "tag_groups": [{"tags": many}]})

    assert [len(answer.json()["results"]) for answer in (found, repeated)] == [1, 1]
    assert refused.status == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "tags"]
    assert in_groups.status == 422
    assert "tag_groups" in in_groups.body.decode()


@pytest.mark.usefixtures("kettle")
def test_everything_that_can_be_included_is_there_when_asked_for(call: Caller) -> None:
    """The trace tells of every arm how many candidates it had and how long the database took."""
    include: dict[str, object] = {"entities": {}, "chunks": {}, "source_facts": {}, "evidence": {}}

    answer = call("POST", _RECALL, {"query": "kettle", "include": include, "trace": True}).json()
    plain = call("POST", _RECALL, {"query": "kettle"}).json()

    assert [chunk["text"] for chunk in answer["chunks"].values()] == ["The kettle is blue."]
    assert answer["source_facts"] == {}
    assert answer["source_facts_truncated"] is False
    arms = {arm["method"]: arm for arm in answer["trace"]["retrieval_results"] if arm["fact_type"] == "world"}
    assert arms.keys() >= {"semantic", "bm25"}
    assert all(arm["candidates"] == len(arm["results"]) == 1 for arm in (arms["semantic"], arms["bm25"]))
    assert all(arm["duration_seconds"] > 0 for arm in (arms["semantic"], arms["bm25"]))
    assert answer["trace"]["freshness"] == {"stale_results": 0, "pending": 0, "failed": 0}
    assert plain["trace"] is plain["chunks"] is plain["source_facts"] is None
