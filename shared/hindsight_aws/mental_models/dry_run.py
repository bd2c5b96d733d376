"""Runs a refresh that writes nothing, and waits for what it would have written.  Called by the API."""

from __future__ import annotations

import hashlib
import json

from hindsight_aws.access import require, require_page
from hindsight_aws.errors import NotFound, WorkRaced
from hindsight_aws.mental_models.manage import look_up, require_model
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.mental_models.refresh.decide import question_of
from hindsight_aws.mental_models.start import dry_request, run_key, write_run
from hindsight_aws.model.ids import BankId, RunId
from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.trigger import trigger_to_json
from hindsight_aws.ports.reflect import Run
from hindsight_aws.reflect import runs
from hindsight_aws.reflect.ports import ReflectDoor
from hindsight_aws.usage.allowance import parked


def dry_run(door: PagesDoor, principal: Principal, bank: str, model_id: str) -> Run:
    """The run of the preview, started, or the one that an equal request may share.

    A preview shows what the page would be written from: to keys that may read, and see all that its creator could.

    Raises: AccessDenied, NotFound, WorkRaced, LimitReached, WorkDeferred when it cannot be started now.
    """
    require(principal, Permission.WRITE)
    require(principal, Permission.READ)
    require_model(door)
    settings = door.settings
    with door.store.transaction(principal.tenant_id) as tx:
        found, view = look_up(tx, principal, bank, model_id, NotFound(f"Mental model {model_id} not found"))
        require_page(principal, view.model.creator.forced_tags)
        key = f"dry:{view.model.page_id}:{_as_it_is(view.model)}:{principal.subject}"
        within, seconds = settings.hindsight_reflect_join_seconds, settings.hindsight_api_reflect_wall_timeout
        joined = tx.reflect.joinable(found.bank_id, run_key(key), within)
        if joined is not None:
            return joined
        if (limit := parked(tx, door.clock.now())) is not None:
            raise limit
        request = dry_request(principal.tenant_id, view.model.page_id)
        run_id = write_run(tx, found.bank_id, principal.subject, key, request, seconds)
        if run_id is None:
            return _other(tx.reflect.joinable(found.bank_id, run_key(key), within))
    door.workflows.start_reflect(principal.tenant_id, found.bank_id, run_id)
    return _read(door, principal, found.bank_id, run_id)


def wait(door: PagesDoor, principal: Principal, run: Run, seconds: float) -> Run:
    """The run as it is when it has ended, or after that many seconds."""
    return runs.wait(ReflectDoor(door.store, door.workflows, door.settings, door.clock), principal, run, seconds)


def _as_it_is(model: MentalModel) -> str:
    """Equal for previews of the same text under the same question, tags and trigger."""
    asked = [model.version, question_of(model), [*model.tags], model.max_tokens, trigger_to_json(model.trigger)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _other(run: Run | None) -> Run:
    """The run that an equal request wrote at the same time.  Raises: WorkRaced where it has ended already."""
    if run is None:
        raise WorkRaced("an equal preview began and ended at the same time")
    return run


def _read(door: PagesDoor, principal: Principal, bank_id: BankId, run_id: RunId) -> Run:
    with door.store.transaction(principal.tenant_id) as tx:
        run = tx.reflect.find(bank_id, run_id)
    if run is None:
        raise AssertionError("a run that was just written is not there")
    return run
