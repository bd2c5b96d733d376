"""Asks the models that recall needs: the query's vector, and a rerank model's order.  Called by recall/recall.py.

No transaction is open meanwhile; what a call cost is for the ledger, also when nobody waited for its end.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from typing import TypeVar

from hindsight_aws.errors import ModelError, ModelThrottled
from hindsight_aws.model.recalled import RecalledUnit
from hindsight_aws.ports.model_gateway import Embedder, ModelUsage, Reranker, TokenUsage, UsageSink
from hindsight_aws.ports.store import Store
from hindsight_aws.recall.deadline import Deadline, OutOfTime
from hindsight_aws.recall.task import Task
from hindsight_aws.usage.ledger import ledger_entries

T = TypeVar("T")


def embedded(store: Store, embedder: Embedder, task: Task, usage: list[ModelUsage]) -> array[float] | None:
    """The query's vector; None when it has no direction.

    Raises: OutOfTime when it did not come in time; what the model raises, its calls being in the ledger then.
    """
    began = time.perf_counter()
    try:
        with task.trace.phase("embed_query"):
            embedding = _in_time(lambda sink: embedder.embed([task.text], "query", sink)[0], usage, task.deadline)
    except OutOfTime as late:
        if late.began:
            usage.append(_abandoned("embed_query", embedder.model, began))
        raise
    except (ModelError, ModelThrottled):
        with store.transaction(task.principal.tenant_id) as tx:
            tx.usage.record(ledger_entries(usage, task.principal.subject, task.bank.bank_id))
        raise
    return None if embedding.is_zero else embedding.values


def reranked(
    reranker: Reranker, task: Task, units: Sequence[RecalledUnit], usage: list[ModelUsage]
) -> Sequence[tuple[int, float]] | None:
    """The rerank model's scores by index among the units, or None when it failed or did not answer in time."""
    texts = [_rerank_text(unit) for unit in units]
    if not texts:
        return None
    began = time.perf_counter()
    try:
        with task.trace.phase("rerank"):
            return _in_time(lambda sink: reranker.rerank(task.text, texts, len(texts), sink), usage, task.deadline)
    except OutOfTime as late:
        if task.deadline is not None:
            task.deadline.give_up("rerank")
        if late.began:
            usage.append(_abandoned("rerank", task.settings.hindsight_api_reranker_model or "", began))
    except (ModelError, ModelThrottled):
        task.trace.degraded.append("rerank")
    return None


def _in_time(call: Callable[[UsageSink], T], usage: list[ModelUsage], deadline: Deadline | None) -> T:
    if deadline is None:
        return call(usage.append)
    # A list of its own: what comes after nobody waits any more must not reach a ledger that is being written.
    own: list[ModelUsage] = []
    try:
        return deadline.in_time(lambda: call(own.append))
    finally:
        usage += own


def _abandoned(task: str, model: str, began: float) -> ModelUsage:
    """The line of a call that nobody waited for; what it cost is not known here."""
    return ModelUsage(task, None, model, "abandoned", TokenUsage(), None, (time.perf_counter() - began) * 1000)


def _rerank_text(unit: RecalledUnit) -> str:
    dated = f"[Date: {unit.occurred_start:%B %d, %Y (%Y-%m-%d)}] " if unit.occurred_start else ""
    return f"{dated}{unit.context}: {unit.text}" if unit.context else f"{dated}{unit.text}"
