"""Makes the answer of a run: citations checked, aliases out of the prose, what it rests on read again from the store.

Called by the step `finish`; pure but for the rows it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import Cited, Step
from hindsight_aws.reflect.request import ReflectJob
from hindsight_aws.reflect.transcript import MODEL_STEP, TOOL_STEP, Evidence

NOTHING_KNOWN = "I do not know: nothing in this memory answers the question."
UNVERIFIED = "[unverified id]"

_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
_ALIASES = re.compile(r"[\[(]((?:[fo]\d+)(?:\s*[,;]\s*[fo]\d+)*)[\])]")
_ALIAS = re.compile(r"[fo]\d+")


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the model concluded: its words, the evidence it cited, and how many ids it cited that it was never shown."""

    text: str
    found: bool
    cited: tuple[Evidence, ...]
    unknown: int

    @property
    def status(self) -> str:
        """`cited`, `uncited` when evidence was there but none was named, `none` when there was nothing to cite."""
        return "cited" if self.cited else "uncited"


def conclude(said: JsonObject | None, shown: Sequence[Evidence], question: str) -> Conclusion:
    """The conclusion; without `said`, that nothing is known."""
    if said is None:
        return Conclusion(NOTHING_KNOWN, found=False, cited=(), unknown=0)
    by_name = {piece.alias: piece for piece in shown} | {str(piece.id): piece for piece in shown}
    ids = said.get("cited")
    named = [str(one) for one in ids] if isinstance(ids, list) else []
    cited = tuple(dict.fromkeys(by_name[one] for one in named if one in by_name))
    unknown = sum(1 for one in named if one not in by_name)
    text = _resolved(str(said["answer"]), {piece.alias: str(piece.id) for piece in shown})
    return Conclusion(_verified(text, shown, question), said.get("answer_found") is not False, cited, unknown)


def resting_on(conclusion: Conclusion, shown: Sequence[Evidence]) -> list[Evidence]:
    """What `based_on` lists: the cited facts, or all that were found when no fact was cited; observations likewise."""
    kept: list[Evidence] = []
    for is_observation in (False, True):
        of_kind = [piece for piece in shown if piece.is_observation is is_observation]
        kept += [piece for piece in conclusion.cited if piece.is_observation is is_observation] or of_kind
    return kept


def answer_document(
    job: ReflectJob,
    conclusion: Conclusion,
    shown: Sequence[Evidence],
    rows: Mapping[UnitId, Cited],
    steps: Sequence[Step],
) -> JsonObject:
    """The body of the answer, in the words of the API.  A memory that is gone by now is left out."""
    request = job.request
    cited = {piece.id for piece in conclusion.cited}
    resting = [rows[piece.id] for piece in resting_on(conclusion, shown) if piece.id in rows]
    memories: list[JsonValue] = [_memory(job.bank, row, cited=row.id in cited) for row in resting]
    body: JsonObject = {
        "text": conclusion.text,
        "based_on": {"memories": memories, "mental_models": [], "directives": []} if request.shows_facts else None,
        "structured_output": None,
        "structured_output_error": "structured output is not served yet" if request.wants_structure else None,
        "usage": _usage(steps),
        "trace": _trace(steps, with_output=request.shows_tool_output) if request.shows_tool_calls else None,
        "citation_status": conclusion.status if shown else "none",
        "citations_dropped": conclusion.unknown,
    }
    return body


def _memory(bank: str, row: Cited, *, cited: bool) -> JsonObject:
    has_chunk = row.chunk_index is not None and row.document_id is not None
    chunk = chunk_id(bank, str(row.document_id), row.chunk_index or 0) if has_chunk else None
    return {
        "id": str(row.id),
        "text": row.text,
        "type": row.fact_type,
        "context": row.context,
        "occurred_start": None if row.occurred_start is None else row.occurred_start.isoformat(),
        "occurred_end": None if row.occurred_end is None else row.occurred_end.isoformat(),
        "mentioned_at": None if row.mentioned_at is None else row.mentioned_at.isoformat(),
        "document_id": row.document_id,
        "chunk_id": chunk,
        "tags": list(row.tags),
        "metadata": dict[str, JsonValue](row.metadata),
        "attachments": None,
        "cited": cited,
    }


def _usage(steps: Iterable[Step]) -> JsonObject:
    counts = {"input": 0, "output": 0, "cached": 0}
    for step in steps:
        used = (step.output or {}).get("tokens") if step.name == MODEL_STEP else None
        for name in counts:
            value = used.get(name) if isinstance(used, dict) else None
            counts[name] += value if isinstance(value, int) else 0
    return {
        "input_tokens": counts["input"],
        "output_tokens": counts["output"],
        "total_tokens": counts["input"] + counts["output"],
        "cached_tokens": counts["cached"],
        "thoughts_tokens": 0,
    }


def _trace(steps: Sequence[Step], *, with_output: bool) -> JsonObject:
    tools: list[JsonValue] = [
        {
            "tool": step.input["name"],
            "input": step.input.get("said"),
            "output": step.output if with_output else None,
            "duration_ms": step.duration_ms or 0,
            "iteration": step.turn,
        }
        for step in steps
        if step.name.startswith(TOOL_STEP)
    ]
    models: list[JsonValue] = [
        {"scope": _scope(step, place), "duration_ms": step.duration_ms or 0}
        for place, step in enumerate((step for step in steps if step.name == MODEL_STEP), start=1)
    ]
    return {"tool_calls": tools, "llm_calls": models}


def _scope(step: Step, place: int) -> str:
    names = {"reflect_closing": "closing_done", "reflect_synthesis": "final"}
    return names.get(str(step.input.get("task")), f"agent_{place}")


def _resolved(text: str, ids: Mapping[str, str]) -> str:
    """Aliases that stand as citations, in brackets, become real ids; a bare f1 may be a word of the answer."""

    def real(match: re.Match[str]) -> str:
        return _ALIAS.sub(lambda alias: ids.get(alias[0], alias[0]), match[0])

    return _ALIASES.sub(real, text)


def _verified(text: str, shown: Sequence[Evidence], question: str) -> str:
    """The text with every id marked that stands in nothing the model was shown."""
    known = {str(piece.id) for piece in shown}
    for source in (question, *(part for piece in shown for part in (piece.text, *piece.sources))):
        known.update(found.lower() for found in _UUID.findall(source))
    return _UUID.sub(lambda found: found[0] if found[0].lower() in known else UNVERIFIED, text)
