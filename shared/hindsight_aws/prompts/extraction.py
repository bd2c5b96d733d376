"""Builds what an `extract_facts` call says: its system text, its tool, and its data blocks.

Called by retain; calls `registry` and `blocks`. The shapes are those of `contract.retain`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final, Literal

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.prompts.blocks import data_block
from hindsight_aws.prompts.registry import Prompt, prompt

ExtractionMode = Literal["concise", "verbose", "custom", "verbatim"]
"""The ways of extraction that ask a model."""

_PROMPTS: Final[dict[ExtractionMode, str]] = {
    "concise": "extract_facts",
    "verbose": "extract_facts_verbose",
    "custom": "extract_facts_custom",
    "verbatim": "extract_facts_verbatim",
}
_EXAMPLE: Final = re.compile(r'`(\{"facts": .*\})`')
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@cache
def extraction_prompt(mode: ExtractionMode, without: frozenset[str]) -> Prompt:
    """The mode's prompt, silent about the fields the tool is `without`, in its example too.

    It holds nothing of any bank, so that all banks with these settings share one cached beginning.
    """
    whole = prompt(_PROMPTS[mode])
    if not without:
        return whole
    named = tuple(f"- `{name}`" for name in without)
    lines = [line for line in whole.text.split("\n") if not line.startswith(named)]
    text = _EXAMPLE.sub(lambda shown: f"`{_example(shown[1], without)}`", "\n".join(lines))
    return replace(whole, text=text)


def _example(shown: str, without: frozenset[str]) -> str:
    facts = [
        {name: value for name, value in fact.items() if name not in without} for fact in json.loads(shown)["facts"]
    ]
    return json.dumps({"facts": facts}, ensure_ascii=False)


def owner_blocks(
    mission: str | None, instructions: str | None, language: str | None, labels: Sequence[JsonValue]
) -> tuple[str, ...]:
    """The blocks mission, instructions, language and labels, in that order; each only when it says something.

    They are the same for every chunk of a bank, so they stand before all that differs.
    """
    said: dict[str, JsonValue] = {}
    if mission and mission.strip():
        said["mission"] = {"text": mission}
    if instructions and instructions.strip():
        said["instructions"] = {"text": instructions}
    if language and language.strip():
        said["language"] = {"language": language.strip()}
    if labels:
        said["labels"] = [*labels]
    return tuple(data_block(kind, document) for kind, document in said.items())


def extraction_blocks(
    text: str,
    *,
    position: int,
    total: int,
    happened: datetime | None,
    context: str | None = None,
    metadata: Mapping[str, str] | None = None,
    before: str = "",
    after: str = "",
) -> tuple[str, ...]:
    """The blocks context, neighbours and chunk, in that order; the first two only when they say something.

    `position` counts from 0. `happened` keeps its own offset, so that "tonight" is the writer's evening; a naive one is
    taken as UTC. Without it the chunk says `"date": null`, and the model is told not to guess.
    """
    blocks: list[str] = []
    if (context and context.strip()) or metadata:
        about: JsonObject = {"text": context or ""}
        if metadata:
            about["metadata"] = dict(metadata)
        blocks.append(data_block("context", about))
    around: JsonObject = {name: shown for name, shown in (("before", before), ("after", after)) if shown.strip()}
    if around:
        blocks.append(data_block("neighbours", around))
    chunk: JsonObject = {"text": text, "position": position, "total": total, "date": None, "zone": None}
    if happened is not None:
        chunk |= {"date": _spoken_date(happened), "zone": happened.tzname() or "UTC"}
    blocks.append(data_block("chunk", chunk))
    return tuple(blocks)


def problem_block(reason: str, fields: Sequence[str]) -> str:
    """The block that goes with a repeated request: what was wrong, and the fields that a fact may have."""
    return data_block("problem", {"reason": reason, "fields": [*fields]})


def _spoken_date(moment: datetime) -> str:
    """Weekday and ISO 8601 with offset: `Monday 2026-06-01T19:00:00-05:00`. Never in the machine's own language."""
    if moment.tzinfo is None:
        return f"{_WEEKDAYS[moment.weekday()]} {moment.isoformat(timespec='seconds')}+00:00"
    return f"{_WEEKDAYS[moment.weekday()]} {moment.isoformat(timespec='seconds')}"
