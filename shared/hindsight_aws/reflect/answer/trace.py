"""How an answer came about and what it cost: the trace, and the usage from the run's lines of the ledger.  Pure.

Called by body.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import Step
from hindsight_aws.ports.usage import RunCall
from hindsight_aws.reflect.conversation.aliases import resolved
from hindsight_aws.reflect.conversation.transcript import TOOL_STEP

_SCOPES = {
    "reflect_turn": "agent",
    "reflect_closing": "closing_done",
    "reflect_synthesis": "final",
    "reflect_claims": "final_map",
    "reflect_rewrite": "final_rewrite",
}
_COUNTED = ("agent", "final_map")


def usage(calls: Sequence[RunCall]) -> JsonObject:
    """Sums over every model call of the run, failed ones too.

    `cached_tokens` are among the input.  `usd` is null where no price is known; `unpriced_calls` is there when some are
    unknown, and what they cost is not in it.
    """
    read, written = sum(call.tokens.total_input for call in calls), sum(call.tokens.output for call in calls)
    prices = [call.usd for call in calls if call.usd is not None]
    body: JsonObject = {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": read + written,
        "cached_tokens": sum(call.tokens.cache_read for call in calls),
        "thoughts_tokens": 0,
        "usd": float(sum(prices, Decimal(0))) if prices or not calls else None,
    }
    unpriced = len(calls) - len(prices)
    return {**body, "unpriced_calls": unpriced} if unpriced else body


def trace(
    steps: Sequence[Step],
    calls: Sequence[RunCall],
    ids: Mapping[str, str],
    gone: Collection[str] = (),
    *,
    with_output: bool,
) -> JsonObject:
    """The tools that ran, with real ids for the run's aliases, and the model calls, in order.

    `gone` are things that may not be told of any more: of each only its id is left.
    """
    ran = [step for step in steps if step.name.startswith(TOOL_STEP) and step.output is not None]
    rounds = {turn: place for place, turn in enumerate(sorted({step.turn for step in ran}), start=1)}
    tools: list[JsonValue] = [
        {**_tool(step, ids), "output": _output(step, gone) if with_output else None, "iteration": rounds[step.turn]}
        for step in ran
    ]
    return {"tool_calls": tools, "llm_calls": _models(calls)}


def _tool(step: Step, ids: Mapping[str, str]) -> JsonObject:
    said = step.input.get("said")
    return {
        "tool": step.input["name"],
        "input": resolved(said, ids) if isinstance(said, dict) else {},
        "duration_ms": step.duration_ms or 0,
    }


def _output(step: Step, gone: Collection[str]) -> JsonValue:
    output = step.output or {}
    refusal = output.get("refusal")
    return {"error": refusal} if isinstance(refusal, str) else _without(output.get("result"), gone)


def _without(value: JsonValue, gone: Collection[str]) -> JsonValue:
    if isinstance(value, list):
        return [_without(one, gone) for one in value]
    if not isinstance(value, dict) or not gone:
        return value
    drawn = value.get("of")
    if isinstance(drawn, list) and drawn and all(one in gone for one in drawn):
        return {"id": value.get("id"), "gone": True}
    for name in ("id", "memory_id"):
        if value.get(name) in gone:
            return {name: value[name], "gone": True}
    return {name: _without(one, gone) for name, one in value.items()}


def _models(calls: Sequence[RunCall]) -> list[JsonValue]:
    counts: Counter[str] = Counter()
    told: list[JsonValue] = []
    for call in calls:
        scope = _SCOPES.get(call.task, call.task)
        counts[scope] += 1
        numbered = f"{scope}_{counts[scope]}" if scope in _COUNTED else scope
        told.append({"scope": numbered if call.status == "ok" else f"{numbered}_err", "duration_ms": call.latency_ms})
    return told
