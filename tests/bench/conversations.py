"""Reads conversations of the LoCoMo data set: turns to remember, and questions with the turns that answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

CATEGORIES: Final[Mapping[int, str]] = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_SESSION: Final = re.compile(r"session_(\d+)")
_TURN: Final = re.compile(r"D(\d+)\s*:\s*0*(\d+)")
_TIME: Final = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """Something said, by whom and when."""

    id: str
    session: int
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the name of its category, and the ids of the turns that answer it."""

    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, and what is asked of them."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def conversations(path: Path) -> list[Conversation]:
    """All of the file's; questions without evidence, and those meant to be unanswerable, are left out."""
    return [_conversation(each) for each in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(raw: Mapping[str, Any]) -> Conversation:
    turns = tuple(_turns(raw["conversation"]))
    known = {turn.id for turn in turns}
    questions = (
        Question(asked["question"], CATEGORIES[asked["category"]], _evidence(asked) & known)
        for asked in raw["qa"]
        if asked["category"] in CATEGORIES
    )
    return Conversation(raw["sample_id"], turns, tuple(question for question in questions if question.evidence))


def _turns(raw: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(found[1]) for key in raw if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        began = datetime.strptime(" ".join(raw[f"session_{number}_date_time"].split()), _TIME).replace(tzinfo=UTC)
        for place, said in enumerate(raw[f"session_{number}"]):
            image = f" [shares image: {said['blip_caption']}]" if said.get("blip_caption") else ""
            text = f"{said['speaker']}: {said.get('text', '')}{image}"
            yield Turn(said["dia_id"], number, text, began + timedelta(seconds=place))


def _evidence(asked: Mapping[str, Any]) -> frozenset[str]:
    named = (found for each in asked.get("evidence", []) for found in _TURN.findall(each))
    return frozenset(f"D{session}:{turn}" for session, turn in named)
