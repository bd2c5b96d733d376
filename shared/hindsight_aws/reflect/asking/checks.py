"""What each ending's reply must hold to, beyond its schema: one pure check per task, for the steps to apply.

A refusal is shown to the model, once; the planner decides what a second one means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.asking.compliance import check_verdict
from hindsight_aws.reflect.asking.conformance import problems_of
from hindsight_aws.reflect.asking.model_call import Asking
from hindsight_aws.reflect.conversation.evidence import Evidence
from hindsight_aws.reflect.loop.state import STRUCTURE_TASK, VERIFY_TASK, Said


@dataclass(frozen=True, slots=True)
class EndingBasis:
    """What a reply is held against: what it was asked from, what was said before it, and the evidence it was shown."""

    asking: Asking
    said: Said
    evidence: Sequence[Evidence]


Check: TypeAlias = Callable[[JsonObject, EndingBasis], str | None]
"""What is wrong with the reply, as a sentence for the model; None when nothing is."""


def _verdict(reply: JsonObject, basis: EndingBasis) -> str | None:
    return check_verdict(reply, basis.asking.rules)


def _structure(reply: JsonObject, basis: EndingBasis) -> str | None:
    problems = problems_of(reply, basis.asking.job.request.response_schema or {})
    return f"The reply does not fit the structure: {'; '.join(problems)}." if problems else None


CHECKS: Final[Mapping[str, Check]] = {VERIFY_TASK: _verdict, STRUCTURE_TASK: _structure}
"""By task.  Those of a page's endings are kept by `ports.pages`: `Pages.check`."""
