"""Reading what the model recorded: each fact on its own terms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.retain.extraction.found import Extraction, from_json, to_json
from hindsight_aws.retain.extraction.record_facts import read_facts

_WEST = timezone(timedelta(hours=-8))
_MARCH = datetime(2024, 3, 10, 15, 30, tzinfo=_WEST)
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)
_OPTIONAL = ("when", "where", "who", "why", "fact_type", "fact_kind", "occurred_start", "entities", "caused_by")
_FACTS = st.lists(
    st.one_of(
        _JSON,
        st.fixed_dictionaries(
            {"what": st.one_of(_JSON, st.just("A fact."))},
            optional=dict.fromkeys(_OPTIONAL, _JSON),
        ),
    ),
    max_size=6,
)  # fmt: skip


def _one(**fields: Any) -> Any:
    (found,) = read_facts({"facts": [{"what": "It rained.", "fact_type": "world", **fields}]}, _MARCH).facts
    return found


def test_a_malformed_fact_costs_none_of_its_neighbours() -> None:
    given_facts: list[Any] = [{"what": f"Fact {number}."} for number in range(9)]
    given_facts.insert(4, {"what": ["not", "text"]})

    found = read_facts({"facts": given_facts}, _MARCH)

    assert len(found.facts) == 9
    assert found.problems == ("facts[4] has a `what` that is not text",)


@pytest.mark.parametrize("what", ["N/A", "n/a", "", [], None, "...", "—", "👍", " \u200b "])
def test_a_fact_that_says_nothing_is_skipped_quietly(what: Any) -> None:
    found = read_facts({"facts": [{"what": what}, {"what": "ok"}, {"what": "12"}]}, _MARCH)

    assert [fact.text for fact in found.facts] == ["ok", "12"]
    assert found.problems == ()


def test_no_facts_is_an_answer() -> None:
    assert read_facts({"facts": []}, _MARCH) == Extraction(())


@pytest.mark.parametrize(
    "recorded",
    [{}, {"result": {"facts": []}}, {"facts": "none"}, {"facts": [{"statement": "x"}]}, {"facts": ["a", "b"]}],
    ids=["empty", "wrapped", "text", "other-keys", "strings"],
)
def test_a_reply_in_another_form_is_refused(recorded: Any) -> None:
    with pytest.raises(ModelReplyMalformed):
        read_facts(recorded, _MARCH)


def test_causes_follow_the_facts_that_were_kept() -> None:
    recorded: Any = {
        "facts": [{"what": "a"}, {"what": "N/A"}, {"what": "c", "caused_by": [1]},
                  {"what": "d", "caused_by": ["2", 3, 9, -1]}]
    }  # fmt: skip

    found = read_facts(recorded, _MARCH)

    assert [fact.causes for fact in found.facts] == [(), (), (1,)]


def test_every_part_of_a_fact_is_in_its_text() -> None:
    found = _one(when="on Sunday", where="Paris", who=["Mira", "it"], why="because of a low", entities="Paris")

    assert found.text == "It rained. | When: on Sunday | Where: Paris | Involving: Mira | because of a low"
    assert found.entities == ("Paris",)


@pytest.mark.parametrize(
    ("said", "expected"),
    [("assistant", "experience"), ("experience", "experience"), ("world", "world"), ("x", "world")],
)
def test_types_are_the_two_there_are(said: str, expected: str) -> None:
    assert _one(fact_type=said).fact_type == expected


def test_words_date_an_event_in_the_zone_of_its_item() -> None:
    found = _one(what="It rained yesterday.", fact_kind="event")

    assert found.occurred_start == found.occurred_end == datetime(2024, 3, 9, tzinfo=_WEST)


def test_a_state_has_no_date() -> None:
    assert _one(fact_kind="conversation", occurred_start="2024-03-01").occurred_start is None


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2024", None, (datetime(2024, 1, 1, tzinfo=_WEST), datetime(2024, 12, 31, 23, 59, 59, tzinfo=_WEST))),
        ("2024-02", None, (datetime(2024, 2, 1, tzinfo=_WEST), datetime(2024, 2, 29, 23, 59, 59, tzinfo=_WEST))),
        ("2024-03-09T10:00Z", "2024-03-01", (datetime(2024, 3, 9, 10, tzinfo=UTC),) * 2),
        ("2024-03-09", "2024-03-11", (datetime(2024, 3, 9, tzinfo=_WEST), datetime(2024, 3, 11, tzinfo=_WEST))),
    ],
    ids=["year", "month", "end-before-start", "days"],
)
def test_dates_are_as_exact_as_the_model_made_them(
    start: str, end: str | None, expected: tuple[datetime, datetime]
) -> None:
    found = _one(fact_kind="event", occurred_start=start, occurred_end=end)

    assert (found.occurred_start, found.occurred_end) == expected


@pytest.mark.parametrize(
    "start", ["9999-12-31", "0001-01-01", "June 2024", "2024-13", "2024-02-30", "٢٠٢٤-٠١-٠١", "20240"]
)
def test_what_is_no_date_dates_nothing(start: str) -> None:
    assert _one(fact_kind="event", occurred_start=start).occurred_start is None


def test_controls_and_lone_surrogates_never_reach_a_fact() -> None:
    found = _one(what="a\x00b \ud83d c", entities=["x\x00"])

    assert (found.text, found.entities) == ("ab  c", ("x",))


@given(_FACTS)
def test_any_reply_is_read_or_refused_and_what_is_read_can_be_kept(facts: list[Any]) -> None:
    try:
        found = read_facts({"facts": facts}, _MARCH)
    except ModelReplyMalformed:
        return

    assert from_json(to_json(found)) == found
    assert len(found.facts) + len(found.problems) <= len(facts)
    assert all(cause < place for place, fact in enumerate(found.facts) for cause in fact.causes)


def test_a_fact_whose_words_are_called_text_is_a_fact() -> None:
    found = read_facts({"facts": [{"text": "It rained."}, {"what": "It snowed.", "text": "Not this."}]}, _MARCH)

    assert [fact.text for fact in found.facts] == ["It rained.", "It snowed."]
