"""Checks what a case expects; each word of `expect` has one check here, and a word without one fails loudly.

Called by the test and by the reader; calls the modules beside it, which look at the world.
"""

from __future__ import annotations

import re
from typing import Final

from tests.cases.checking import answers, memories, prompts, work
from tests.cases.checking.counts import COUNTED, bounded
from tests.cases.checking.outcome import CHECKS, Check, Outcome
from tests.cases.checking.texts import TEXTS, holding
from tests.cases.scripting import TASKS, resolved

__all__ = ["Outcome", "check", "known_expectation", "memories"]

_PROMPT: Final = re.compile(rf"({'|'.join(TASKS)})_prompt_(has|lacks|has_any)")
_CALLS: Final = re.compile(rf"({'|'.join(TASKS)})_calls(_min|_max)?")
_COUNT: Final = re.compile(r"(observations|facts|entities|recall|operations|documents)_count(_min|_max)?")
_TEXT: Final = re.compile(rf"({'|'.join(TEXTS)})_(contains|lacks)")
_CONFIG: Final = re.compile(r"config_(\w+)")
_AFTER: Final = re.compile(r"after_(first|second|third|fourth)")
_PLACES: Final = ("first", "second", "third", "fourth")


def known_expectation(key: str) -> bool:
    """Whether some check is called that."""
    patterns = (_PROMPT, _CALLS, _COUNT, _TEXT, _CONFIG, _AFTER)
    return key in CHECKS or any(pattern.fullmatch(key) for pattern in patterns)


def check(outcome: Outcome) -> None:
    """Checks everything the case expects. Raises: AssertionError naming the expectation."""
    resolve = outcome.play.resolver(outcome.writes)
    for key, wanted in outcome.case.expect.items():
        try:
            _check_for(key)(outcome, resolved(wanted, resolve))
        except AssertionError as wrong:
            raise AssertionError(f"expect.{key}: {wrong}\n{_story(outcome)}") from wrong


def _story(outcome: Outcome) -> str:
    lines = [f"  {answer.do} {answer.bank}: {answer.status} {answer.text[:300]}" for answer in outcome.play.answers]
    return "\n".join(["what was answered:", *lines])


def _check_for(key: str) -> Check:
    if key in CHECKS:
        return CHECKS[key]
    if match := _PROMPT.fullmatch(key):
        return prompts.of_task(match[1], match[2])
    if match := _CALLS.fullmatch(key):
        task = TASKS[match[1]]
        return bounded(lambda outcome: len(outcome.world.calls(task)), match[2])
    if match := _COUNT.fullmatch(key):
        return bounded(COUNTED[match[1]], match[2])
    if match := _TEXT.fullmatch(key):
        return holding(match[1], match[2])
    if match := _AFTER.fullmatch(key):
        return work.after_step(_PLACES.index(match[1]))
    match = _CONFIG.fullmatch(key)
    assert match is not None, f"nothing checks {key!r}"
    return answers.config_field(match[1])
