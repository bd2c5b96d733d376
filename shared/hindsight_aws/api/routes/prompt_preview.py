"""What would be said to a model for a bank: messages block by block, each with the setting that it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from hindsight_aws.access import require_whole_bank
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.banks.prompt_preview import Previewed, PromptPreview, preview
from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.configuration.field import Kind
from hindsight_aws.configuration.fields import FIELDS
from hindsight_aws.model.principal import Permission
from hindsight_aws.ports.model_gateway import ModelCall

router = APIRouter(prefix="/v1/default/banks/{bank_id}/prompts", route_class=ReportingRoute)
_KIND = re.compile(r'<data kind="([a-z_]+)">')
_WORDED_BY: Mapping[str, Mapping[str, str]] = {
    "retain": {
        "mission": "retain_mission",
        "instructions": "retain_custom_instructions",
        "labels": "entity_labels",
    },
    "consolidation": {"mission": "observations_mission"},
    "reflect": {"mission": "reflect_mission", "disposition": "disposition_skepticism"},
}
"""Kind of block: the setting of the bank that it says."""
_RUN_BY: Mapping[str, tuple[str, ...]] = {
    "retain": (
        "retain_extraction_mode", "retain_chunk_size", "retain_structured_chunk_size", "entities_allow_free_form",
    ),
    "consolidation": (
        "consolidation_llm_batch_size", "consolidation_source_facts_max_tokens",
        "consolidation_source_facts_max_tokens_per_observation", "max_observations_per_scope",
    ),
    "reflect": (
        "disposition_skepticism", "disposition_literalism", "disposition_empathy", "recall_max_tokens",
        "verify_directives",
    ),
}  # fmt: skip
_WIRE_KINDS = {Kind.BOOLEAN: "boolean", Kind.LIST: "complex", Kind.OBJECT: "complex", Kind.STRING_OR_LIST: "complex"}


class PromptPreviewRequest(BaseModel):
    """Whose prompt is asked for; a strategy is one of retain's."""

    operation: Literal["retain", "consolidation", "reflect"] = "retain"
    strategy: str | None = None


@router.post("/preview")
async def preview_prompt(call: CallDep, bank_id: str, body: PromptPreviewRequest) -> Response:
    """The first call that the operation would make of a model, which is not made; for keys that see the whole bank."""
    settings, now = call.services.settings, call.services.clock.now()
    with call.bank(bank_id, Permission.READ) as seen:
        require_whole_bank(seen.principal)
        asked = Previewed(seen.principal, seen.bank, body.operation, body.strategy, now)
        found = preview(settings, seen.tx, asked)
    is_editable = settings.hindsight_api_enable_bank_config_api
    return json_answer(_shown(found, body.operation, is_editable=is_editable))


def _shown(found: PromptPreview, operation: str, *, is_editable: bool) -> dict[str, object]:
    call, config = found.call, found.config
    messages = [] if call is None else _messages(call, operation, config, is_editable=is_editable)
    run_by = [
        {"field": name, "value": _text(config, name), "kind": _kind(name), "editable": is_editable}
        for name in _RUN_BY[operation]
    ]
    model = [] if call is None else [{"field": "model", "value": call.model, "kind": "text", "editable": False}]
    forced = next((tool for tool in call.tools if tool.name == call.forced_tool), None) if call is not None else None
    return {
        "messages": messages,
        "strategy": found.strategy,
        "strategies": list(found.strategies),
        "run_settings": [*model, *run_by],
        "response_schema": None if forced is None else forced.schema,
        "skipped_reason": found.skipped,
    }


def _messages(call: ModelCall, operation: str, config: BankConfig, *, is_editable: bool) -> list[dict[str, object]]:
    worded_by = _WORDED_BY[operation]
    said = [_block(text, worded_by, config, is_editable=is_editable) for text in call.blocks]
    shown = {block["field"] for block in said}
    silent = [
        _worded("", kind, name, config, is_active=False, is_editable=is_editable)
        for kind, name in worded_by.items()
        if name not in shown
    ]
    return [
        {"role": "system", "blocks": [_built_in(call.system, call.prompt)]},
        {"role": "user", "blocks": [*said, *silent]},
    ]


def _block(text: str, worded_by: Mapping[str, str], config: BankConfig, *, is_editable: bool) -> dict[str, object]:
    kind = next(iter(_kinds(text)), "")
    name = worded_by.get(kind)
    if name is None or getattr(config, name) is None:
        return _built_in(text, kind)
    return _worded(text, kind, name, config, is_active=True, is_editable=is_editable)


def _kinds(text: str) -> Iterable[str]:
    return (found[1] for found in _KIND.finditer(text))


def _built_in(text: str, section: str) -> dict[str, object]:
    return {
        "text": text,
        "source": "builtin",
        "field": "",
        "section": section,
        "heading": "",
        "active": True,
        "value": None,
        "kind": "text",
        "choices": None,
        "editable": False,
    }


def _worded(
    text: str, section: str, name: str, config: BankConfig, *, is_active: bool, is_editable: bool
) -> dict[str, object]:
    return _built_in(text, section) | {
        "source": "config",
        "field": name,
        "active": is_active,
        "value": _text(config, name),
        "kind": _kind(name),
        "editable": is_editable,
    }


def _kind(name: str) -> str:
    return _WIRE_KINDS.get(FIELDS[name].kind, "text")


def _text(config: BankConfig, name: str) -> str | None:
    value = config.as_mapping()[name]
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
