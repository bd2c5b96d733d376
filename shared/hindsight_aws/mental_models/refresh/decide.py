"""Decides what a refresh is to do: how, from which memories, and whether a model is needed.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.model.trigger import Mode
from hindsight_aws.ports.mental_models import ScopeReading
from hindsight_aws.reflect.loop.state import DOCUMENT_TASK, EDITS_TASK, RETRACT_TASK

Fallback = Literal["no_baseline_content", "source_query_changed"]
AWAITS_CONSOLIDATION = "consolidation_pending"
_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Sources:
    """What a refresh could be made from.

    `cited` counts the memories its text rests on, `gone` those of them that are there no more.  `is_consolidating`:
    deleted facts' neighbours are being looked at again, so that what is gone may soon be there in other words.
    `has_siblings`: there are other pages that it may read.
    """

    reading: ScopeReading
    cited: int
    gone: int
    is_consolidating: bool
    has_siblings: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """How a refresh goes: `endings` are the tasks asked, none where there is nothing to ask about.

    `fallback` says why it is not the delta that was wanted.  `after` bounds the memories searched.  `deferred` says why
    what is gone is not taken out now; `is_emptied`: nothing is left of what the text rested on.
    """

    requested: Mode
    effective: Mode
    fallback: Fallback | None
    endings: tuple[str, ...]
    searches: bool
    after: datetime | None
    deferred: str | None = None
    is_emptied: bool = False


def question_of(model: MentalModel) -> str:
    """What a refresh asks: the model's question, or its name where that is blank."""
    return model.source_query.strip() or model.name


def decide(model: MentalModel, sources: Sources, *, wants_full: bool) -> Decision:
    """What the refresh does.

    A text all of whose sources are gone goes with them: it is written anew from what there is, or is empty then.
    """
    requested: Mode = "full" if wants_full else model.trigger.mode
    fallback = _fallback(model) if requested == "delta" else None
    is_emptied = sources.gone > 0 and sources.gone == sources.cited
    if requested == "full" or fallback is not None or is_emptied:
        return _full(model, sources, requested, fallback or ("no_baseline_content" if is_emptied else None), is_emptied)
    deferred = AWAITS_CONSOLIDATION if sources.gone and sources.is_consolidating else None
    retracts = (RETRACT_TASK,) if sources.gone and deferred is None else ()
    has_news = sources.reading.unseen > 0
    endings = (*retracts, *((EDITS_TASK,) if has_news else ()))
    return Decision("delta", "delta", None, endings, has_news, _since(model, sources.reading), deferred)


def _full(
    model: MentalModel, sources: Sources, requested: Mode, fallback: Fallback | None, is_emptied: bool
) -> Decision:
    unwritten = not model.content or sources.cited == 0
    finds = sources.reading.holds or (unwritten and sources.has_siblings and not model.trigger.exclude_mental_models)
    endings = (DOCUMENT_TASK,) if finds else ()
    reason = fallback if requested == "delta" else None
    return Decision(requested, "full", reason, endings, finds, None, None, is_emptied)


def _fallback(model: MentalModel) -> Fallback | None:
    if not model.content.strip():
        return "no_baseline_content"
    is_same = model.written_query is None or model.written_query == model.source_query
    return None if is_same else "source_query_changed"


def _since(model: MentalModel, reading: ScopeReading) -> datetime | None:
    """From when on memories are new: earlier than what was seen, where a commit came late."""
    seen = model.last_memory_seen_at or model.last_refreshed_at
    if seen is None or reading.oldest_unseen is None:
        return seen
    return min(seen, reading.oldest_unseen - _MOMENT)
