"""What the tasks after an answer add to its body: the structured answer, and directives that it still breaks.  Pure.

Called by the step `finish`; asking/checks.py registers the checks of the two tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.asking.compliance import Rule, violated
from hindsight_aws.reflect.loop.state import STRUCTURE_TASK, VERIFY_TASK, Finish

_PASSING: Final = {
    "ModelThrottled": "the model was asked too much of at the moment",
    "ModelUnavailable": "the model could not be reached",
    "ModelRefused": "the model refused the content",
    "ModelDenied": "the model refused the request",
    "ModelInputTooLong": "the answer is too long for the model",
    "ReflectTimeout": "there was no time left for it",
}


def added(finish: Finish, rules: Sequence[Rule], after: Collection[str], structured: JsonValue) -> JsonObject:
    """The fields `structured_output`, `structured_output_error`, and where directives bind the answer their verdict.

    `after` are the tasks that were to follow the answer, `structured` is what was said with `structured_answer`.
    `directive_violations` lists what the answer breaks after it was mended once; `directives_verified` is false, with
    the reason, where no verdict could be had.  A directive that the caller may not read is told of without its text.
    """
    problem = finish.failed.get(STRUCTURE_TASK) if structured is None else None
    body: JsonObject = {
        "structured_output": structured,
        "structured_output_error": None if problem is None else f"No structured output: {_plainly(problem)}",
    }
    return {**body, **_verdict(finish, rules)} if VERIFY_TASK in after and finish.answer is not None else body


def told_of(rules: Sequence[Rule], kept: Collection[UUID]) -> list[JsonObject]:
    """The directives that bound an answer, as `based_on` names them: those its caller may read, and that are kept."""
    return [
        {"id": rule.id, "name": rule.name, "content": rule.content}
        for rule in rules
        if rule.is_seen and UUID(rule.id) in kept
    ]


def _verdict(finish: Finish, rules: Sequence[Rule]) -> JsonObject:
    verdict, problem = finish.said.get(VERIFY_TASK), finish.failed.get(VERIFY_TASK)
    violations: list[JsonValue] = [_violation(rule, reason) for rule, reason in violated(verdict, rules)]
    if verdict is not None and problem is None:
        return {"directives_verified": True, "directive_violations": violations}
    error = _plainly(problem or "there was no verdict")
    return {"directives_verified": False, "directive_violations": violations, "directives_error": error}


def _violation(rule: Rule, reason: str) -> JsonObject:
    return {"id": rule.id, "name": rule.name, "reason": reason} if rule.is_seen else {"withheld": True}


def _plainly(problem: str) -> str:
    return _PASSING.get(problem, problem)
