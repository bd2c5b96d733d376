"""Builds the data blocks of an `extract_facts` call.

Called by retain; calls `blocks`. The shapes are those of `contract.retain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.prompts.blocks import data_block


def extraction_blocks(
    text: str,
    *,
    position: int,
    total: int,
    happened: datetime | None,
    mission: str | None = None,
    context: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """The blocks mission, context and chunk, in that order; the first two only when they say something.

    `position` counts from 0. `happened` keeps its own offset, so that "tonight" is the writer's evening; a naive one is
    taken as UTC. Without it the chunk says `"date": null`, and the model is told not to guess.
    """
    blocks: list[str] = []
    if mission and mission.strip():
        blocks.append(data_block("mission", {"text": mission}))
    if (context and context.strip()) or metadata:
        about: JsonObject = {"text": context or ""}
        if metadata:
            about["metadata"] = dict(metadata)
        blocks.append(data_block("context", about))
    chunk: JsonObject = {"text": text, "position": position, "total": total, "date": None, "zone": None}
    if happened is not None:
        chunk |= {"date": _spoken_date(happened), "zone": happened.tzname() or "UTC"}
    blocks.append(data_block("chunk", chunk))
    return tuple(blocks)


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _spoken_date(moment: datetime) -> str:
    """Weekday and ISO 8601 with offset: `Monday 2026-06-01T19:00:00-05:00`. Never in the machine's own language."""
    if moment.tzinfo is None:
        return f"{_WEEKDAYS[moment.weekday()]} {moment.isoformat(timespec='seconds')}+00:00"
    return f"{_WEEKDAYS[moment.weekday()]} {moment.isoformat(timespec='seconds')}"
