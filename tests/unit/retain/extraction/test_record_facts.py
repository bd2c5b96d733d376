"""Reading what the model recorded: each fact on its own terms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.retain.extraction.found import Extraction, FoundFact, from_json, to_json
from hindsight_aws.retain.extraction.record_facts import Reading, read_facts
from hindsight_aws.retain.extraction.vocabulary import Vocabulary

_WEST = timezone(timedelta(hours=-8))
_MARCH = datetime(2024, 3, 10, 15, 30, tzinfo=_WEST)
_READING = Reading(_MARCH)
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
    (found,) = read_facts({"facts": [{"what": "It rained.", "fact_type": "world", **fields}]}, _READING).facts
    return found


def test_a_malformed_fact_costs_none_of_its_neighbours() -> None:
    """[R042], [R045]."""
    given_facts: list[Any] = [{"what": f"Fact {number}."} for number in range(9)]
    given_facts.insert(4, {"what": ["not", "text"]})

    found = read_facts({"facts": given_facts}, _READING)

    assert len(found.facts) == 9
    assert found.problems == ("facts[4] has a `what` that is not text",)


@pytest.mark.parametrize("what", ["N/A", "n/a", "", [], None, "...", "—", "👍", " \u200b "])
def test_a_fact_that_says_nothing_is_skipped_quietly(what: Any) -> None:
    """[R044], [R057]."""
    found = read_facts({"facts": [{"what": what}, {"what": "ok"}, {"what": "12"}]}, _READING)

    assert [fact.text for fact in found.facts] == ["ok", "12"]
    assert found.problems == ()


def test_no_facts_is_an_answer() -> None:
    """[R038]."""
    assert read_facts({"facts": []}, _READING) == Extraction(())


@pytest.mark.parametrize(
    "recorded",
    [{}, {"result": {"facts": []}}, {"facts": "none"}, {"facts": [{"statement": "x"}]}, {"facts": ["a", "b"]}],
    ids=["empty", "wrapped", "text", "other-keys", "strings"],
)
def test_a_reply_in_another_form_is_refused(recorded: Any) -> None:
    """[R040], [R041]."""
    with pytest.raises(ModelReplyMalformed):
        read_facts(recorded, _READING)


def test_causes_follow_the_facts_that_were_kept() -> None:
    """[R047], [R057]."""
    recorded: Any = {
        "facts": [{"what": "a"}, {"what": "N/A"}, {"what": "c", "caused_by": [1]},
                  {"what": "d", "caused_by": ["2", 3, 9, -1]}]
    }  # fmt: skip

    found = read_facts(recorded, _READING)

    assert [fact.causes for fact in found.facts] == [(), (), (1,)]


def test_every_part_of_a_fact_is_in_its_text() -> None:
    """[R046], [R058]."""
    found = _one(when="on Sunday", where="Paris", who=["Mira", "it"], why="because of a low", entities="Paris")

    assert found.text == "It rained. | When: on Sunday | Where: Paris | Involving: Mira | because of a low"
    assert found.where == "Paris"
    assert found.entities == ("Paris",)


@pytest.mark.parametrize(
    ("said", "expected"),
    [("assistant", "experience"), ("experience", "experience"), ("world", "world"), ("x", "world")],
)
def test_types_are_the_two_there_are(said: str, expected: str) -> None:
    """[R056]."""
    assert _one(fact_type=said).fact_type == expected


def test_words_date_an_event_in_the_zone_of_its_item() -> None:
    """[R051]."""
    found = _one(what="It rained yesterday.", fact_kind="event")

    assert found.occurred_start == found.occurred_end == datetime(2024, 3, 9, tzinfo=_WEST)


def test_a_state_has_no_date() -> None:
    """[R052]."""
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
    """[R053], [R054]."""
    found = _one(fact_kind="event", occurred_start=start, occurred_end=end)

    assert (found.occurred_start, found.occurred_end) == expected


@pytest.mark.parametrize(
    "start", ["9999-12-31", "0001-01-01", "June 2024", "2024-13", "2024-02-30", "٢٠٢٤-٠١-٠١", "20240"]
)
def test_what_is_no_date_dates_nothing(start: str) -> None:
    """[R055]."""
    assert _one(fact_kind="event", occurred_start=start).occurred_start is None


def test_controls_and_lone_surrogates_never_reach_a_fact() -> None:
    found = _one(what="a\x00b \ud83d c", entities=["x\x00"])

    assert (found.text, found.entities) == ("ab  c", ("x",))


@given(_FACTS)
def test_any_reply_is_read_or_refused_and_what_is_read_can_be_kept(facts: list[Any]) -> None:
    try:
        found = read_facts({"facts": facts}, _READING)
    except ModelReplyMalformed:
        return

    assert from_json(to_json(found)) == found
    assert len(found.facts) + len(found.problems) <= len(facts)
    assert all(cause < place for place, fact in enumerate(found.facts) for cause in fact.causes)


def test_a_fact_whose_words_are_called_text_is_a_fact() -> None:
    found = read_facts({"facts": [{"text": "It rained."}, {"what": "It snowed.", "text": "Not this."}]}, _READING)

    assert [fact.text for fact in found.facts] == ["It rained.", "It snowed."]


@pytest.mark.parametrize("what", [["a", "b"], 7, {"text": "x"}, True], ids=["list", "number", "object", "flag"])
def test_a_fact_whose_words_are_no_text_is_left_out_alone(what: Any) -> None:
    """[R045]."""
    found = read_facts({"facts": [{"what": "ok"}, {"what": what}]}, _READING)

    assert [fact.text for fact in found.facts] == ["ok"]
    assert len(found.problems) == 1


@pytest.mark.parametrize(
    ("caused_by", "causes"),
    [
        (["0"], (0,)),
        (0, (0,)),
        ([{"target_index": 0, "relation_type": "caused_by"}], (0,)),
        ([{"target_index": "0"}], (0,)),
        ([{"target_index": 0, "relation_type": "enables"}], ()),
        ([{"target_index": 0, "relation_type": "prevents"}], ()),
        ([1], ()),
        ([2, 99, -1, True, 0.0, "x", None, {}, [0]], ()),
        ([0, 0, "0"], (0,)),
    ],
    ids=["digits", "alone", "object", "object-digits", "enables", "prevents", "self", "nonsense", "twice"],
)
def test_a_cause_is_an_earlier_fact_or_none_and_the_fact_stays(caused_by: Any, causes: tuple[int, ...]) -> None:
    """[R045], [R050]."""
    recorded: Any = {"facts": [{"what": "a"}, {"what": "b", "caused_by": caused_by}]}

    found = read_facts(recorded, _READING)

    assert [fact.text for fact in found.facts] == ["a", "b"]
    assert found.facts[1].causes == causes


@pytest.mark.parametrize(
    ("given_as", "expected"),
    [
        ("Paris", ("Paris",)),
        (["Paris", "Rome"], ("Paris", "Rome")),
        ([{"text": "Paris", "type": "place"}, {"text": " "}, "Rome", None, "N/A"], ("Paris", "Rome")),
        ({"text": "Paris"}, ("Paris",)),
        (["x" * 600, "Paris"], ("Paris",)),
    ],
    ids=["text", "texts", "objects", "object", "too-long"],
)
def test_entities_come_in_any_form_that_names_them(given_as: Any, expected: tuple[str, ...]) -> None:
    """[R046], and [R071] as far as extraction goes."""
    assert _one(entities=given_as).entities == expected


def test_without_free_form_the_model_names_no_entities() -> None:
    """[R069], the reading side."""
    reading = Reading(_MARCH, Vocabulary(free_form=False))

    (found,) = read_facts({"facts": [{"what": "Mira left.", "entities": ["Mira"]}]}, reading).facts

    assert found.entities == ()


def test_word_for_word_a_fact_needs_no_words_of_its_own() -> None:
    """[R060], the reading side."""
    reading = Reading(_MARCH, verbatim="I left yesterday.")

    found = read_facts({"facts": [{"fact_kind": "event", "occurred_start": "2024-03-09"}, {"what": "x"}]}, reading)

    assert [fact.text for fact in found.facts] == ["I left yesterday."] * 2
    assert found.facts[0].occurred_start == datetime(2024, 3, 9, tzinfo=_WEST)
    assert found.problems == ()


def test_a_result_of_the_former_version_is_read() -> None:
    former = {
        "facts": [{"text": "t", "fact_type": "world", "occurred_start": None, "occurred_end": None,
                   "entities": ["Mira"], "causes": []}],
        "problems": [],
    }  # fmt: skip

    assert from_json(former) == Extraction((FoundFact("t", entities=("Mira",)),))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"when": ["in May", "at dawn"]}, "It rained. | When: in May, at dawn"),
        ({"where": 7, "why": {"a": 1}}, "It rained."),
        ({"who": [5, None, {"name": "x"}, "Mira"]}, "It rained. | Involving: Mira"),
        ({"entities": [True, [["x"]]], "labels": 3, "fact_type": [], "occurred_start": 5}, "It rained."),
    ],
    ids=["several", "no-text", "no-names", "nonsense"],
)
def test_no_other_field_costs_a_fact_its_words(fields: dict[str, Any], text: str) -> None:
    """[R045]."""
    assert _one(fact_kind="event", **{"fact_type": "world", **fields}).text == text
