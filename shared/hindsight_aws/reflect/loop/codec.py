"""Writes a run's state and actions as JSON for its row, and reads them back.  Pure; called by the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.loop.state import (
    CLOSING_TASK,
    TURN_TASK,
    Action,
    AskModel,
    ExtractClaims,
    Finish,
    GiveUp,
    Phase,
    RunLimits,
    RunState,
    RunTools,
    ToolCall,
)

_HAS_MEMORIES: Final = "holds_memories"
"""Named as in rows that are there: a run that another release began would else find nothing in its bank."""


class CorruptRun(ValueError):
    """A run's row does not hold what this code wrote."""


def state_to_json(state: RunState) -> JsonObject:
    """The state; `state_from_json` gives back an equal one."""
    limits = state.limits
    return {
        "limits": {
            "question": limits.question,
            "first": [*limits.first],
            "tools": [*limits.tools],
            "turns": limits.turns,
            "context_tokens": limits.context_tokens,
            _HAS_MEMORIES: limits.has_memories,
            "sequential": limits.sequential,
            "thorough": limits.thorough,
            "endings": [*limits.endings],
            "after": [*limits.after],
            "max_tokens": limits.max_tokens,
        },
        "phase": state.phase.value,
        "asked": state.asked,
        "found": state.found,
        "failures": state.failures,
        "missed": state.missed,
        "evidence_tokens": state.evidence_tokens,
        "pending": [*state.pending],
        "forced": state.forced,
        "absence_forced": state.absence_forced,
        "searched": state.searched,
        "recalled": state.recalled,
        "used_tools": state.used_tools,
        "is_compacted": state.is_compacted,
        "is_rechecked": state.is_rechecked,
        "task": state.task,
        "ahead": [*state.ahead],
        "said": dict(state.said),
        "failed": dict(state.failed),
        "problem": state.problem,
        "sizes": [*state.sizes],
        "chunks": _pairs(state.chunks),
    }


def state_from_json(document: JsonObject) -> RunState:
    """Raises CorruptRun.  A row of the code before this one lacks what came since, and reads as not set."""
    return RunState(
        limits=_limits(_object(document, "limits")),
        phase=Phase(_text(document, "phase")),
        asked=_number(document, "asked"),
        found=_number(document, "found"),
        failures=_number(document, "failures"),
        missed=_number(document, "missed", 0),
        evidence_tokens=_number(document, "evidence_tokens"),
        pending=_texts(document, "pending", ()),
        forced=_perhaps(document, "forced"),
        absence_forced=document.get("absence_forced") is True,
        searched=document.get("searched", True) is True,
        recalled=document.get("recalled", True) is True,
        used_tools=document.get("used_tools") is True,
        is_compacted=document.get("is_compacted") is True,
        is_rechecked=document.get("is_rechecked") is True,
        task=_perhaps(document, "task") or TURN_TASK,
        ahead=_texts(document, "ahead", ()),
        said=_objects(document, "said"),
        failed={name: str(why) for name, why in _mapping(document, "failed").items()},
        problem=_perhaps(document, "problem"),
        sizes=tuple(_numbers(document.get("sizes", []))),
        chunks=_ranges(document.get("chunks", [])),
    )


def _limits(limits: JsonObject) -> RunLimits:
    return RunLimits(
        question=_text(limits, "question"),
        first=_texts(limits, "first"),
        tools=_texts(limits, "tools"),
        turns=_number(limits, "turns"),
        context_tokens=_number(limits, "context_tokens"),
        has_memories=limits.get(_HAS_MEMORIES) is True,
        sequential=limits.get("sequential") is True,
        thorough=limits.get("thorough") is True,
        endings=_texts(limits, "endings", (CLOSING_TASK,)),
        after=_texts(limits, "after", ()),
        max_tokens=_number(limits, "max_tokens", 4_096),
    )


def action_to_json(action: Action) -> JsonObject:
    """The action under the name the workflow routes by; `action_from_json` gives back an equal one."""
    match action:
        case RunTools():
            calls: list[JsonValue] = [
                {"use_id": call.use_id, "name": call.name, "said": call.said, "refusal": call.refusal}
                for call in action.calls
            ]
            return {"action": "run_tools", "calls": calls}
        case AskModel():
            return {"action": "call_model", "task": action.task, "tool": action.tool}
        case ExtractClaims():
            return {"action": "extract_claims", "chunks": _pairs(action.chunks), "most": action.most}
        case Finish():
            return {"action": "finish", "said": dict(action.said), "failed": dict(action.failed)}
        case GiveUp():
            return {"action": "fail", "error": action.error, "message": action.message}


def action_from_json(document: JsonObject) -> Action:
    """Raises CorruptRun."""
    match document.get("action"):
        case "run_tools":
            calls = document.get("calls")
            if not isinstance(calls, list):
                raise CorruptRun("an action's calls are not a list")
            return RunTools(tuple(_call(call) for call in calls))
        case "call_model":
            return AskModel(_text(document, "task"), _perhaps(document, "tool"))
        case "extract_claims":
            return ExtractClaims(_ranges(document.get("chunks")), _number(document, "most"))
        case "finish":
            failed = {name: str(why) for name, why in _mapping(document, "failed").items()}
            return Finish(_objects(document, "said"), failed)
        case "fail":
            return GiveUp(_text(document, "error"), _text(document, "message"))
        case unknown:
            raise CorruptRun(f"there is no action {unknown!r}")


def _call(document: JsonValue) -> ToolCall:
    if not isinstance(document, dict):
        raise CorruptRun("a tool call is not an object")
    return ToolCall(
        _text(document, "use_id"), _text(document, "name"), _object(document, "said"), _perhaps(document, "refusal")
    )


def _object(document: JsonObject, name: str) -> JsonObject:
    value = document.get(name)
    if not isinstance(value, dict):
        raise CorruptRun(f"{name} is not an object")
    return value


def _mapping(document: JsonObject, name: str) -> JsonObject:
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _objects(document: JsonObject, name: str) -> Mapping[str, JsonObject]:
    return {key: value for key, value in _mapping(document, name).items() if isinstance(value, dict)}


def _text(document: JsonObject, name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str):
        raise CorruptRun(f"{name} is not a string")
    return value


def _perhaps(document: JsonObject, name: str) -> str | None:
    value = document.get(name)
    return value if isinstance(value, str) else None


def _texts(document: JsonObject, name: str, absent: tuple[str, ...] | None = None) -> tuple[str, ...]:
    value = document.get(name)
    if value is None and absent is not None:
        return absent
    if not isinstance(value, list):
        raise CorruptRun(f"{name} is not a list")
    return tuple(one for one in value if isinstance(one, str))


def _number(document: JsonObject, name: str, absent: int | None = None) -> int:
    value = document.get(name, absent)
    if not isinstance(value, int):
        raise CorruptRun(f"{name} is not a number")
    return value


def _numbers(value: JsonValue) -> list[int]:
    return [one for one in value if isinstance(one, int)] if isinstance(value, list) else []


def _pairs(ranges: Sequence[tuple[int, int]]) -> list[JsonValue]:
    return [[start, end] for start, end in ranges]


def _ranges(value: JsonValue) -> tuple[tuple[int, int], ...]:
    pairs = [_numbers(pair) for pair in value] if isinstance(value, list) else []
    return tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2)
