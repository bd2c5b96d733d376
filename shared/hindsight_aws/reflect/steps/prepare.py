"""The step `prepare`: what the run may do is settled once, and its question is embedded.

Called by jobs/reflect.py; calls begin and question.  A step may be repeated or killed at any point.
"""

from __future__ import annotations

from dataclasses import replace

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.reflect.ports import ReflectPorts
from hindsight_aws.reflect.steps.begin import first_state
from hindsight_aws.reflect.steps.payload import payload
from hindsight_aws.reflect.steps.question import embed_question, is_to_be_embedded
from hindsight_aws.reflect.steps.rows import RunRef, run_of


def prepare(ports: ReflectPorts, ref: RunRef) -> JsonObject:
    """Settles what the run may do, once, and embeds its question; returns the workflow's payload.

    Raises: NotFound when there is no such run, and what an embedder raises.
    """
    with ports.store.transaction(ref.tenant_id) as tx:
        run = run_of(tx, ref)
        if not run.state:
            run = replace(run, state=first_state(ports, tx, run))
            tx.reflect.begin(ref.bank_id, ref.run_id, run.state)
        bank = tx.banks.by_id(ref.bank_id)
    if bank is not None and is_to_be_embedded(run):
        embed_question(ports, ref, run, bank)
    return payload(ref, run.turn, "plan")
