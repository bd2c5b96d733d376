"""Reflect's tasks by rule: each search tool once, then an answer made of what was found, with the ids it rests on.

Called by the table in `rules`; calls `language`, `directives`, `material`. Pure.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.rules.directives import Directive, broken, directives_of, without_forbidden
from infra.local.bedrock.rules.language import content_words, overlap, sentences
from infra.local.bedrock.rules.material import Evidence, Material

SEARCH_TOOLS = ("search_mental_models", "search_observations", "recall")
ENDINGS = ("done", "answer_ready")
_SAID = 4  # pieces of evidence in an answer
_CHARS_PER_TOKEN = 3
_NOTHING = "Nothing is known about that."


def next_tool(offered: list[str], used: list[str], choice: str) -> str | None:
    """The forced tool, else the next search tool that was not used yet, else the tool that ends the run."""
    if choice in offered:
        return choice
    fresh = [name for name in offered if name in SEARCH_TOOLS and name not in used]
    endings = [name for name in ENDINGS if name in offered]
    return next(iter([*fresh, *endings, *offered]), None)


def search(material: Material) -> JsonObject:
    """The input of a search tool."""
    question = material.question or "what is known"
    seen = material.evidence()
    return {
        "reason": "to find what is known",
        "query": question[:300],
        "memory_ids": _ids(seen, "memory"),
        "mental_model_ids": _ids(seen, "mental_model"),
        "depth": "chunk",
    }


def conclude(material: Material) -> JsonObject:
    """The fields of `done`, of the synthesis, and of a whole page, from the evidence closest to the question."""
    rules = directives_of(material)
    chosen = [item for item in _closest(material) if without_forbidden(item.text, rules)]
    said = [without_forbidden(_dated(item), rules) for item in _telling(chosen)] or [_NOTHING]
    answer = said[0] if len(said) == 1 else "\n".join(f"- {text}" for text in said)
    blocks: list[JsonValue] = [*said]
    section: JsonObject = {"heading": (material.question or "Known")[:80], "level": 2, "blocks": blocks}
    return {
        "answer": answer,
        "answer_found": bool(chosen),
        "document": {"sections": [section]},
        "memory_ids": _ids(chosen, "memory"),
        "observation_ids": _ids(chosen, "observation"),
        "mental_model_ids": _ids(chosen, "mental_model"),
        "directive_compliance": _compliance(rules, answer),
    }


def _closest(material: Material) -> list[Evidence]:
    """The pieces that share most words with the question; the first ones shown when none shares any."""
    asked = content_words(material.question)
    scored = [(overlap(asked, content_words(item.text)), item) for item in material.evidence()]
    fitting = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
    return [item for _, item in (fitting or scored)[:_SAID]]


def _telling(items: list[Evidence]) -> list[Evidence]:
    """Without those that say nothing which another one does not say too."""
    words = [content_words(item.text) for item in items]
    return [
        item
        for at, item in enumerate(items)
        if not any(words[at] < other or (words[at] == other and to < at) for to, other in enumerate(words))
    ]


def _dated(item: Evidence) -> str:
    return f"{item.text} ({item.date[:10]})" if item.date else item.text


def _ids(items: list[Evidence], kind: str) -> list[JsonValue]:
    return [item.id for item in items if item.kind == kind]


def _compliance(rules: list[Directive], answer: str) -> str:
    kept = sum(1 for rule in rules if broken(rule, answer) is None)
    return f"{kept} of {len(rules)} directives hold." if rules else "There are no directives."


def claims(material: Material) -> JsonObject:
    """The input of `reflect_claims`: each piece of evidence is a claim."""
    found: list[JsonValue] = []
    for item in material.evidence():
        claim: JsonObject = {"text": item.text, "ids": [item.id]}
        found.append({**claim, "date": item.date} if item.date else claim)
    return {"claims": found}


def rewrite(material: Material) -> JsonObject:
    """The leading sentences that fit `max_tokens`, without those that break a directive."""
    text = without_forbidden(material.text("answer"), directives_of(material))
    limit = material.limit
    room = limit * _CHARS_PER_TOKEN if limit else max(1, len(text) // 2)
    kept = ""
    for sentence in sentences(text):
        if len(kept) + len(sentence) + 1 <= room:
            kept = f"{kept} {sentence}".strip()
    return {"answer": kept or text[:room]}
