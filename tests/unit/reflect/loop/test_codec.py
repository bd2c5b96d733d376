"""Runs that are under way while a release takes the place of another: their rows are read by both."""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.loop.codec import state_from_json, state_to_json
from hindsight_aws.reflect.loop.planner import plan
from hindsight_aws.reflect.loop.state import Began, RunTools

_WRITTEN: JsonObject = {
    "question": "Who?",
    "first": ["recall"],
    "tools": ["recall", "expand"],
    "turns": 5,
    "context_tokens": 100_000,
    "holds_memories": True,
    "sequential": False,
    "thorough": False,
    "endings": ["reflect_closing"],
    "after": [],
    "max_tokens": 4_096,
}
"""The limits of a run, as they are in rows that are there."""


def test_a_run_that_the_release_before_began_still_searches_its_bank() -> None:
    document: JsonObject = {
        "limits": _WRITTEN, "phase": "new", "asked": 0, "found": 0, "failures": 0, "evidence_tokens": 0,
    }  # fmt: skip

    state = state_from_json(document)
    _, action = plan(state, Began())

    assert isinstance(action, RunTools)
    assert state_to_json(state)["limits"] == _WRITTEN
