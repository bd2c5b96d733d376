"""A model of many moods: what it answers about facts and observations, from good to useless."""

from __future__ import annotations

from typing import Any, Final

from hindsight_aws.errors import HindsightError, ModelReplyMalformed, ModelUnavailable
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from tests.support.models import block

MOODS: Final = ("good", "good", "overlook", "empty", "malformed", "merge", "lone delete", "wrong ids", "away")
LEAVING_OUT: Final = frozenset({"overlook", "empty", "wrong ids", "lone delete"})
"""Moods in which a fact that is shown alone is left out."""
CHATTER: Final = "Well"
"""The first word of facts that are skipped by name."""


def revised(call: ModelCall, mood: str) -> JsonObject | HindsightError:
    """An answer about facts and observations, in a mood."""
    facts: Any = block(call, "facts")
    observations: Any = block(call, "observations")
    if mood == "malformed":
        return ModelReplyMalformed("prose")
    if mood == "away":
        return ModelUnavailable("away")
    if mood == "empty":
        return {}
    if mood == "lone delete":
        return {"deletes": [{"observation_id": one["id"]} for one in observations]}
    answer: Any = _by_subject(facts[:-1] if mood == "overlook" else facts, observations)
    if mood == "wrong ids":
        for entry in answer["creates"]:
            entry["source_fact_ids"] = ["00000000-0000-4000-8000-000000000000"]
    if mood == "merge" and len(observations) > 1:
        first, second = observations[0]["id"], observations[1]["id"]
        answer["updates"] = [entry for entry in answer["updates"] if entry["observation_id"] != second]
        answer["deletes"] = [{"observation_id": second, "merged_into": first}]
    given: JsonObject = answer
    return given


def _by_subject(facts: Any, observations: Any) -> Any:
    known = {one["text"].split()[0]: one["id"] for one in observations}
    groups: dict[str, list[Any]] = {}
    skipped = []
    for fact in facts:
        if fact["text"].startswith(CHATTER):
            skipped.append({"fact_id": fact["id"], "reason": "chatter"})
        else:
            groups.setdefault(fact["text"].split()[0], []).append(fact)
    answer: Any = {"creates": [], "updates": [], "skipped": skipped}
    for subject, group in groups.items():
        entry = {
            "text": f"{group[-1]['text']}",
            "source_fact_ids": [fact["id"] for fact in group],
            "quotes": [{"fact_id": group[0]["id"], "quote": group[0]["text"][:5]}],
        }
        if subject in known:
            answer["updates"].append(entry | {"observation_id": known[subject]})
        else:
            answer["creates"].append(entry)
    return answer
