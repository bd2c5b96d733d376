"""The conversation told from stored steps: aliases, repeats, and evidence that fits."""

from __future__ import annotations

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import Step
from hindsight_aws.reflect.conversation.evidence import Evidence, fit
from hindsight_aws.reflect.conversation.transcript import tell
from hindsight_aws.text.tokens import count_tokens

A, B, C = (str(uuid4()) for _ in range(3))


def found(turn: int, place: int, kind: str, *ids: str) -> Step:
    records: list[JsonValue] = [{"id": one, "text": f"text of {one}"} for one in ids]
    said: JsonObject = {"use_id": f"use-{turn}-{place}", "name": "recall", "said": {"query": "q"}}
    return Step(turn, f"tool:{place}", said, {"result": {"query": "q", kind: records}})


def test_each_kind_counts_its_own_aliases() -> None:
    transcript = tell([found(1, 0, "observations", A), found(1, 1, "memories", B, C)])

    assert transcript.ids() == {"o1": A, "f1": B, "f2": C}


def test_what_was_shown_is_only_named_the_second_time() -> None:
    transcript = tell([found(1, 0, "memories", A), found(3, 0, "memories", B, A)])

    assert transcript.turns[1].results[0].document == {
        "query": "q", "memories": [{"id": "f2", "text": f"text of {B}"}], "already_shown": ["f1"],
    }  # fmt: skip


def test_more_steps_only_add_to_the_conversation() -> None:
    steps = [found(1, 0, "memories", A), found(3, 0, "memories", B), found(5, 0, "observations", C)]

    shorter, longer = tell(steps[:2]), tell(steps)

    assert longer.turns[: len(shorter.turns)] == shorter.turns


def test_what_the_model_said_stands_before_the_tools_it_used() -> None:
    reply = Step(2, "model", {"task": "reflect_turn"}, {"text": "Let me look.", "uses": []})

    transcript = tell([found(1, 0, "memories", A), reply, found(3, 0, "memories", B)])

    assert [turn.said for turn in transcript.turns] == ["", "Let me look."]


def test_a_text_that_was_opened_belongs_to_its_fact() -> None:
    opened = Step(
        3,
        "tool:0",
        {"use_id": "u", "name": "expand", "said": {"memory_ids": ["f1"]}},
        {"result": {"results": [{"memory_id": A, "memory": {"id": A, "text": f"text of {A}"},
                                 "chunk": {"id": "c", "text": "all around it"}}]}},
    )  # fmt: skip

    transcript = tell([found(1, 0, "memories", A), opened])

    assert transcript.evidence[0].sources == ("all around it",)
    assert transcript.turns[1].results[0].document["results"] == [
        {"memory_id": "f1", "chunk": {"text": "all around it", "chunk": "c1", "memories": ["f1"]}},
    ]


def test_an_answer_that_is_an_error_is_told_as_one() -> None:
    failed: JsonObject = {"error": "None of these is here.", "results": [{"memory_id": "f9", "error": "not here"}]}
    step = Step(1, "tool:0", {"use_id": "u", "name": "expand", "said": {}}, {"result": failed})

    assert [result.failed for turn in tell([step]).turns for result in turn.results] == [True]


def piece(alias: str, text: str, *sources: str) -> Evidence:
    return Evidence(alias, str(uuid4()), text, None, sources)


def test_short_pieces_stay_whole_and_the_long_one_is_cut() -> None:
    kept = fit([piece("f1", "word " * 5_000), piece("f2", "Bea moved to Rome.")], 1_024)

    assert [one.alias for one in kept] == ["f1", "f2"]
    assert kept[1].text == "Bea moved to Rome."
    assert kept[0].text.endswith("[…]")


def test_sources_go_before_any_text_is_cut() -> None:
    kept = fit([piece("f1", "Bea moved to Rome.", "source " * 5_000), piece("f2", "She likes it.")], 1_024)

    assert [(one.text, one.sources) for one in kept] == [("Bea moved to Rome.", ()), ("She likes it.", ())]


@given(st.lists(st.integers(1, 3_000), min_size=1, max_size=60), st.integers(1, 4_000))
def test_evidence_fits_and_is_never_emptied(sizes: list[int], room: int) -> None:
    evidence = [piece(f"f{index}", "word " * size) for index, size in enumerate(sizes)]

    kept = fit(evidence, room)

    assert kept
    assert kept[0].alias == "f0"
    assert all(one.text.strip() for one in kept)
    assert sum(count_tokens(one.text) for one in kept) <= max(room, 1) + 3 * len(kept)
