"""What the run of a refresh is to do, from the rows as they are when it begins.  Called by keeper.py."""

from __future__ import annotations

from uuid import UUID

from hindsight_aws.access import page_sight
from hindsight_aws.errors import NotFound
from hindsight_aws.mental_models.refresh.decide import Decision, Sources, decide, question_of
from hindsight_aws.mental_models.refresh.document import PageDocument, from_json, split, to_json
from hindsight_aws.mental_models.refresh.kept import Kept, kept_to_json
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.trigger import own_filter
from hindsight_aws.ports.mental_models import ScopeReading, Vanished
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.page_keeper import DataBlock, PageBasis
from hindsight_aws.ports.reflect import Run
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.loop.state import DOCUMENT_TASK, EDITS_TASK, RETRACT_TASK, STRUCTURE_TASK
from hindsight_aws.reflect.request import Budget, ReflectJob, ReflectRequest, job_to_json


def basis_of(tx: Transaction, run: Run) -> PageBasis:
    """What the refresh is to do.  Raises: NotFound when its page or its bank is gone."""
    page_id = UUID(str(run.request["page_id"]))
    model, bank = tx.mental_models.find(run.bank_id, page_id), tx.banks.by_id(run.bank_id)
    if model is None or bank is None:
        raise NotFound("the mental model of this refresh is gone")
    reading = tx.mental_models.reading(run.bank_id, page_id)
    gone = tx.mental_models.vanished(run.bank_id, page_id)
    sources = Sources(
        reading,
        cited=len(tx.mental_models.citations(run.bank_id, page_id)),
        gone=len(gone),
        is_consolidating=bool(gone) and tx.mental_models.awaits_consolidation(run.bank_id),
        has_siblings=_has_siblings(tx, run, model),
    )
    decision = decide(model, sources, wants_full=run.request.get("full") is True)
    return _basis(run, bank, model, reading, gone, decision)


def _basis(
    run: Run, bank: Bank, model: MentalModel, reading: ScopeReading, gone: list[Vanished], decision: Decision
) -> PageBasis:
    document = _document(model)
    job = ReflectJob(_reader(run, model), bank.external_id, _request(model, reading, decision))
    kept = _kept(run, model, reading, gone, decision, document)
    shown = DataBlock("document", _shown(document))
    blocks = {
        DOCUMENT_TASK: (DataBlock("length", {"tokens": model.max_tokens}),),
        EDITS_TASK: (shown,),
        RETRACT_TASK: (shown, DataBlock("retracted", [{"id": str(one.id), "text": one.text} for one in gone])),
    }
    structured = (STRUCTURE_TASK,) if model.trigger.response_schema is not None and decision.endings else ()
    return PageBasis(
        request=job_to_json(job),
        endings=decision.endings,
        searches=decision.searches,
        after=structured,
        blocks={task: blocks[task] for task in decision.endings},
        kept=kept_to_json(kept),
    )


def _request(model: MentalModel, reading: ScopeReading, decision: Decision) -> ReflectRequest:
    trigger = model.trigger
    return ReflectRequest(
        query=question_of(model),
        budget=Budget(trigger.budget or Budget.MID),
        max_tokens=model.max_tokens,
        tags=own_filter(model.tags, trigger),
        fact_types=None if trigger.fact_types is None else frozenset(trigger.fact_types),
        observations_max_tokens=trigger.reflect_search_observations_max_tokens,
        observations_with_entities=trigger.reflect_search_observations_include_entities,
        recall_tokens=trigger.recall_max_tokens,
        chunk_tokens=trigger.recall_chunks_max_tokens,
        with_chunks=trigger.include_chunks,
        with_pages=not trigger.exclude_mental_models,
        excluded_pages=_excluded(model),
        updated_after=decision.after,
        updated_before=reading.cutoff,
        response_schema=_schema(model),
    )


def _kept(
    run: Run,
    model: MentalModel,
    reading: ScopeReading,
    gone: list[Vanished],
    decision: Decision,
    document: PageDocument,
) -> Kept:
    operation_id = run.request.get("operation_id")
    return Kept(
        page_id=model.page_id,
        operation_id=None if operation_id is None else UUID(str(operation_id)),
        fence=int(str(run.request["fence"])),
        requested=decision.requested,
        effective=decision.effective,
        fallback=decision.fallback,
        version=model.version,
        query=model.source_query,
        content=model.content,
        document=document,
        gone=tuple(gone),
        retracts=RETRACT_TASK in decision.endings,
        deferred=decision.deferred,
        is_emptied=decision.is_emptied,
        wants_structure=model.trigger.response_schema is not None,
        keeps_trace=model.trigger.keep_trace,
        after=decision.after,
        cutoff=reading.cutoff,
        newest=reading.newest,
        snapshot=reading.snapshot,
    )


def _has_siblings(tx: Transaction, run: Run, model: MentalModel) -> bool:
    seen = page_sight(_reader(run, model), own_filter(model.tags, model.trigger), model.trigger.fact_types)
    return tx.mental_models.exist(run.bank_id, seen, _excluded(model))


def _reader(run: Run, model: MentalModel) -> Principal:
    return model.creator.reader(TenantId(UUID(str(run.request["tenant_id"]))))


def _excluded(model: MentalModel) -> frozenset[str]:
    """A page is never read for itself."""
    return frozenset({model.id, *(model.trigger.exclude_mental_model_ids or ())})


def _document(model: MentalModel) -> PageDocument:
    if model.structure is None:
        return split(model.content)
    try:
        return from_json(model.structure)
    except ValueError:
        return split(model.content)


def _shown(document: PageDocument) -> JsonValue:
    return {"sections": to_json(document)["sections"]}


def _schema(model: MentalModel) -> JsonObject | None:
    schema = model.trigger.response_schema
    return None if schema is None else {**schema}  # type: ignore[dict-item]  # it came as JSON and was checked then
