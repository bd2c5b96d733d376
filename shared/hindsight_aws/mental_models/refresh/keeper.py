"""Keeps the pages that runs of kind `refresh` write: what such a run asks of `ports/page_keeper.py`.

Called by reflect's steps; a page changes whole, in the transaction that ends its run, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from hindsight_aws.errors import LimitReached, VectorsReplaced
from hindsight_aws.mental_models.ports import PagePorts
from hindsight_aws.mental_models.refresh.basis import basis_of
from hindsight_aws.mental_models.refresh.candidate import candidate_of, retracted
from hindsight_aws.mental_models.refresh.cited import citations_of
from hindsight_aws.mental_models.refresh.document import to_json
from hindsight_aws.mental_models.refresh.edits import REMOVALS
from hindsight_aws.mental_models.refresh.end import RefreshEnd
from hindsight_aws.mental_models.refresh.failure import failure_of
from hindsight_aws.mental_models.refresh.kept import kept_from_json
from hindsight_aws.mental_models.refresh.reply import check_document, check_edits
from hindsight_aws.mental_models.refresh.report import answer_of, details_of, message_of, response_of
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.mental_model import Citation, PageChange
from hindsight_aws.ports.model_gateway import JsonObject, ModelUsage
from hindsight_aws.ports.page_keeper import DataBlock, FoundPiece, PageBasis
from hindsight_aws.ports.reflect import Run
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.loop.state import DOCUMENT_TASK, EDITS_TASK, RETRACT_TASK, STRUCTURE_TASK
from hindsight_aws.usage.ledger import ledger_entries

SUPERSEDED: JsonObject = {"outcome": "superseded"}
"""What is told of a refresh that was cancelled, taken over or overtaken: nothing of it was written."""
_REPLACING_S: Final = 60.0
"""After how long a refresh comes again that met vectors being replaced."""
_Said = Mapping[str, JsonObject]


class PageKeeper:
    """The pages of the product."""

    def __init__(self, ports: PagePorts) -> None:
        self._ports = ports

    def basis(self, tx: Transaction, run: Run) -> PageBasis:
        return basis_of(tx, run)

    def check(self, kept: JsonObject, task: str, reply: JsonObject, said: _Said) -> str | None:
        settled = kept_from_json(kept)
        if task == DOCUMENT_TASK:
            return check_document(reply)
        if task == RETRACT_TASK:
            return check_edits(reply, settled.document, REMOVALS)
        if task == EDITS_TASK:
            before = retracted(settled, said)
            return check_edits(reply, settled.document if before is None else before.document)
        return None

    def blocks(self, kept: JsonObject, task: str, said: _Said) -> tuple[DataBlock, ...]:
        settled = kept_from_json(kept)
        if task == EDITS_TASK and (before := retracted(settled, said)) is not None:
            return (DataBlock("document", {"sections": to_json(before.document)["sections"]}),)
        if task == STRUCTURE_TASK:
            made = candidate_of(settled, {**said, STRUCTURE_TASK: {}}, 0)
            return (DataBlock("answer", {"text": made.content}),)
        return ()

    def compose(self, run: Run, kept: JsonObject, said: _Said) -> JsonObject:
        settled = kept_from_json(kept)
        made = candidate_of(settled, said, 0)
        if settled.operation_id is None or not made.is_written or not made.content:
            return {}
        tenant_id = TenantId(UUID(str(run.request["tenant_id"])))
        with self._ports.store.transaction(tenant_id) as tx:
            model = tx.mental_models.find(run.bank_id, settled.page_id)
            bank = tx.banks.by_id(run.bank_id)
        embedder = self._ports.embedder.of(None if bank is None else bank.embedding_model)
        if embedder is None:
            return {}
        usages: list[ModelUsage] = []
        name = "" if model is None else model.name
        try:
            (vector,) = embedder.embed([f"{name}\n\n{made.content}"], "document", usages.append)
        finally:
            with self._ports.store.transaction(tenant_id) as tx:
                tx.usage.record(ledger_entries(usages, run.subject, run.bank_id, run_id=run.run_id))
        return {} if vector.is_zero else {"vector": [*vector.values], "model": embedder.model}

    def commit(
        self,
        tx: Transaction,
        run: Run,
        kept: JsonObject,
        said: _Said,
        found: list[FoundPiece],
        composed: JsonObject,
    ) -> JsonObject:
        settled = kept_from_json(kept)
        lease = None
        if settled.operation_id is not None:
            lease = tx.refreshes.lock(run.bank_id, OperationId(settled.operation_id), settled.fence)
        model = tx.mental_models.find(run.bank_id, settled.page_id)
        if model is None or (lease is None and settled.operation_id is not None):
            return SUPERSEDED
        made = candidate_of(settled, said, model.max_tokens)
        ended = RefreshEnd(run, settled, said, found, made)
        citations = citations_of(tx, ended)
        if lease is None:
            return answer_of(tx, ended, model, citations)
        locked = tx.mental_models.lock(run.bank_id, settled.page_id)
        if locked is None or locked.version != settled.version:
            tx.refreshes.put_off(run.bank_id, lease.operation_id, 0.0, "the page was changed meanwhile", counts=False)
            return SUPERSEDED
        if made.is_written and composed and (wait_s := _replaced_for(tx, run, composed)) is not None:
            tx.refreshes.put_off(run.bank_id, lease.operation_id, wait_s, "the vectors were replaced", counts=False)
            return SUPERSEDED
        change = _change(ended, response_of(tx, ended), citations, composed)
        _write(tx, ended, change, keeps_past=self._ports.settings.hindsight_api_enable_mental_model_history)
        details = details_of(made)
        if made.failure is None:
            tx.refreshes.complete(run.bank_id, lease.operation_id, details)
        else:
            tx.refreshes.fail(run.bank_id, lease.operation_id, "RefreshFailed", message_of(made), details)
        return details

    def failed(self, tx: Transaction, run: Run, error: str, message: str) -> None:
        operation_id = run.request.get("operation_id")
        if operation_id is None:
            return
        fence = int(str(run.request["fence"]))
        lease = tx.refreshes.lock(run.bank_id, OperationId(UUID(str(operation_id))), fence)
        if lease is None:
            return
        if error == LimitReached.__name__:
            tx.refreshes.put_off(run.bank_id, lease.operation_id, 0.0, message, counts=False)
            return
        failure = failure_of(run, error, message, lease.attempts)
        if failure.again_in is not None:
            tx.refreshes.put_off(run.bank_id, lease.operation_id, failure.again_in, message, counts=True)
            return
        if tx.mental_models.lock(run.bank_id, lease.page_id) is not None:
            tx.mental_models.fail(
                run.bank_id, lease.page_id, failure.outcome, failure.reason, message, pauses=failure.pauses
            )
        tx.refreshes.fail(run.bank_id, lease.operation_id, error, message, failure.details)


def _replaced_for(tx: Transaction, run: Run, composed: JsonObject) -> float | None:
    """In how many seconds the page's vector can be made anew; None when it is the bank's model's until the commit.

    A page that was written without one would be found by its words alone, and nothing would embed it again.
    """
    try:
        tx.vectors.lock_shared(run.bank_id, str(composed["model"]))
    except VectorsReplaced as replaced:
        return 0.0 if replaced.until is None else _REPLACING_S
    return None


def _write(tx: Transaction, ended: RefreshEnd, change: PageChange, *, keeps_past: bool) -> None:
    """What the refresh came to, in the model's row and its past."""
    run, kept, made = ended.run, ended.kept, ended.made
    if made.failure is not None:
        tx.mental_models.fail(run.bank_id, kept.page_id, made.outcome, made.failure, message_of(made), pauses=True)
    elif made.is_written:
        tx.mental_models.write(run.bank_id, kept.page_id, change, keeps_past=keeps_past)
    else:
        tx.mental_models.stamp(run.bank_id, kept.page_id, kept.newest, kept.snapshot, is_full=change.is_full)
        if made.retraction is not None:
            tx.mental_models.prune(run.bank_id, kept.page_id)


def _change(ended: RefreshEnd, told: JsonObject, citations: list[Citation], composed: JsonObject) -> PageChange:
    kept, made = ended.kept, ended.made
    vector, embedder = composed.get("vector"), composed.get("model")
    return PageChange(
        content=made.content,
        structure=to_json(made.document),
        vector=tuple(one for one in vector if isinstance(one, float)) if isinstance(vector, list) else None,
        embedding_model=None if embedder is None else str(embedder),
        response=told,
        query=kept.query,
        is_full=kept.effective == "full",
        seen=kept.newest,
        snapshot=kept.snapshot,
        citations=tuple(citations),
    )
