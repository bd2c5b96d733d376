"""Splits a text into turns of speech and turns "I" into the one who says it.

Called by `extract_facts`; calls `language`. Pure; English grammar only, other languages pass unchanged.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.shapes import a_text, objects

_SPOKEN_LINE = re.compile(
    r"^\s*(?:\[[^\]\n]{1,40}\]\s*)?(?P<name>[^\W\d_][\w.'’ -]{0,40}?)(?:\s*\([^)\n]{1,40}\))?:\s+(?P<said>\S.*)$"
)
_ASSISTANTS = frozenset({"assistant", "ai", "agent", "bot", "the assistant"})
_NUMBERED = frozenset({"speaker", "user", "person", "participant", "agent", "customer", "guest"})
_SPOKEN = re.compile(r"\b(?:I|I['’]\w+|[Mm]y|me|[Ww]e|[Oo]ur|[Yy]ou|[Yy]our)\b|\?")
_USERS = frozenset({"user", "human", "the user"})
_NO_SPEAKERS = frozenset(
    {"note", "notes", "summary", "title", "subject", "date", "todo", "warning", "example", "system"}
)
_UNCHANGED_VERBS = frozenset(
    """can could will would shall should must might may was had did went got made said told took saw came found gave
    thought knew became left felt put brought began kept held wrote stood heard let meant set met paid sat spoke lay led
    read grew lost fell sent built understood drew broke spent cut rose drove bought wore chose ate ran won slept taught
    caught fought flew sang swam rode hit quit hurt cost forgot threw also always never really just still usually often
    sometimes already recently finally actually definitely probably once ever even only used""".split()
)
_ADVERBS = frozenset(
    """also always never really just still usually often sometimes already recently finally actually definitely
    probably even only absolutely totally mostly generally currently""".split()
)
_IRREGULAR = {"have": "has", "do": "does", "go": "goes", "am": "is", "don't": "doesn't", "don’t": "doesn't",
              "haven't": "hasn't", "haven’t": "hasn't", "try": "tries", "study": "studies", "carry": "carries",
              "fly": "flies", "worry": "worries", "are": "is"}  # fmt: skip
_PAST_OR_THIRD = ("ed", "n't", "s", "ing")
_CONTRACTIONS = (("I'm", "is"), ("I've", "has"), ("I'll", "will"), ("I'd", "would"))


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said; `speaker` is None for plain text."""

    speaker: str | None
    text: str

    @property
    def is_assistant(self) -> bool:
        """Whether the memory's own assistant speaks."""
        return self.speaker is not None and self.speaker.casefold() in _ASSISTANTS

    @property
    def named(self) -> str | None:
        """What to call the speaker in a sentence: a name, `The user`, `The assistant`, or None."""
        if self.speaker is None:
            return None
        if self.is_assistant:
            return "The assistant"
        return "The user" if self.speaker.casefold() in _USERS else self.speaker


def turns(text: str) -> list[Turn]:
    """The turns of a conversation in JSON, or in lines `Name: …`; a plain text is one turn without a speaker.

    A line without a name goes on with the turn before it.
    """
    spoken = _json_turns(text)
    if spoken is not None:
        return spoken
    lines = [(line, _SPOKEN_LINE.match(line)) for line in text.split("\n")]
    if not any(match and _is_speech(match) for _, match in lines):
        return [Turn(None, text)]
    found: list[Turn] = []
    for line, match in lines:
        if match and _is_speaker(match["name"]):
            found.append(Turn(match["name"].strip(), match["said"]))
        elif found:
            last = found.pop()
            found.append(Turn(last.speaker, f"{last.text}\n{line}"))
        else:
            found.append(Turn(None, line))
    return found


def _is_speech(match: re.Match[str]) -> bool:
    """Whether a line `Name: …` is spoken and no entry of a list: a known role, or words of one person to another."""
    name = match["name"].casefold()
    return _is_speaker(match["name"]) and (name in _ASSISTANTS | _USERS or bool(_SPOKEN.search(match["said"])))


def _is_speaker(name: str) -> bool:
    if name.casefold() in _ASSISTANTS | _USERS:
        return True
    words = name.split()
    has_number = any(char.isdecimal() for char in name)
    if has_number and words[0].casefold() not in _NUMBERED:
        return False
    return name[0].isupper() and len(words) <= 3 and name.casefold() not in _NO_SPEAKERS


def _json_turns(text: str) -> list[Turn] | None:
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        whole: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        try:
            whole = [json.loads(line) for line in lines] if len(lines) > 1 and lines[0].startswith("{") else None
        except (ValueError, RecursionError):
            return None
    if isinstance(whole, dict):
        whole = [whole]
    if not isinstance(whole, list) or not whole or len(objects(whole)) != len(whole):
        return None
    found = [Turn(_speaker(turn), _said(turn)) for turn in objects(whole)]
    return found if any(turn.text for turn in found) else None


def _speaker(turn: JsonObject) -> str | None:
    return next(
        (name for key in ("name", "speaker", "author", "from", "role") if (name := a_text(turn.get(key)))), None
    )


def _said(turn: JsonObject) -> str:
    for key in ("content", "text", "message", "said", "value"):
        value = turn.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "\n".join(a_text(part.get("text")) for part in objects(value))
    return ""


def in_third_person(sentence: str, who: str) -> str:
    """The sentence with its first person replaced by `who`: `I'm late` said by Ada becomes `Ada is late`."""
    plain = sentence.replace("’", "'")
    if not re.search(r"\b(I|I'm|I've|I'll|I'd|my|My|me|mine|Mine|myself)\b", plain):
        return sentence
    for contraction, verb in _CONTRACTIONS:
        plain = re.sub(rf"\b{contraction}\b", f"{who} {verb}", plain)
    plain = re.sub(r"\bI(\s+)([\w']+)(?:(\s+)([\w']+))?", lambda match: _agreed(match, who), plain)
    plain = re.sub(r"\bI\b", who, plain)
    own = who + ("'" if who.endswith("s") else "'s")
    plain = re.sub(r"\b(?:my|My|mine|Mine)\b", own, plain)
    plain = re.sub(r"\bme\b", who, plain)
    plain = re.sub(r"\bmyself\b", "themselves", plain)
    return re.sub(r"(?<=\w )The (?=user|assistant)", "the ", plain)


def _agreed(match: re.Match[str], who: str) -> str:
    gap, first, second_gap, second = match[1], match[2], match[3] or "", match[4] or ""
    if first.casefold() in _ADVERBS and second:
        return f"{who}{gap}{first}{second_gap}{_third(second)}"
    return f"{who}{gap}{_third(first)}{second_gap}{second}"


def _third(verb: str) -> str:
    low = verb.casefold()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low.endswith("eed"):
        return verb + "s"
    if low in _UNCHANGED_VERBS or low.endswith(_PAST_OR_THIRD) or not low.isalpha():
        return verb + "es" if low.endswith("ss") else verb
    return verb + ("es" if low.endswith(("sh", "ch", "x", "z", "o")) else "s")
