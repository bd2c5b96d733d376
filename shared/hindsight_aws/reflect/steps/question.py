"""The vector of a run's question, made once for all the searches that ask the question itself, and kept in its row.

Called by prepare.py, while no transaction is open, and by run_tool.py; calls Searches and the store port.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode

from hindsight_aws.model.bank import Bank
from hindsight_aws.ports.model_gateway import Embedding, JsonObject, QueryVector
from hindsight_aws.ports.reflect import Run
from hindsight_aws.reflect.conversation import calls
from hindsight_aws.reflect.loop.codec import state_from_json
from hindsight_aws.reflect.loop.state import RunLimits
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.steps.begin import QUESTION, job_of
from hindsight_aws.reflect.steps.rows import RunRef, plan_of
from hindsight_aws.reflect.tools.lookup import Question


def is_to_be_embedded(run: Run) -> bool:
    """Whether the first round, which no model decides on, asks several layers the question."""
    if run.status != "running" or run.turn or QUESTION in run.state:
        return False
    limits = state_from_json(plan_of(run)).limits
    looks = limits.has_memories and bool(limits.first) and not limits.looks_one_by_one
    return looks and _asked(limits) is not None


def embed_question(ports: ReflectPorts, ref: RunRef, run: Run, bank: Bank) -> None:
    """Embeds the question and keeps its vector; nothing is kept for a bank whose vectors are of another model.

    Raises: what an embedder raises; the call is in the ledger either way.
    """
    text = _asked(state_from_json(plan_of(run)).limits) or ""
    vector = ports.searches.embed(job_of(run).principal, bank, text)
    if vector is None:
        return
    document: JsonObject = {"text": text, "model": vector.model, "is_zero": vector.embedding.is_zero}
    document["values"] = b64encode(vector.embedding.values.tobytes()).decode()
    with ports.store.transaction(ref.tenant_id) as tx:
        tx.reflect.keep_question(ref.bank_id, ref.run_id, document)


def question_of(state: JsonObject) -> Question | None:
    """The question with its vector, of a run whose row has one."""
    kept = state.get(QUESTION)
    if not isinstance(kept, dict):
        return None
    values = array("f")
    values.frombytes(b64decode(str(kept["values"])))
    vector = QueryVector(str(kept["model"]), Embedding(values, is_zero=kept["is_zero"] is True))
    return Question(str(kept["text"]), vector)


def _asked(limits: RunLimits) -> str | None:
    """The question as a tool takes it from what it is told; None where no tool would take it."""
    try:
        return calls.query({"query": limits.question})
    except calls.WrongArgument:
        return None
