"""What has mental models refreshed by themselves: consolidation, schedules, and the deletion of what they rest on.

Called by the consolidate job and the sweep; writes the rows of the refreshes, starts none.
"""

from __future__ import annotations

from uuid import UUID

from hindsight_aws.configuration.config import BankConfig, resolve
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.mental_models.schedule import due_now, mends_by_itself, next_look
from hindsight_aws.mental_models.submit import RefreshRequest, submit
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.ports.store import Transaction


def after_consolidation(door: PagesDoor, tenant_id: TenantId, bank_id: BankId, *, even_if_busy: bool = False) -> int:
    """Asks for refreshes of stale models that consolidation concerns; how many.

    Guarantees: what changed in any scope since it was last called is looked at once, when no more work is due in the
    bank; a worker that dies leaves the marks for the next one.
    """
    with door.store.transaction(tenant_id) as tx:
        changed = tx.mental_models.take_marks(bank_id, even_if_busy=even_if_busy)
        if not changed:
            return 0
        config, now = _config(door, tx, bank_id), door.clock.now()
        concerned = tx.mental_models.candidates(bank_id, changed)
        asked = [submit(tx, bank_id, model, config, RefreshRequest(None), now) for model in concerned]
    return sum(one is not None for one in asked)


def on_schedule(door: PagesDoor, tx: Transaction, bank_id: BankId, page_id: UUID) -> bool:
    """Asks for what a model's schedules say is due, and notes when to look again; whether a refresh was asked for."""
    model = tx.mental_models.find(bank_id, page_id)
    if model is None:
        return False
    now = door.clock.now()
    due = due_now(model, now, is_stale=tx.mental_models.staleness(bank_id, page_id) is not None)
    asked = None
    if due.refresh:
        asked = submit(tx, bank_id, model, _config(door, tx, bank_id), RefreshRequest(None, full=due.full), now)
    tx.mental_models.schedule(bank_id, page_id, next_look(model.trigger, page_id, now))
    return asked is not None


def after_deletion(door: PagesDoor, tx: Transaction, bank_id: BankId, page_id: UUID) -> bool:
    """Takes former texts away that rest on what is gone, and asks for the mending of the present one.

    Paused models and young ones are mended too: their text is withheld until then.  One whose mending fails is asked
    for ever more seldom, and at last by people alone.
    """
    model, asked = tx.mental_models.find(bank_id, page_id), None
    if model is not None and tx.mental_models.vanished(bank_id, page_id):
        now, failures = door.clock.now(), tx.mental_models.failures(bank_id, page_id)
        if mends_by_itself(failures, now, is_paused=model.is_paused):
            asked = submit(tx, bank_id, model, _config(door, tx, bank_id), RefreshRequest(None, mends=True), now)
    tx.mental_models.purge(bank_id, page_id)
    return asked is not None


def _config(door: PagesDoor, tx: Transaction, bank_id: BankId) -> BankConfig:
    bank = tx.banks.by_id(bank_id)
    return resolve(door.settings, {} if bank is None else bank.overrides)
