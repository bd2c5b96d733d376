"""Extracts many chunks at once, keeping each result as it comes in, outside any transaction.

Called by the job.  Results that were kept before are used again; what one chunk cannot give does not stop the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from hindsight_aws.errors import (
    HindsightError,
    ModelError,
    ModelThrottled,
    ModelUnavailable,
    WorkDeferred,
    WorkSuperseded,
)
from hindsight_aws.ports.model_gateway import ModelCall, TextModel, UsageSink
from hindsight_aws.retain.extraction.extract import extract
from hindsight_aws.retain.extraction.found import Extraction
from hindsight_aws.retain.extraction.passages import Passage
from hindsight_aws.retain.extraction.request import Extractor, call_for

_KEEP_EVERY: Final = 16
_KEEP_AFTER_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A chunk to extract."""

    key: str
    extractor: Extractor
    passage: Passage


def asked_about(chunks: Sequence[Wanted]) -> Mapping[str, ModelCall]:
    """The first call about each chunk, by its key."""
    return {each.key: call_for(each.extractor, each.passage, None) for each in chunks}


def asked_at_most(chunks: Sequence[Wanted]) -> int:
    """How often a chunk whose reply comes whole may be asked about."""
    return max((each.extractor.re_asks for each in chunks), default=0) + 1


@dataclass(slots=True)
class Extractions:
    """What came of it, by key: extractions, and errors that asking again would not change.

    `stopped_by` is set when the rest must be done later: the provider's fault, or the end of the time allowed.
    """

    found: dict[str, Extraction] = field(default_factory=dict)
    failed: dict[str, HindsightError] = field(default_factory=dict)
    stopped_by: HindsightError | None = None


Keep = Callable[[Mapping[str, Extraction]], None]
"""Makes extractions durable; called from the thread that called `extract_all`."""


def extract_all(
    model: TextModel,
    wanted: Sequence[Wanted],
    usage: UsageSink,
    keep: Keep,
    *,
    in_flight: int,
    give_up_at: float | None,
    may_ask: Callable[[Sequence[Wanted]], int] = len,
) -> Extractions:
    """Extracts all that is wanted, at most `in_flight` at once, and stops asking at `give_up_at` (monotonic seconds).

    Equal keys are asked for once.  Everything found is kept before it returns, also when it stops early.  When keeping
    fails, no more is asked for, the calls under way are awaited, and keeping is tried once more with all of it.
    `may_ask` is asked before any call how many of those that come next may be made; once it raises no chunk is begun.

    Raises: what `keep` raised the second time.
    """
    result = Extractions()
    todo = list({each.key: each for each in wanted}.values())
    todo.reverse()
    unkept: dict[str, Extraction] = {}
    kept_at = time.monotonic()
    with ThreadPoolExecutor(max_workers=min(in_flight, len(todo)), thread_name_prefix="extract") as pool:
        running: dict[Future[Extraction], str] = {}
        while todo or running:
            for each in _next(todo, in_flight - len(running), give_up_at, may_ask, result):
                running[pool.submit(extract, model, each.extractor, each.passage, usage)] = each.key
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                _take(future, running.pop(future), result, unkept)
            is_time = len(unkept) >= _KEEP_EVERY or (unkept and time.monotonic() - kept_at > _KEEP_AFTER_S)
            if is_time and result.stopped_by is None:
                if _is_done(partial(keep, unkept), result):
                    unkept.clear()
                kept_at = time.monotonic()
    if unkept and not isinstance(result.stopped_by, WorkSuperseded):
        keep(unkept)
    return result


def _next(
    todo: list[Wanted],
    free: int,
    give_up_at: float | None,
    may_ask: Callable[[Sequence[Wanted]], int],
    result: Extractions,
) -> list[Wanted]:
    """Takes the chunks to ask about next, at most `free`; none once it is noted why no further call is to be made."""
    wave = todo[: -free - 1 : -1]
    if not wave or result.stopped_by is not None:
        return []
    if give_up_at is not None and time.monotonic() >= give_up_at:
        result.stopped_by = WorkDeferred("the time for this attempt ran out")
        return []
    granted: list[int] = []
    if not _is_done(lambda: granted.append(may_ask(wave)), result):
        return []
    return [todo.pop() for _ in wave[: granted[0]]]


def _is_done(step: Callable[[], None], result: Extractions) -> bool:
    """Takes the step, or notes why the rest is left for later, or for nobody: the work itself is sound."""
    try:
        step()
    except (WorkDeferred, WorkSuperseded) as reason:
        result.stopped_by = reason
    except HindsightError as lost:
        result.stopped_by = WorkDeferred(f"the rows could not be reached: {lost}")
    return result.stopped_by is None


def _take(future: Future[Extraction], key: str, result: Extractions, unkept: dict[str, Extraction]) -> None:
    try:
        extraction = future.result()
    except (ModelThrottled, ModelUnavailable) as passing:
        result.stopped_by = result.stopped_by or passing
    except ModelError as final:
        result.failed[key] = final
    else:
        result.found[key] = extraction
        unkept[key] = extraction
