"""`extract_facts` by rule: one fact per sentence, in the third person, with its names and the date it states.

Called by the table in `rules`; calls `speech`, `language`, `dates`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.rules.dates import read_event_date, stated_date
from infra.local.bedrock.rules.language import content_words, names, sentences
from infra.local.bedrock.rules.material import Material
from infra.local.bedrock.rules.speech import Turn, in_third_person, turns
from infra.local.bedrock.shapes import a_text, objects

_PLEASANTRY = re.compile(
    r"(?:hi|hello|hey|thanks|thank you|thx|ok|okay|sure|great|cool|nice|wow|bye|goodbye|good (?:morning|evening|night)|"
    r"you're welcome|no problem|sounds good|see you|cheers|noted|my pleasure|really)\b[\w\s,']{0,24}[.!…]*",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r"(?:so|therefore|as a result|because of that|that's why|that is why)\b", re.IGNORECASE)


def extract_facts(material: Material) -> JsonObject:
    """The input of `record_facts`."""
    facts: list[JsonValue] = []
    vocabulary = material.records("labels")
    for chunk in material.records("chunk"):
        event = read_event_date(a_text(chunk.get("date")))
        spoken = turns(a_text(chunk.get("text")))
        speakers = frozenset(turn.speaker for turn in spoken if turn.speaker)
        told = [(turn, sentence) for turn in spoken for sentence in sentences(turn.text) if _is_worth_keeping(sentence)]
        for turn, sentence in told:
            if sentence.endswith(("?", "？")) and len(told) > 1:
                continue
            fact = _fact(turn, sentence, speakers)
            if stated := stated_date(sentence, event):
                fact |= {"fact_kind": "event", "occurred_start": stated.iso}
            if labels := _labels(sentence, vocabulary):
                fact["labels"] = labels
            if facts and _FOLLOWS.match(sentence):
                fact["caused_by"] = [len(facts) - 1]
            facts.append(fact)
    return {"facts": facts}


def _labels(sentence: str, vocabulary: Sequence[JsonObject]) -> list[JsonValue]:
    """The labels whose value, or a word of its description, the sentence says."""
    said = {word.casefold() for word in content_words(sentence)}
    return [
        {"key": a_text(group.get("key")), "value": a_text(value.get("value"))}
        for group in vocabulary
        for value in objects(group.get("values"))
        if said
        & {word.casefold() for name in ("value", "description") for word in content_words(a_text(value.get(name)))}
    ]


def _is_worth_keeping(sentence: str) -> bool:
    return not _PLEASANTRY.fullmatch(sentence) or bool(content_words(sentence) and not sentence.isascii())


def _fact(turn: Turn, sentence: str, speakers: frozenset[str]) -> JsonObject:
    what = in_third_person(sentence, turn.named) if turn.named else sentence
    entities: list[JsonValue] = [{"text": name} for name in names(what, speakers, spoken=turn.speaker is not None)]
    return {
        "what": what,
        "fact_type": "experience" if turn.is_assistant else "world",
        "fact_kind": "conversation",
        "entities": entities,
    }
