"""`judge_duplicate` by rule: one claim only when the words agree and no number, name or negation differs.

Called by the table in `rules`; calls `beliefs` and `language`. Pure.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject
from infra.local.bedrock.rules.beliefs import closeness, relation
from infra.local.bedrock.rules.language import names, numbers
from infra.local.bedrock.rules.material import Material, text_of

_SAME = 0.85


def judge_duplicate(material: Material) -> JsonObject:
    """The input of `judge_duplicate`."""
    pair = next(iter(material.records("candidates")), {})
    new, existing = text_of(pair.get("new")), text_of(pair.get("existing"))
    agree = numbers(new) == numbers(existing) and set(names(new)) == set(names(existing))
    if agree and closeness(new, existing) >= _SAME and relation(new, existing) != "disagrees":
        return {"action": "merge", "text": max(new, existing, key=len)}
    return {"action": "keep"}
