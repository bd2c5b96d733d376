"""Finds text that speaks to the model instead of to a reader: orders to forget its rules, forged roles, hidden asks.

Called through screening/detectors.  A heuristic over wordings seen in attacks, in a few languages: it marks
what is worth a second look and proves nothing either way, hence its default action `allow`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_aws.screening.secrets import Span, lowered

_FIRST_WORDS = re.compile(
    r"ignor|disregard|forget|override|bypass|reveal|print|repeat|show|leak|output|you are now|do not|don't|never|new "
    r"|<\||\[/?inst\]|<</?sys>>|system|assistant|忽略|无视|無視"
)
_WORDINGS = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,40}"
    r"\b(?:previous|prior|above|earlier|preceding|all|your|system)\b[^.!?\n]{0,40}"
    r"\b(?:instructions?|prompts?|rules|guidelines|directives|messages?)\b"
    r"|(?:reveal|print|repeat|show|leak|output)\b[^.!?\n]{0,40}\b(?:system|hidden|initial)\b[^.!?\n]{0,20}"
    r"\b(?:prompt|instructions?|message)\b"
    r"|you are now\b[^.!?\n]{0,60}\b(?:mode|jailbr\w{1,12}|unrestricted|developer|dan)\b"
    r"|(?:do not|don't|never) (?:tell|inform|mention)\b[^.!?\n]{0,40}\b(?:the )?user\b"
    r"|new (?:system )?instructions?\s{0,3}:"
    r"|<\|(?:im_start|im_end|system|endoftext|start_header_id)\|>|\[/?inst\]|<</?sys>>"
    r"|(?<![^\n \t])(?:system|assistant)\s{0,3}(?:prompt|message)?\s{0,3}:[^\n]{0,40}"
    r"\b(?:you must|ignore|always|never)\b"
    r"|ignoriere?\b[^.!?\n]{0,60}\b(?:anweisungen|regeln)\b"
    r"|ignor(?:a|e|ez|er)\b[^.!?\n]{0,60}\b(?:instrucciones|instructions|reglas|règles)\b"
    r"|(?:忽略|无视|無視)[^。！？\n]{0,20}(?:指令|指示|提示|规则|規則)"
)
_ENDS: Final = ".!?。！？\n"
_LONGEST_SENTENCE: Final = 400


def injected_instructions(text: str) -> Iterator[Span]:
    """The sentences, or the lines, in which such wordings stand."""
    small = lowered(text)
    for first in _FIRST_WORDS.finditer(small):
        found = _WORDINGS.match(small, first.start())
        if found is not None:
            yield _start_of_sentence(text, found.start()), _end_of_sentence(text, found.end())


def _start_of_sentence(text: str, at: int) -> int:
    farthest = max(0, at - _LONGEST_SENTENCE)
    start = max(text.rfind(end, farthest, at) for end in _ENDS) + 1
    start = max(start, farthest)
    while start < at and text[start].isspace():
        start += 1
    return start


def _end_of_sentence(text: str, at: int) -> int:
    farthest = min(len(text), at + _LONGEST_SENTENCE)
    ends = [place for end in _ENDS if (place := text.find(end, at, farthest)) >= 0]
    if not ends:
        return farthest
    first = min(ends)
    return first if text[first] == "\n" else first + 1
