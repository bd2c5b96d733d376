"""Finds and measures a bank before anything is looked for in it.  Called by recall/recall.py and recall/together.py."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from hindsight_aws.access import sight
from hindsight_aws.configuration.config import BankConfig, resolve
from hindsight_aws.errors import DatabaseTooSlow
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.recall import Census
from hindsight_aws.ports.store import Transaction
from hindsight_aws.recall.arms import arms_in_use
from hindsight_aws.recall.fuzzy_tags import resolve_fuzzy
from hindsight_aws.recall.limits import candidate_limit
from hindsight_aws.recall.packing import CHARACTERS_OF_A_TOKEN
from hindsight_aws.recall.request import RecallQuery
from hindsight_aws.recall.task import Asked, Task
from hindsight_aws.recall.trace import Trace
from hindsight_aws.recall.when.find import time_windows
from hindsight_aws.recall.when.window import Window
from hindsight_aws.settings import Settings
from hindsight_aws.text.terms import terms
from hindsight_aws.text.tokens import truncate
from hindsight_aws.usage.allowance import parked

_MOST_ANCHORED = 10_000
_MOST_TERMS = 64


def begun(tx: Transaction, asked: Asked, bank: Bank, trace: Trace) -> Task | None:
    """The task, or None when nothing can be found: no type is left, the bank holds nothing, or no time is left.

    Raises: InvalidField for tags that cannot be resolved.
    """
    query, settings = asked.query, asked.settings
    as_of = query.times.as_of
    config = resolve(settings, bank.overrides)
    now = query.now or as_of or asked.present
    text = text_of(settings, query)
    windows = _windows(config, query, text, now)
    measured = _measured(tx, asked, bank)
    if measured is None:
        if asked.deadline is not None:
            asked.deadline.give_up(*arms_in_use(config, windows))
        return None
    tags, census = measured
    query = replace(query, tags=tags)
    seen = sight(asked.principal, query.fact_types, query.tags)
    # What is known of the past may be of types that the bank holds nothing of any more.
    if not seen.fact_types or (as_of is None and seen.fact_types.isdisjoint(census.sizes)):
        return None
    return Task(
        query=query,
        text=text,
        terms=tuple(dict.fromkeys(terms(text)))[:_MOST_TERMS] if config.enable_text_search else (),
        principal=asked.principal,
        bank=bank,
        config=config,
        settings=settings,
        sight=seen,
        census=census,
        limit=candidate_limit(config, query.budget, query.max_tokens),
        now=now,
        windows=windows,
        trace=trace,
        deadline=asked.deadline,
        is_parked=parked(tx, asked.present) is not None,
    )


def text_of(settings: Settings, query: RecallQuery) -> str:
    """What is looked for, and embedded: the query's first tokens, as many as the settings allow."""
    return _within_bounds(query.sound_query, settings.hindsight_api_recall_max_query_tokens)


def _within_bounds(text: str, most_tokens: int) -> str:
    """The text's first tokens; 0: all of it.  What is far beyond them is not even counted."""
    return truncate(text[: most_tokens * CHARACTERS_OF_A_TOKEN], most_tokens) if most_tokens else text


def _measured(tx: Transaction, asked: Asked, bank: Bank) -> tuple[TagFilter, Census] | None:
    """The filter in the bank's own tags and the bank's size; None when the time did not suffice for that."""
    if asked.deadline is None:
        return _read(tx, asked.principal, bank, asked.query)
    try:
        with tx.recall.within(asked.deadline.left_ms):
            return _read(tx, asked.principal, bank, asked.query)
    except DatabaseTooSlow:
        return None


def _read(tx: Transaction, principal: Principal, bank: Bank, query: RecallQuery) -> tuple[TagFilter, Census]:
    tags = resolve_fuzzy(tx, bank.bank_id, query.tags, principal)
    seen = sight(principal, query.fact_types, tags)
    return tags, tx.recall.census(bank.bank_id, seen.tags, _MOST_ANCHORED)


def _windows(config: BankConfig, query: RecallQuery, text: str, now: datetime) -> tuple[Window, ...]:
    """The time the question is about: the caller's word for it, else what its own words say."""
    if not config.enable_temporal_retrieval:
        return ()
    return time_windows(text, now) if query.temporal_window is None else (Window(*query.temporal_window),)
