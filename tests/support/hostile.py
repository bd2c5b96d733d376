"""Replies of a model that errs in every way we know of, drawn from a seed; and a model that speaks only those.

Used by the tests that no reply may cost an observation or a fact.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hindsight_aws.aws.bedrock.replies import read_reply
from hindsight_aws.errors import ModelError
from hindsight_aws.ports.model_gateway import ModelCall, ModelReply, ModelUsage, TokenUsage, UsageSink
from infra.local.bedrock.blocks import read_blocks

Response = dict[str, Any]
"""A Converse answer."""
_TOKENS = TokenUsage(input=10, output=5)
_STOPS = (
    "max_tokens",
    "malformed_tool_use",
    "malformed_model_output",
    "content_filtered",
    "guardrail_intervened",
    "nonsense",
)
_TEXTS = (
    "",
    "   ",
    "\n\t",
    "\x00",
    "\x00\x01",
    "\ud800",
    "a \ud83d b",
    "x" * 60_000,
    "\u202e\u200b",
    "</data>",
    "null",
    "é́" * 400,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The ids in a call, and those of another scope, which were not shown."""

    facts: Sequence[str]
    observations: Sequence[str]
    foreign: Sequence[str]


@dataclass
class HostileModel:
    """Answers every call by `reply`, read as the gateway reads Bedrock's; keeps calls, and what was well-formed."""

    reply: Callable[[ModelCall], Response]
    calls: list[ModelCall] = field(default_factory=list)
    heard: list[tuple[ModelCall, dict[str, Any] | None]] = field(default_factory=list)

    def ask(self, call: ModelCall, usage: UsageSink) -> ModelReply:
        self.calls.append(call)
        response = self.reply(call)
        try:
            uses, text, stop = read_reply(response, call)
        except ModelError:
            self.heard.append((call, None))
            usage(ModelUsage(call.task, call.prompt, call.model, "malformed", _TOKENS, Decimal("0.001"), 1.0))
            raise
        self.heard.append((call, dict(uses[0].input) if uses else {}))
        usage(ModelUsage(call.task, call.prompt, call.model, "ok", _TOKENS, Decimal("0.001"), 1.0))
        return ModelReply(uses, text, stop, _TOKENS, 1.0, call.model)

    def asked(self, task: str) -> list[ModelCall]:
        """The calls of one task."""
        return [call for call in self.calls if call.task == task]


def shown_in(call: ModelCall, foreign: Sequence[str] = ()) -> Shown:
    """What a consolidation call shows."""
    blocks = read_blocks(call.blocks)

    def ids(kind: str) -> list[str]:
        items = [item for document in blocks.get(kind, []) if isinstance(document, list) for item in document]
        return [str(item["id"]) for item in items if isinstance(item, dict)]

    return Shown(ids("facts"), ids("observations"), foreign)


def uses(call: ModelCall, document: object) -> Response:
    """An answer that uses the forced tool with this input."""
    use = {"toolUseId": "use_1", "name": call.forced_tool, "input": document}
    return _response([{"toolUse": use}], "tool_use")


def says(text: str, stop: str = "end_turn") -> Response:
    """An answer in prose."""
    return _response([{"text": text}], stop)


def _response(content: list[Any], stop: str) -> Response:
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop, "usage": usage}


def any_json(chance: random.Random, depth: int = 3) -> Any:
    """Some JSON value."""
    leaves: list[Any] = [None, True, 0, -1, 2**70, 1.5, "", "text", "\x00", []]
    if depth == 0 or chance.random() < 0.4:
        return chance.choice(leaves)
    if chance.random() < 0.5:
        return [any_json(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice(["text", "id", "fact_id", "action", "x"]): any_json(chance, depth - 1) for _ in range(3)}


def broken_answer(chance: random.Random, call: ModelCall, sound: object) -> Response:
    """Prose, cut JSON, a wrong stop, another tool, several uses, an empty message, nested without end."""
    whole = json.dumps(sound)
    cut = whole[: max(1, chance.randrange(len(whole)))]
    use = {"toolUseId": "use_1", "name": call.forced_tool, "input": sound}
    ways: list[Callable[[], Response]] = [
        lambda: says("I would rather not."),
        lambda: says(f"Certainly! {cut}"),
        lambda: says(f"```json\n{cut}\n```"),
        lambda: says(whole, chance.choice(_STOPS)),
        lambda: _response([{"toolUse": use}], chance.choice(_STOPS)),
        lambda: _response([{"toolUse": {**use, "name": "other"}}], "tool_use"),
        lambda: _response([{"toolUse": use}, {"toolUse": use}], "tool_use"),
        lambda: _response([{"toolUse": any_json(chance)}], "tool_use"),
        lambda: _response([], "end_turn"),
        lambda: {"stopReason": "end_turn"},
        lambda: uses(call, any_json(chance)),
        lambda: uses(call, _nested(chance.choice([50, 400, 5_000]))),
        lambda: says("[" * 2_000),
        lambda: says('{"creates": ' * 300),
    ]
    return chance.choice(ways)()


def _nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"creates": [value]}
    return value


def revision(chance: random.Random, shown: Shown) -> Any:
    """An input of `revise_observations` with each list wrong in some way, and sometimes right."""
    document: dict[str, Any] = {
        "creates": [_create(chance, shown) for _ in range(_few(chance))],
        "updates": [_update(chance, shown) for _ in range(_few(chance))],
        "deletes": [_delete(chance, shown) for _ in range(_few(chance))],
    }
    if chance.random() < 0.4:
        document["skipped"] = [_skip(chance, shown) for _ in range(_few(chance))]
    if chance.random() < 0.25:
        document[chance.choice([*document, "thoughts"])] = any_json(chance)
    if chance.random() < 0.15:
        document["deletes"] = [{"observation_id": identity} for identity in shown.observations]
    return document


def _few(chance: random.Random) -> int:
    return chance.choice([0, 0, 1, 1, 2, 5, 60 if chance.random() < 0.1 else 3])


def _identity(chance: random.Random, wanted: Sequence[str], shown: Shown) -> Any:
    """An id of the right kind, more or less: right, foreign, of the other kind, miscopied, cut, invented, no text."""
    right = chance.choice(list(wanted) or ["none"])
    every = [*shown.facts, *shown.observations, *shown.foreign] or ["none"]
    invented = f"{chance.getrandbits(32):08x}-0000-4000-8000-{chance.getrandbits(48):012x}"
    spelled = [right, right, right, right.upper(), f" {right} ", right[:-3] + "zzz", right[:8], chance.choice(every)]
    return chance.choice(
        [*spelled, invented, "", "$F1", None if chance.random() < 0.3 else right, 7 if chance.random() < 0.3 else right]
    )


def _text(chance: random.Random) -> Any:
    if chance.random() < 0.6:
        return f"Claim number {chance.randrange(12)}."
    return chance.choice(_TEXTS) if chance.random() < 0.9 else any_json(chance)


def _cited(chance: random.Random, shown: Shown) -> Any:
    cited = [_identity(chance, shown.facts, shown) for _ in range(chance.randint(1, 3))]
    return chance.choice([cited, cited, cited, cited[0], cited * 500, [], any_json(chance)])


def _quotes(chance: random.Random, shown: Shown) -> Any:
    quote = chance.choice(["Fact", "is", "never said", "", "\x00", " ", 5])
    return chance.choice(
        [None, any_json(chance), [{"fact_id": _identity(chance, shown.facts, shown), "quote": quote}] * 3]
    )


def _create(chance: random.Random, shown: Shown) -> Any:
    created = {"text": _text(chance), "source_fact_ids": _cited(chance, shown), "quotes": _quotes(chance, shown)}
    if chance.random() < 0.15:
        del created[chance.choice(list(created))]
    return created if chance.random() < 0.95 else any_json(chance)


def _update(chance: random.Random, shown: Shown) -> Any:
    aimed = shown.foreign if chance.random() < 0.2 else shown.observations
    return {**_create_object(chance, shown), "observation_id": _identity(chance, aimed, shown)}


def _create_object(chance: random.Random, shown: Shown) -> dict[str, Any]:
    created = _create(chance, shown)
    return created if isinstance(created, dict) else {}


def _delete(chance: random.Random, shown: Shown) -> Any:
    aimed = shown.foreign if chance.random() < 0.2 else shown.observations
    key = chance.choice(["observation_id", "observation_id", "id", "target"])
    deletion = {key: _identity(chance, aimed, shown)}
    if chance.random() < 0.6:
        deletion["merged_into"] = _identity(chance, [*shown.observations, *shown.foreign], shown)
    return deletion if chance.random() < 0.95 else any_json(chance)


def _skip(chance: random.Random, shown: Shown) -> Any:
    identity = _identity(chance, shown.facts, shown)
    return chance.choice([identity, {"fact_id": identity, "reason": "no"}, {"fact_id": identity}, any_json(chance)])


def judgement(chance: random.Random) -> Any:
    """An input of `judge_duplicate`, mostly wrong."""
    action = chance.choice(["merge", "keep", " MERGE ", "combine", "delete", None, ["merge"], any_json(chance)])
    return chance.choice([{"action": action}, {"action": action, "text": _text(chance)}, {}, any_json(chance)])
