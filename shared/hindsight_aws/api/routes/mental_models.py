"""Mental models: pages that keep the answer to a standing question; to look at, change, clear and delete."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws.access import page_sight, reads, sees_beneath_page, sight
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import BankInSight, CallDep
from hindsight_aws.api.query import Offset, PageSize, Tags
from hindsight_aws.api.schemas.mental_models import UpdateMentalModelBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.mental_models import manage
from hindsight_aws.mental_models.refresh.report import based_on, shown_response
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter, TagsMatch
from hindsight_aws.model.trigger import trigger_to_json
from hindsight_aws.ports.mental_models import CitedInSight, ModelView, Past

router = APIRouter(prefix="/v1/default/banks/{bank_id}/mental-models", route_class=ReportingRoute)

Detail = Literal["metadata", "content", "full"]
_MODES: Final = {"any": TagsMatch.ANY_STRICT, "all": TagsMatch.ALL_STRICT, "exact": TagsMatch.EXACT}
"""A model without tags is not found by tags."""


@router.get("")
async def list_mental_models(  # noqa: PLR0917  # each is a parameter of the query string
    call: CallDep,
    bank_id: str,
    tags: Tags = None,
    tags_match: Literal["any", "all", "exact"] = "any",
    detail: Detail = "metadata",
    limit: PageSize = 100,
    offset: Offset = 0,
    exclude_knowledge_pages: bool = False,
) -> Response:
    """Models in the caller's sight, those refreshed last first."""
    wanted, pages = TagFilter.flat(tags, _MODES[tags_match]), False if exclude_knowledge_pages else None
    with call.bank(bank_id, Permission.READ) as seen:
        among = page_sight(seen.principal)
        found = seen.tx.mental_models.page(seen.bank.bank_id, among, wanted, limit, offset, in_knowledge_base=pages)
    items = [_shown(seen.principal, bank_id, view, detail, None) for view in found.items]
    return json_answer({"items": items, "total": found.total, "limit": limit, "offset": offset})


@router.get("/{mental_model_id}")
async def get_mental_model(call: CallDep, bank_id: str, mental_model_id: str, detail: Detail = "full") -> Response:
    """One model, with what its text rests on."""
    with call.bank(bank_id, Permission.READ, manage.model_not_found(mental_model_id)) as seen:
        return _told(seen, bank_id, mental_model_id, detail)


@router.patch("/{mental_model_id}")
async def update_mental_model(
    call: CallDep, bank_id: str, mental_model_id: str, body: UpdateMentalModelBody
) -> Response:
    """Changes what is sent, the trigger field by field; refreshes nothing."""
    with call.bank(bank_id, Permission.WRITE, manage.model_not_found(mental_model_id)) as seen:
        _, view = manage.look_up(seen.tx, seen.principal, bank_id, mental_model_id)
        now = call.services.clock.now()
        manage.change(seen.tx, seen.principal, seen.bank.bank_id, view.model, body.as_changes(), now)
        return _told(seen, bank_id, mental_model_id, "full")


@router.delete("/{mental_model_id}")
async def delete_mental_model(call: CallDep, bank_id: str, mental_model_id: str) -> Response:
    """Deletes the model with its history; its open refreshes are cancelled."""
    with call.bank(bank_id, Permission.WRITE, manage.model_not_found(mental_model_id)) as seen:
        _, view = manage.look_up(seen.tx, seen.principal, bank_id, mental_model_id)
        manage.delete(seen.tx, seen.bank.bank_id, view.model.page_id)
    return json_answer({"status": "deleted"})


@router.post("/{mental_model_id}/clear")
async def clear_mental_model(call: CallDep, bank_id: str, mental_model_id: str) -> Response:
    """Takes the text away; the next refresh writes it anew."""
    keeps_past = call.services.settings.hindsight_api_enable_mental_model_history
    with call.bank(bank_id, Permission.WRITE, manage.model_not_found(mental_model_id)) as seen:
        _, view = manage.look_up(seen.tx, seen.principal, bank_id, mental_model_id)
        manage.clear(seen.tx, seen.bank.bank_id, view.model, keeps_past=keeps_past)
        return _told(seen, bank_id, mental_model_id, "full")


@router.get("/{mental_model_id}/history")
async def get_mental_model_history(call: CallDep, bank_id: str, mental_model_id: str) -> Response:
    """Former texts and failed refreshes, newest first; a text that rests on what was deleted is null."""
    with call.bank(bank_id, Permission.READ, manage.model_not_found(mental_model_id)) as seen:
        _, view = manage.look_up(seen.tx, seen.principal, bank_id, mental_model_id)
        at_most = call.services.settings.hindsight_api_mental_model_history_max_entries
        past = seen.tx.mental_models.history(seen.bank.bank_id, view.model.page_id, at_most)
    whole = sees_beneath_page(seen.principal, view.model.creator.forced_tags)
    return json_answer([_past(entry, sees_beneath=whole) for entry in past])


def _told(seen: BankInSight, bank_id: str, model_id: str, detail: Detail) -> Response:
    """The model as it is now, without its texts for who may not read.

    Raises: NotFound, also where a change has taken it out of the caller's sight.
    """
    _, view = manage.look_up(seen.tx, seen.principal, bank_id, model_id)
    if not reads(seen.principal):
        detail = "metadata"
    cited = None
    if detail == "full":
        cited = seen.tx.mental_models.citations_in(seen.bank.bank_id, view.model.page_id, sight(seen.principal))
    return json_answer(_shown(seen.principal, bank_id, view, detail, cited))


def _shown(
    principal: Principal, bank_id: str, view: ModelView, detail: Detail, cited: CitedInSight | None
) -> dict[str, object]:
    model, has_text = view.model, detail != "metadata"
    shown: dict[str, object] = {
        "id": model.id,
        "bank_id": bank_id,
        "name": model.name,
        "source_query": model.source_query if has_text else None,
        "content": ("" if view.is_withheld else model.content) if has_text else None,
        "tags": model.tags,
        "max_tokens": model.max_tokens if has_text else None,
        "trigger": trigger_to_json(model.trigger) if has_text else None,
        "last_refreshed_at": _moment(model.last_refreshed_at),
        "last_memory_seen_at": _moment(model.last_memory_seen_at),
        "last_refresh_failed_at": _moment(model.last_refresh_failed_at),
        "last_full_refreshed_at": _moment(model.last_full_refreshed_at),
        "created_at": _moment(model.created_at),
        "is_knowledge_page": view.is_page,
        "reflect_response": None,
        "is_stale": view.staleness is not None,
        "staleness_reason": view.staleness,
    }
    if detail == "full" and model.response is not None and not view.is_withheld:
        told = shown_response(model.response, sees_beneath=sees_beneath_page(principal, model.creator.forced_tags))
        rests_on = None if cited is None else based_on(cited.citations)
        withheld = None if cited is None else cited.withheld
        shown["reflect_response"] = {"text": model.content, **told, "based_on": rests_on, "withheld": withheld}
    return shown


def _past(entry: Past, *, sees_beneath: bool) -> dict[str, object]:
    changed_at = _moment(entry.changed_at)
    if entry.kind == "failure":
        told = {"outcome": entry.outcome, "failure_reason": entry.failure_reason, "error_message": entry.error_message}
        return {"kind": entry.kind, **told, "changed_at": changed_at}
    response = None if entry.response is None else shown_response(entry.response, sees_beneath=sees_beneath)
    return {
        "kind": entry.kind,
        "previous_content": entry.content,
        "previous_reflect_response": response,
        "changed_at": changed_at,
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
