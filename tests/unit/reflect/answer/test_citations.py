"""What an answer may cite, and what becomes of ids and aliases in it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import Step
from hindsight_aws.reflect.answer.citations import NOTHING_KNOWN, Conclusion, conclude, resting_on
from hindsight_aws.reflect.conversation.aliases import UNVERIFIED
from hindsight_aws.reflect.conversation.evidence import Evidence
from hindsight_aws.reflect.conversation.transcript import Transcript, tell


def piece(alias: str, text: str = "t") -> Evidence:
    return Evidence(alias, str(uuid4()), text, None)


def said(answer: str, *cited: str, **more: JsonValue) -> JsonObject:
    return {"answer": answer, "cited": [*cited], **more}


def concluded(document: JsonObject | None, *shown: Evidence, asked: str = "q") -> Conclusion:
    return conclude(document, shown, Transcript((), shown, 0), [asked])


def test_only_what_was_shown_can_be_cited() -> None:
    """Case [X029]: the rest is dropped and counted."""
    fact, page = piece("f1"), piece("p1")

    conclusion = concluded(said("Yes.", "f1", "p1", fact.id, "f9", str(uuid4())), fact, page)

    assert (conclusion.cited, conclusion.unknown) == ((fact, page), 2)


def test_with_nothing_but_invented_ids_nothing_is_cited_and_all_that_was_found_is_listed() -> None:
    """Case [X029]."""
    shown = (piece("f1"), piece("o1"), piece("p1"))

    conclusion = concluded(said("Yes.", "f7", "o9"), *shown)

    assert conclusion.cited == ()
    assert resting_on(conclusion, shown) == list(shown)


def test_each_kind_falls_back_on_its_own() -> None:
    f1, f2, o1, o2 = piece("f1"), piece("f2"), piece("o1"), piece("o2")

    conclusion = concluded(said("Yes.", "f2"), f1, o1, f2, o2)

    assert resting_on(conclusion, (f1, o1, f2, o2)) == [f2, o1, o2]


def test_without_an_answer_nothing_is_known() -> None:
    conclusion = concluded(None, piece("f1"))

    assert (conclusion.text, conclusion.found, conclusion.cited) == (NOTHING_KNOWN, False, ())


def test_aliases_become_ids_but_words_of_the_evidence_stay() -> None:
    """Case [X031]."""
    fact, observation = piece("f1", "The O1 visa came through."), piece("o1")

    conclusion = concluded(said("The o1 visa [f1], as f1 says (o1), not f99."), fact, observation)

    assert conclusion.text == f"The o1 visa [{fact.id}], as {fact.id} says ({observation.id}), not f99."


def test_an_id_that_was_read_somewhere_stays_and_an_invented_one_is_marked() -> None:
    """Case [X032]: whether it stood in a memory, in its metadata, or in the question."""
    quoted, of_metadata, asked, invented = (str(uuid4()) for _ in range(4))
    found: JsonObject = {"memories": [{"id": str(uuid4()), "text": f"order {quoted}", "metadata": {"k": of_metadata}}]}
    told = tell([Step(1, "tool:0", {"use_id": "u", "name": "recall", "said": {}}, {"result": found})])
    answer = f"{quoted} {of_metadata} {asked} {invented}"

    conclusion = conclude(said(answer), told.evidence, told, [f"about {asked}"])

    assert conclusion.text == f"{quoted} {of_metadata} {asked} {UNVERIFIED}"


@pytest.mark.parametrize(
    "echo",
    [
        pytest.param(
            lambda one: {"result": {"results": [{"memory_id": one, "error": f"no {one}"}]}}, id="[X032] expand"
        ),
        pytest.param(lambda one: {"result": {"mental_models": [], "not_read": [one]}}, id="[X032] page"),
        pytest.param(lambda one: {"result": {"query": f"about {one}", "memories": []}}, id="[X032] query"),
        pytest.param(lambda one: {"refusal": f"{one} is no id"}, id="[X032] refusal"),
    ],
)
def test_an_invented_id_is_marked_though_a_tool_repeated_it(echo: Callable[[str], JsonObject]) -> None:
    invented = str(uuid4())
    asked: JsonObject = {"use_id": "u", "name": "expand", "said": {"memory_ids": [invented]}}
    told = tell([Step(1, "tool:0", asked, echo(invented))])

    conclusion = conclude(said(f"By {invented}."), told.evidence, told, ["q"])

    assert conclusion.text == f"By {UNVERIFIED}."


def test_a_sentence_is_supported_only_where_it_stands_in_the_answer_and_by_what_was_shown() -> None:
    fact = piece("f1")
    support: list[JsonValue] = [
        {"sentence": "She  lives in Rome [f1].", "ids": ["f1", "f9"]},
        {"sentence": "She never said that.", "ids": ["f1"]},
        {"sentence": "She likes it.", "ids": ["f9"]},
        "nonsense",
    ]

    conclusion = concluded(said("She lives\nin Rome [f1]. She likes it.", "f1", support=support), fact)

    assert [(one.sentence, one.by) for one in conclusion.support] == [(f"She  lives in Rome [{fact.id}].", (fact,))]


def test_an_empty_text_that_is_cited_harms_nothing() -> None:
    """Case [X035]."""
    fact = piece("o1", "")

    assert concluded(said("Yes [o1].", "o1"), fact).cited == (fact,)
