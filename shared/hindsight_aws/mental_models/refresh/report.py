"""What is told of a refresh: kept with the page, and as the answer of a dry run.  Called by keeper.py."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from hindsight_aws.mental_models.refresh.candidate import Candidate, Said, edits_as_json
from hindsight_aws.mental_models.refresh.cited import used
from hindsight_aws.mental_models.refresh.end import RefreshEnd
from hindsight_aws.mental_models.refresh.failure import details
from hindsight_aws.model.mental_model import Citation, MentalModel
from hindsight_aws.model.trigger import Document, trigger_to_json
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.page_keeper import FoundPiece
from hindsight_aws.ports.reflect import Step
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.loop.state import DOCUMENT_TASK, RETRACT_TASK, STRUCTURE_TASK

KINDS = ("world", "experience", "opinion", "observation", "mental-models", "directives")
_BENEATH = ("mental_models", "trace")
_TOKENS = {"input": "input_tokens", "output": "output_tokens", "cached": "cached_tokens"}


def details_of(made: Candidate) -> JsonObject:
    """What the operation of a refresh tells of its end."""
    return details(made.outcome, made.failure)


def message_of(made: Candidate) -> str:
    """A failure in words."""
    return f"the refresh changed nothing: {(made.failure or made.outcome).replace('_', ' ')}"


def response_of(tx: Transaction, ended: RefreshEnd) -> JsonObject:
    """What is kept with a text besides itself: never another memory's words, so that none outlives its memory."""
    made, said = ended.made, ended.said
    pages: list[JsonValue] = [*_pages(said, ended.found)]
    response: JsonObject = {"outcome": made.outcome, "mental_models": pages, "warnings": [*made.warnings]}
    if STRUCTURE_TASK in said:
        response["structured_output"] = said[STRUCTURE_TASK]
    if ended.kept.keeps_trace:
        response["trace"] = _trace(tx, ended, told=False)
    return response


def answer_of(tx: Transaction, ended: RefreshEnd, model: MentalModel, citations: Sequence[Citation]) -> JsonObject:
    """What a dry run tells: what would be written, and why; of what is gone, nothing."""
    kept, made = ended.kept, ended.made
    is_withheld = _is_withheld(tx, ended, model)
    there = [one for one in citations if not one.is_gone]
    is_told = len(there) == len(citations) and (not is_withheld or _is_mended(ended))
    current = "" if is_withheld else kept.content
    candidate = made.content if is_told else ""
    preview = candidate if made.failure is None else current
    trace = _trace(tx, ended, told=True) | ({} if is_told else {"delta_operations": None})
    return {
        "mental_model_id": model.id,
        "name": model.name,
        "requested_mode": kept.requested,
        "effective_mode": kept.effective,
        "mode_fallback_reason": kept.fallback,
        "outcome": made.outcome,
        "would_persist": made.failure is None and made.is_written,
        "scope": _scope(model),
        "window": {
            "created_after": _moment(kept.after),
            "created_before": _moment(kept.cutoff),
            "watermark": _moment(kept.newest),
        },
        "facts": {"retrieved": _counted(ended.found), "used": {**Counter(one.kind for one in there)}},
        "based_on": based_on(there),
        "current_content": current,
        "candidate_content": candidate,
        "preview_content": preview,
        "diff": diff(current, preview),
        "delta_operations": trace["delta_operations"],
        "retraction": trace["retraction"],
        "trace": trace,
        "usage": trace["usage"],
        "duration_ms": trace["duration_ms"],
        "warnings": [*made.warnings],
    }


def _is_withheld(tx: Transaction, ended: RefreshEnd, model: MentalModel) -> bool:
    """Whether the text that the refresh began with is shown to nobody: what it rests on is gone, or it has changed."""
    if ended.kept.gone or model.content != ended.kept.content:
        return True
    return tx.mental_models.staleness(ended.run.bank_id, model.page_id) == "source_deleted"


def _is_mended(ended: RefreshEnd) -> bool:
    """Whether the new text is without what is gone: written as a whole, or after that was taken out."""
    made = ended.made
    return made.is_written and (ended.kept.effective == "full" or made.retraction is not None)


def based_on(citations: Sequence[Citation]) -> JsonObject:
    """What a text rests on, by kind, as callers are shown it."""
    told: dict[str, list[JsonValue]] = {kind: [] for kind in KINDS}
    for one in citations:
        told[one.kind].append({"id": str(one.id), "text": one.text, "type": one.kind})
    return dict(told.items())


def shown_response(response: Document, *, sees_beneath: bool) -> dict[str, object]:
    """What is kept with a text, for a caller; what names other pages or tells of the search is for some alone."""
    return {name: value for name, value in response.items() if sees_beneath or name not in _BENEATH}


def diff(before: str, after: str) -> str:
    """The change as a unified diff; empty when there is none."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "current", "preview", lineterm="")
    return "\n".join(lines)


def _trace(tx: Transaction, ended: RefreshEnd, *, told: bool) -> JsonObject:
    """How the refresh went; `told`: with what tools answered, which is shown and never kept."""
    run, kept, made = ended.run, ended.kept, ended.made
    steps = tx.reflect.steps(run.bank_id, run.run_id)
    retraction: JsonObject | None = None
    if kept.gone:
        retraction = {
            "fact_ids": [str(one.id) for one in kept.gone],
            "fact_texts": [],
            "applied": made.retraction is not None and made.failure is None,
            "deferred_reason": kept.deferred,
        }
    return {
        "recorded_at": _moment(run.created_at),
        "effective_mode": kept.effective,
        "mode_fallback_reason": kept.fallback,
        "outcome": made.outcome,
        "tool_calls": [_tool(step, told=told) for step in steps if step.name.startswith("tool:")],
        "llm_calls": [_call(step) for step in steps if step.name == "model"],
        "delta_operations": edits_as_json(made.edits) if told else None,
        "retraction": retraction,
        "usage": _usage(steps),
        "duration_ms": sum(step.duration_ms or 0 for step in steps),
        "warnings": [*made.warnings],
    }


def _tool(step: Step, *, told: bool) -> JsonObject:
    said = step.input.get("said")
    asked = said if isinstance(said, dict) else {}
    result = (step.output or {}).get("result")
    lists = [value for value in result.values() if isinstance(value, list)] if isinstance(result, dict) else []
    return {
        "tool": step.input.get("name"),
        "reason": asked.get("reason"),
        "input": asked,
        "output": result if told and isinstance(result, dict) else None,
        "result_count": sum(len(listed) for listed in lists),
        "duration_ms": step.duration_ms or 0,
        "iteration": step.turn,
    }


def _call(step: Step) -> JsonObject:
    return {"scope": step.input.get("task"), "duration_ms": step.duration_ms or 0}


def _usage(steps: Sequence[Step]) -> JsonObject:
    totals: Counter[str] = Counter()
    for step in steps:
        tokens = (step.output or {}).get("tokens")
        if isinstance(tokens, dict):
            totals.update({name: count for name, count in tokens.items() if isinstance(count, int)})
    told: JsonObject = {shown: totals[name] for name, shown in _TOKENS.items()}
    return {**told, "total_tokens": totals["input"] + totals["output"], "thoughts_tokens": 0}


def _scope(model: MentalModel) -> JsonObject:
    trigger = trigger_to_json(model.trigger)
    groups, types, match = trigger["tag_groups"], trigger["fact_types"], trigger["tags_match"]
    default = "all_strict" if model.tags else "any"
    return {
        "tags": None if groups is not None else [*model.tags],
        "tags_match": str(match or default),
        "tag_groups": groups if isinstance(groups, list) else None,
        "fact_types": types if isinstance(types, list) else None,
        "exclude_mental_models": model.trigger.exclude_mental_models,
        "exclude_mental_model_ids": [model.id, *(model.trigger.exclude_mental_model_ids or ())],
    }


def _pages(said: Said, found: Sequence[FoundPiece]) -> list[str]:
    pieces = used(said.get(DOCUMENT_TASK, {}), found) if RETRACT_TASK not in said else found
    return sorted({piece.id for piece in pieces if piece.kind == "mental_model"})


def _counted(found: Sequence[FoundPiece]) -> JsonObject:
    return {**Counter(piece.kind for piece in found)}


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
