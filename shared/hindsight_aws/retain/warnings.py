"""What the caller of a retain should hear although the work is done: names that nobody knows, and what holds instead.

Called by admit; calls the bank's settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, get_args

from hindsight_aws.configuration.config import resolve
from hindsight_aws.model.bank import Bank
from hindsight_aws.prompts import ExtractionMode
from hindsight_aws.retain.extraction.recipes import CHUNKS, config_of
from hindsight_aws.retain.intake.accepted import DocumentTask, Part
from hindsight_aws.settings import Settings

_MODES: Final = (*get_args(ExtractionMode), CHUNKS)
_LONGEST_NAMED: Final = 60
_MOST: Final = 20


def warnings_for(settings: Settings, bank: Bank, tasks: Sequence[DocumentTask]) -> tuple[str, ...]:
    """A sentence for each strategy and each way of extraction that is none, at most 20 of them.

    The settings themselves take any name, for they may be written before what they name: it shows here.
    """
    return tuple(islice(dict.fromkeys(_each(settings, bank, tasks)), _MOST))


def _each(settings: Settings, bank: Bank, tasks: Sequence[DocumentTask]) -> Iterator[str]:
    config = resolve(settings, bank.overrides)
    known = config.retain_strategies or {}
    firsts: dict[str | None, Part] = {}
    for part in (part for task in tasks for part in task.parts):
        firsts.setdefault(part.strategy, part)
    for strategy, part in firsts.items():
        name = strategy or config.retain_default_strategy
        if name and name not in known:
            field = f"{part.path}.strategy" if strategy else "retain_default_strategy"
            yield f"{field}: the bank has no retain strategy {name[:_LONGEST_NAMED]!r}; its own settings hold"
        mode = config_of(settings, bank, strategy).retain_extraction_mode.strip().lower()
        if mode not in _MODES:
            yield f"retain_extraction_mode: is none of {', '.join(_MODES)}; it works as concise"
