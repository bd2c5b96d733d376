"""Decides whether an answer may still be given when memory was deleted while its run went on.

Called by the step `finish`, in the transaction that ends the run; calls the store ports.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_aws.access import page_sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.evidence import MemoriesQuery
from hindsight_aws.ports.reflect import Step
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.conversation.calls import EXPAND, normalised
from hindsight_aws.reflect.conversation.evidence import of_kind
from hindsight_aws.reflect.conversation.transcript import TOOL_STEP, tell
from hindsight_aws.reflect.request import ReflectJob
from hindsight_aws.reflect.tools.lookup import documents_of, memory_sight


def is_all_there(tx: Transaction, bank_id: BankId, job: ReflectJob, steps: Sequence[Step]) -> bool:
    """Whether all that the run read is in the bank as it was read, and in sight of the caller.

    False when in doubt: where documents were opened, nothing tells which of their lines an answer rests on.
    """
    if any(step.name.startswith(TOOL_STEP) and normalised(str(step.input.get("name"))) == EXPAND for step in steps):
        return False
    evidence = tell(steps).evidence
    read, pages = of_kind(evidence, "memory", "observation"), of_kind(evidence, "mental_model")
    units = list(dict.fromkeys(piece.unit_id for piece in read))
    query = MemoriesQuery(bank_id, units, memory_sight(job), documents_of(job), with_evidence=False)
    memories = {str(found.id): found.text for found in tx.evidence.memories(query)} if units else {}
    sight = page_sight(job.principal, job.request.tags, job.request.fact_types)
    wanted = list(dict.fromkeys(piece.id for piece in pages))
    found = tx.mental_models.read(bank_id, wanted, sight, job.request.excluded_pages) if wanted else []
    contents = {page.id: page.content for page in found}
    return all(memories.get(piece.id) == piece.text for piece in read) and all(
        piece.text in contents.get(piece.id, "") for piece in pages
    )
