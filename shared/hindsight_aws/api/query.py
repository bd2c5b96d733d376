"""Query parameters that several routes share: ids, paging, tags, time windows; each wrong one is a clear 4xx."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.tags import TagFilter, TagsMatch, parse_groups
from hindsight_aws.ports.listing import TimeField, Window

Limit = Annotated[int, Query(ge=0, le=10_000)]
PageSize = Annotated[int, Query(ge=1, le=1_000)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
Tags = Annotated[list[str] | None, Query()]
Mode = Literal["any", "all", "any_strict", "all_strict", "exact"]


async def _written_by(
    strategy: Annotated[str | None, Query(description="Name or index of a strategy, or `default`.")] = None,
    policy_hash: Annotated[str | None, Query(description="Policy of the scope at the time.")] = None,
    prompt: Annotated[str | None, Query(description="Prompt and version, such as `consolidate@1`.")] = None,
    model: Annotated[str | None, Query(description="Id of the model.")] = None,
    run_id: Annotated[str | None, Query(description="Consolidation run.")] = None,
) -> dict[str, object] | None:
    """The provenance that is asked for, in the names under which rows bear it; None when none is."""
    # A coroutine, though it awaits nothing: FastAPI would run a plain function in a thread, made anew for each event.
    asked: dict[str, object | None] = {"policy_hash": policy_hash, "prompt": prompt, "model_id": model}
    if strategy:
        is_index = strategy.isascii() and strategy.isdigit() and len(strategy) < 10
        asked |= {"strategy_index": int(strategy)} if is_index else {"strategy_name": strategy}
    if run_id:
        asked["run_id"] = str(uuid_of(run_id, "run_id"))
    return {name: value for name, value in asked.items() if value not in (None, "")} or None


WrittenBy = Annotated[dict[str, object] | None, Depends(_written_by)]
"""Which strategy, policy, prompt, model or run made or last changed a memory: parameters of ours."""


def uuid_of(text: str, name: str) -> UUID:
    """The id that a path gives.  Raises InvalidRequest for what is no UUID."""
    try:
        return UUID(text)
    except ValueError:
        raise InvalidRequest(f"Invalid {name}: {text[:100]!r} is not a valid UUID") from None


def tag_filter(tags: list[str] | None, mode: Mode, tag_groups: str | None = None) -> TagFilter:
    """The filter of `tags` and `tags_match`, or of `tag_groups` as JSON text.

    Raises: InvalidRequest for both at once, and for groups that cannot be read.
    """
    if tag_groups is None:
        return TagFilter.flat(tags, TagsMatch(mode))
    if tags is not None:
        raise InvalidRequest("'tags' and 'tag_groups' are mutually exclusive")
    try:
        parsed: object = json.loads(tag_groups)
    except (ValueError, RecursionError):
        raise InvalidRequest("Invalid tag_groups: not JSON") from None
    found = TagFilter(parse_groups(parsed))
    if found.is_fuzzy:
        raise InvalidRequest("Invalid tag_groups: resolve 'fuzzy' is not supported here")
    return found


def window(axis: TimeField | None, default: TimeField, start: str | None, end: str | None) -> Window:
    """The time window of `time_field`, `start_date` and `end_date`.

    Raises: InvalidRequest for a date that cannot be read, and for an end that is not after its start.
    """
    begins, ends = _moment(start, "start_date"), _moment(end, "end_date")
    if begins is not None and ends is not None and ends <= begins:
        raise InvalidRequest("Invalid time window: end_date must be after start_date.")
    if axis is None and begins is None and ends is None:
        return Window()
    return Window(axis or default, begins, ends)


def _moment(text: str | None, name: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(
            text.strip().replace(" ", "+") if text.count(" ") == 1 and "T" in text else text
        )
    except ValueError:
        raise InvalidRequest(f"Invalid {name}: {text[:100]!r} is not an ISO-8601 datetime.") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
