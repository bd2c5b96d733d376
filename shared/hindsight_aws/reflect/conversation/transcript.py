"""What the model has seen so far: a run's stored steps told again under aliases, always in the same words.

Pure; called by the steps.  Tool answers are stored with real ids; presentation.py gives them their form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ToolResult, ToolUse, Turn
from hindsight_aws.ports.reflect import Step
from hindsight_aws.reflect.conversation.evidence import Evidence
from hindsight_aws.reflect.conversation.presentation import Presentation
from hindsight_aws.text.tokens import count_tokens

MODEL_STEP = "model"
TOOL_STEP = "tool:"
CLAIMS_STEP = "claims:"
_ECHOES = frozenset({"query", "memory_id", "not_read", "error"})


@dataclass(frozen=True, slots=True)
class Transcript:
    """The conversation after the question, and all that was found in it, by alias in order of appearance."""

    turns: tuple[Turn, ...]
    evidence: tuple[Evidence, ...]
    tokens: int
    real_ids: Mapping[str, str] = field(default_factory=dict)

    def ids(self) -> Mapping[str, str]:
        """Real ids by alias, those of chunks too."""
        return self.real_ids

    def texts(self) -> Iterator[str]:
        """Every text of the tools' answers that the model was shown, but for what only repeats its own arguments."""
        for turn in self.turns:
            for result in turn.results:
                yield from _texts(_without_echoes(result.document))


def claims_step(chunk: tuple[int, int]) -> str:
    """The step that holds the claims of a part of the evidence: by its range, for a part is never paid for twice."""
    return f"{CLAIMS_STEP}{chunk[0]}-{chunk[1]}"


def tell(steps: Sequence[Step]) -> Transcript:
    """The conversation these steps make; the same steps always give the same one, and more steps only add to it."""
    telling = Presentation()
    turns: list[Turn] = []
    said = ""
    tokens = 0
    for _, group in groupby(steps, key=lambda step: step.turn):
        of_turn = list(group)
        tools = [step for step in of_turn if step.name.startswith(TOOL_STEP) and step.output is not None]
        if tools:
            turns.append(_turn(said, tools, telling))
            tokens += _weight(turns[-1])
        said = next((_text_of(step) for step in of_turn if step.name == MODEL_STEP), "")
    return Transcript(tuple(turns), tuple(telling.evidence.values()), tokens, telling.ids)


def _turn(said: str, tools: Iterable[Step], telling: Presentation) -> Turn:
    uses, results = [], []
    for step in tools:
        use_id, output = str(step.input["use_id"]), step.output or {}
        arguments, refusal = step.input.get("said"), output.get("refusal")
        uses.append(ToolUse(use_id, str(step.input["name"]), arguments if isinstance(arguments, dict) else {}))
        if isinstance(refusal, str):
            results.append(ToolResult(use_id, {"error": refusal}, failed=True))
        else:
            found = output.get("result")
            shown = telling.show(found if isinstance(found, dict) else {})
            results.append(ToolResult(use_id, shown, failed="error" in shown))
    return Turn(said, tuple(uses), tuple(results))


def _text_of(step: Step) -> str:
    text = (step.output or {}).get("text")
    return text if isinstance(text, str) else ""


def _weight(turn: Turn) -> int:
    asked = sum(count_tokens(str(use.input)) for use in turn.uses)
    return count_tokens(turn.said) + asked + sum(count_tokens(str(result.document)) for result in turn.results)


def _without_echoes(document: JsonObject) -> JsonObject:
    """A tool's answer without the model's own words in it: an id it made up is not made real by being refused."""
    told = {name: value for name, value in document.items() if name not in _ECHOES}
    opened = told.get("results")
    if isinstance(opened, list):
        told["results"] = [
            {name: value for name, value in one.items() if name not in _ECHOES} if isinstance(one, dict) else one
            for one in opened
        ]
    return told


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
