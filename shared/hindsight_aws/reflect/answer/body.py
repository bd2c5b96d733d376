"""Makes the answer of a run: what the model concluded, and what it rests on read again from the store.

Called by the step `finish`, in the transaction that ends the run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.access import is_limited, page_sight
from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.ports.evidence import FoundMemory, MemoriesQuery
from hindsight_aws.ports.mental_models import FoundPage
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.reflect import Step
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.answer.citations import Conclusion, conclude, resting_on
from hindsight_aws.reflect.answer.trace import trace, usage
from hindsight_aws.reflect.conversation.evidence import Evidence, of_kind
from hindsight_aws.reflect.conversation.transcript import tell
from hindsight_aws.reflect.request import ReflectJob
from hindsight_aws.reflect.tools.lookup import documents_of, memory_sight
from hindsight_aws.reflect.tools.mental_models import SNIPPET_CHARACTERS


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended: what was said with `done`, None when nothing is known, and the evidence it could be made from.

    `directives` are those the answer was to follow, as `{id, name, content}`.
    """

    said: JsonObject | None
    shown: Sequence[Evidence]
    steps: Sequence[Step]
    directives: Sequence[JsonObject] = ()


@dataclass(frozen=True, slots=True)
class Basis:
    """What an answer rests on as it is now, by id, and in the order found, without what is gone or out of sight.

    `gone` are the ids of what was looked for and is not there, or not for this caller.
    """

    memories: Mapping[str, FoundMemory]
    pages: Mapping[str, FoundPage]
    evidence: Sequence[Evidence]
    gone: frozenset[str]

    def __contains__(self, piece: Evidence) -> bool:
        return piece in self.evidence


def answer_document(tx: Transaction, bank_id: BankId, run_id: RunId, job: ReflectJob, ended: RunEnd) -> JsonObject:
    """The body of the answer, in the words of the API.

    Guarantees: names nothing that the model was not shown, nor that the caller may not see now.
    """
    request, told = job.request, tell(ended.steps)
    rules = [str(rule.get("content", "")) for rule in ended.directives]
    asked = (job.bank, request.query, request.context or "", *rules)
    conclusion = conclude(ended.said, ended.shown, told, asked)
    traced = told.evidence if request.shows_tool_calls and request.shows_tool_output else ()
    basis = _basis(tx, bank_id, job, resting_on(conclusion, ended.shown), traced)
    calls = tx.usage.of_run(run_id)
    cited = [piece for piece in conclusion.cited if piece in basis]
    body: JsonObject = {
        "text": conclusion.text,
        "based_on": _based_on(job, basis, cited, ended.directives) if request.shows_facts else None,
        "structured_output": None,
        "structured_output_error": None,
        "usage": usage(calls),
        "trace": trace(ended.steps, calls, told.ids(), basis.gone, with_output=request.shows_tool_output)
        if request.shows_tool_calls
        else None,
        "citation_status": "cited" if cited else "uncited" if basis.evidence else "none",
        "citations_dropped": conclusion.unknown + len(conclusion.cited) - len(cited),
        "support": _support(conclusion, cited),
    }
    return {**body, "withheld": _withheld(basis)} if is_limited(job.principal) else body


def _basis(
    tx: Transaction, bank_id: BankId, job: ReflectJob, resting: Sequence[Evidence], traced: Sequence[Evidence]
) -> Basis:
    """Memories and what lies beneath them in one statement, pages in another; those that are only traced too."""
    request = job.request
    units = dict.fromkeys(piece.unit_id for piece in of_kind([*resting, *traced], "memory", "observation"))
    query = MemoriesQuery(
        bank_id,
        list(units),
        memory_sight(job),
        documents_of(job),
        with_evidence=request.shows_evidence or is_limited(job.principal),
    )
    memories = {str(found.id): found for found in tx.evidence.memories(query)}
    wanted = list(dict.fromkeys(piece.id for piece in of_kind([*resting, *traced], "mental_model")))
    sight = page_sight(job.principal, request.tags, request.fact_types)
    found = tx.mental_models.read(bank_id, wanted, sight, request.excluded_pages) if wanted else []
    pages = {page.id: page for page in found}
    kept = [piece for piece in resting if piece.id in (pages if piece.kind == "mental_model" else memories)]
    return Basis(memories, pages, kept, frozenset([*map(str, units), *wanted]) - memories.keys() - pages.keys())


def _based_on(
    job: ReflectJob, basis: Basis, cited: Collection[Evidence], directives: Sequence[JsonObject]
) -> JsonObject:
    pages, memories = of_kind(basis.evidence, "mental_model"), of_kind(basis.evidence, "memory", "observation")
    return {
        "memories": [_memory(job, basis.memories[piece.id]) | {"cited": piece in cited} for piece in memories],
        "mental_models": [_page(basis.pages[piece.id], piece) | {"cited": piece in cited} for piece in pages],
        "directives": [*directives],
    }


def _memory(job: ReflectJob, row: FoundMemory) -> JsonObject:
    chunk = None
    if row.chunk_index is not None and row.document_id is not None:
        chunk = chunk_id(job.bank, row.document_id, row.chunk_index)
    told: JsonObject = {
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
    }
    if not (job.request.shows_evidence and row.fact_type == "observation" and memory_sight(job).sees_beneath):
        return told
    quotes: list[JsonValue] = [
        {"fact_id": str(fact.id), "quote": fact.quote, "origin": fact.origin} for fact in row.facts
    ]
    return {**told, "evidence": quotes}


def _page(page: FoundPage, piece: Evidence) -> JsonObject:
    """A page as far as the model was shown it."""
    text = page.content if piece.is_whole else page.content[:SNIPPET_CHARACTERS]
    return {"id": page.id, "text": text, "context": page.name}


def _support(conclusion: Conclusion, cited: Collection[Evidence]) -> list[JsonValue]:
    told: list[JsonValue] = []
    for one in conclusion.support:
        ids: list[JsonValue] = [piece.id for piece in one.by if piece in cited]
        if ids:
            told.append({"sentence": one.sentence, "ids": ids})
    return told


def _withheld(basis: Basis) -> int:
    """How many facts lie beneath the answer that this caller may not see."""
    resting = of_kind(basis.evidence, "memory", "observation")
    return len({hidden for piece in resting for hidden in basis.memories[piece.id].hidden})
