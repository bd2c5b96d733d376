"""What the model was shown, and where a text must not turn up at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.cases.checking.outcome import Check, Outcome, named
from tests.cases.scripting import TASKS
from tests.support.world import instructions_of, outside_blocks, prompt_of


def of_task(task: str, how: str) -> Check:
    """Whether the prompts of a task hold texts: all of them (`has`), none (`lacks`), some (`has_any`)."""

    def check_prompts(outcome: Outcome, wanted: Sequence[str]) -> None:
        prompts = [prompt_of(call) for call in outcome.world.calls(TASKS[task])]
        assert prompts or how == "lacks", f"no {task} call was made"
        everywhere = "\n".join(prompts)
        present = [text for text in wanted if text in everywhere]
        is_right = {"has": len(present) == len(wanted), "lacks": not present, "has_any": bool(present)}[how]
        assert is_right, f"of {wanted} the prompts hold {present}"

    return check_prompts


@named("no_identical_repeat")
def _no_identical_repeat(outcome: Outcome, wanted: bool) -> None:
    requests = [repr(call["request"]) for call in outcome.world.calls()]
    assert (len(set(requests)) == len(requests)) is wanted, f"{len(requests)} requests, {len(set(requests))} different"


@named("prompt_data_block_unbroken")
def _data_block_unbroken(outcome: Outcome, _wanted: bool) -> None:
    """What was retained appears in no instruction, and no data block ends before its end."""
    contents = [text for texts in outcome.play.contents.values() for text in texts]
    for call in outcome.world.calls():
        loose = outside_blocks(call)
        said = loose.removeprefix(instructions_of(call))
        assert "<data" not in said, f"a block is broken: {said[-300:]!r}"
        assert "</data" not in said, f"a block is broken: {said[-300:]!r}"
        escaped = [text for text in contents if text in loose]
        assert not escaped, f"{escaped} stands among the instructions"


@named("context_not_in_instructions")
def _context_not_in_instructions(outcome: Outcome, _wanted: bool) -> None:
    loose = "\n".join(outside_blocks(call) for call in outcome.world.calls())
    assert outcome.play.contexts, "the case gives no context"
    assert not any(context in loose for context in outcome.play.contexts)


@named("final_prompt_has_any")
def _final_prompt_has_any(outcome: Outcome, wanted: Sequence[str]) -> None:
    final = prompt_of(_reflect_calls(outcome)[-1])
    assert any(text in final for text in wanted), f"none of {wanted} is in the last prompt"


@named("citations_subset_of_prompt")
def _citations_in_prompt(outcome: Outcome, _wanted: bool) -> None:
    final = prompt_of(_reflect_calls(outcome)[-1])
    cited = (outcome.play.last("reflect").body or {}).get("based_on") or {}
    texts = [memory["text"] for memory in cited.get("memories", [])]
    assert all(text[:200] in final for text in texts), f"{texts} are not all in the last prompt"


def _reflect_calls(outcome: Outcome) -> list[dict[str, Any]]:
    calls = [call for call in outcome.world.calls() if str(call["task"]).startswith("reflect")]
    assert calls, "reflect asked no model"
    return calls


@named("nowhere")
def _nowhere(outcome: Outcome, wanted: Sequence[str]) -> None:
    """In no answer, prompt, row or log line: of any bank, or of the others where only some banks were told the text."""
    world, play = outcome.world, outcome.play
    for text in wanted:
        told = {bank for bank, contents in play.contents.items() if any(text in content for content in contents)}
        others = [bank for bank in outcome.case.banks if bank not in told]
        banks = others or outcome.case.banks
        names = {world.name(bank) for bank in banks}
        answers = [answer.text for answer in play.answers if answer.bank in banks]
        calls = [call for call in world.calls() if call["request"].get("requestMetadata", {}).get("bank") in names]
        looked = {
            "an answer": "\n".join(answers),
            "a prompt": "\n".join(prompt_of(call) for call in calls),
            "a row": world.everything_stored(banks),
            "a log line": world.logged(),
        }
        if not others:
            looked["an embedded text"] = "\n".join(world.embedded())
        where = [place for place, found in looked.items() if text in found]
        assert not where, f"{text!r} is in {', '.join(where)}"
