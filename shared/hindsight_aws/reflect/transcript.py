"""What the model has seen so far: a run's stored steps told again under aliases, always in the same words.

Pure; called by the steps.  Tool answers are stored with real ids; the conversation shows f1, o1, …, each thing once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from uuid import UUID

from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ToolResult, ToolUse, Turn
from hindsight_aws.ports.reflect import Step
from hindsight_aws.text.tokens import count_tokens

MODEL_STEP = "model"
TOOL_STEP = "tool:"

_LISTS = {"observations": "o", "memories": "f"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing found: its alias, its real id, and its words; `date` is when it was said or true, as shown."""

    alias: str
    id: UnitId
    text: str
    date: str | None
    sources: tuple[str, ...] = ()

    @property
    def is_observation(self) -> bool:
        """Whether it is an observation and not a fact."""
        return self.alias.startswith("o")


@dataclass(frozen=True, slots=True)
class Transcript:
    """The conversation after the question, and all that was found in it, by alias in order of appearance."""

    turns: tuple[Turn, ...]
    evidence: tuple[Evidence, ...]
    tokens: int

    def ids(self) -> dict[str, UnitId]:
        """Real ids by alias."""
        return {piece.alias: piece.id for piece in self.evidence}


@dataclass(slots=True)
class _Telling:
    """The aliases given so far, while the steps are told in order."""

    aliases: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)

    def show(self, result: JsonObject) -> JsonObject:
        """A tool's answer as the model sees it."""
        shown: JsonObject = {}
        again: list[JsonValue] = []
        for name, value in result.items():
            if name in _LISTS and isinstance(value, list):
                shown[name] = [record for item in value if (record := self._record(item, _LISTS[name], again))]
            elif name == "results" and isinstance(value, list):
                shown[name] = [self._opened(item) for item in value if isinstance(item, dict)]
            else:
                shown[name] = value
        if again:
            shown["already_shown"] = again
        return shown

    def _record(self, item: JsonValue, kind: str, again: list[JsonValue]) -> JsonObject | None:
        if not isinstance(item, dict):
            return None
        real = str(item["id"])
        known = self.aliases.get(real)
        if known is not None:
            again.append(known)
            return None
        alias = self._alias(real, kind)
        date = next((str(item[name]) for name in ("mentioned_at", "occurred_start") if item.get(name)), None)
        self.evidence[alias] = Evidence(alias, UnitId(UUID(real)), str(item["text"]), date)
        return {**item, "id": alias}

    def _opened(self, item: JsonObject) -> JsonObject:
        alias = self.aliases.get(str(item.get("id")))
        if alias is None:
            return item
        piece = self.evidence[alias]
        sources = [str(item[name]) for name in ("chunk", "document") if item.get(name)]
        added = tuple(source for source in sources if source not in piece.sources)
        self.evidence[alias] = Evidence(alias, piece.id, piece.text, piece.date, (*piece.sources, *added))
        return {**item, "id": alias}

    def _alias(self, real: str, kind: str) -> str:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        alias = self.aliases[real] = f"{kind}{self.counts[kind]}"
        return alias


def tell(steps: Sequence[Step]) -> Transcript:
    """The conversation these steps make; the same steps always give the same one, and more steps only add to it."""
    telling = _Telling()
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
    return Transcript(tuple(turns), tuple(telling.evidence.values()), tokens)


def _turn(said: str, tools: Iterable[Step], telling: _Telling) -> Turn:
    uses, results = [], []
    for step in tools:
        use_id, output = str(step.input["use_id"]), step.output or {}
        arguments, refusal = step.input.get("said"), output.get("refusal")
        uses.append(ToolUse(use_id, str(step.input["name"]), arguments if isinstance(arguments, dict) else {}))
        if isinstance(refusal, str):
            results.append(ToolResult(use_id, {"error": refusal}, failed=True))
        else:
            found = output.get("result")
            results.append(ToolResult(use_id, telling.show(found if isinstance(found, dict) else {})))
    return Turn(said, tuple(uses), tuple(results))


def _text_of(step: Step) -> str:
    text = (step.output or {}).get("text")
    return text if isinstance(text, str) else ""


def _weight(turn: Turn) -> int:
    asked = sum(count_tokens(str(use.input)) for use in turn.uses)
    return count_tokens(turn.said) + asked + sum(count_tokens(str(result.document)) for result in turn.results)
