"""What a refresh that gave nothing means: tried again, or failed, and whether automatic ones then wait.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.errors import WorkDeferred, kind_named, may_pass
from hindsight_aws.mental_models.refresh.reply import NOTHING_APPLIED
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.reflect import Run

MOST_ATTEMPTS = 3
_FIRST_DELAY_S = 60.0
_OUT_OF_TIME = ("ReflectTimeout", "Sandbox.Timedout")
_OF_THE_WORKFLOW = ("States.", "Lambda.")


@dataclass(frozen=True, slots=True)
class Failure:
    """How a failure is told; `again_in` seconds it is tried again, None: it stays failed."""

    outcome: str
    reason: str
    again_in: float | None
    pauses: bool

    @property
    def details(self) -> JsonObject:
        """As the operation tells it."""
        return details(self.outcome, self.reason)


def failure_of(run: Run, error: str, message: str, attempts: int) -> Failure:
    """What the error means for the refresh.

    What may pass is tried again a few times and pauses nothing; what a model said wrong twice does.
    """
    is_passing = _is_passing(error)
    again_in = _FIRST_DELAY_S * 2.0 ** (attempts - 1) if is_passing and attempts < MOST_ATTEMPTS else None
    if error == "ModelReplyMalformed" and _is_delta(run):
        reason = "delta_ops_all_skipped" if message.startswith(NOTHING_APPLIED) else "delta_ops_failed"
        return Failure("refresh_failed_delta_not_applied", reason, None, True)
    if error in ("ModelReplyMalformed", "ModelReplyTruncated"):
        return Failure("refresh_failed_error", "no_answer", None, True)
    reason = "retrieval_failed" if error.startswith("Database") else "unexpected_error"
    return Failure("refresh_failed_error", reason, again_in, not is_passing)


def details(outcome: str, reason: str | None) -> JsonObject:
    """What an operation tells of a refresh that ended."""
    return {"operation_type": "refresh_mental_model", "outcome": outcome, "failure_reason": reason}


def _is_passing(error: str) -> bool:
    kind = kind_named(error)
    if kind is None:
        return error in _OUT_OF_TIME or error.startswith(_OF_THE_WORKFLOW)
    return may_pass(kind) or issubclass(kind, WorkDeferred)


def _is_delta(run: Run) -> bool:
    page = run.state.get("page")
    kept = page.get("kept") if isinstance(page, dict) else None
    return isinstance(kept, dict) and kept.get("effective") == "delta"
