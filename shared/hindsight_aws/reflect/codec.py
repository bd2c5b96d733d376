"""Writes a run's state and actions as JSON for its row, and reads them back.  Pure; called by the steps."""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.state import Action, AskModel, Finish, GiveUp, Limits, Phase, RunState, RunTools, ToolCall


class CorruptRun(ValueError):
    """A run's row does not hold what this code wrote."""


def state_to_json(state: RunState) -> JsonObject:
    """The state; `state_from_json` gives back an equal one."""
    limits = state.limits
    return {
        "limits": {
            "question": limits.question,
            "first": list(limits.first),
            "tools": list(limits.tools),
            "turns": limits.turns,
            "context_tokens": limits.context_tokens,
            "holds_memories": limits.holds_memories,
        },
        "phase": state.phase.value,
        "asked": state.asked,
        "found": state.found,
        "failures": state.failures,
        "evidence_tokens": state.evidence_tokens,
    }


def state_from_json(document: JsonObject) -> RunState:
    """Raises CorruptRun."""
    limits = _object(document, "limits")
    return RunState(
        Limits(
            question=_text(limits, "question"),
            first=_texts(limits, "first"),
            tools=_texts(limits, "tools"),
            turns=_number(limits, "turns"),
            context_tokens=_number(limits, "context_tokens"),
            holds_memories=limits.get("holds_memories") is True,
        ),
        Phase(_text(document, "phase")),
        _number(document, "asked"),
        _number(document, "found"),
        _number(document, "failures"),
        _number(document, "evidence_tokens"),
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
            return {"action": "call_model", "task": action.task}
        case Finish():
            return {"action": "finish", "said": action.said}
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
            return AskModel(_text(document, "task"))
        case "finish":
            said = document.get("said")
            return Finish(said if isinstance(said, dict) else None)
        case "fail":
            return GiveUp(_text(document, "error"), _text(document, "message"))
        case unknown:
            raise CorruptRun(f"there is no action {unknown!r}")


def _call(document: JsonValue) -> ToolCall:
    if not isinstance(document, dict):
        raise CorruptRun("a tool call is not an object")
    refusal = document.get("refusal")
    return ToolCall(
        _text(document, "use_id"),
        _text(document, "name"),
        _object(document, "said"),
        refusal if isinstance(refusal, str) else None,
    )


def _object(document: JsonObject, name: str) -> JsonObject:
    value = document.get(name)
    if not isinstance(value, dict):
        raise CorruptRun(f"{name} is not an object")
    return value


def _text(document: JsonObject, name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str):
        raise CorruptRun(f"{name} is not a string")
    return value


def _texts(document: JsonObject, name: str) -> tuple[str, ...]:
    value = document.get(name)
    if not isinstance(value, list):
        raise CorruptRun(f"{name} is not a list")
    return tuple(one for one in value if isinstance(one, str))


def _number(document: JsonObject, name: str) -> int:
    value = document.get(name)
    if not isinstance(value, int):
        raise CorruptRun(f"{name} is not a number")
    return value
