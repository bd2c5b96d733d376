"""Dry run: what would be extracted from a text, with nothing stored."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from starlette.responses import Response

from hindsight_aws import retain
from hindsight_aws.api.answers import json_answer
from hindsight_aws.api.auth import CallDep
from hindsight_aws.api.schemas.dry_run import DryRunBody
from hindsight_aws.api.wire import ReportingRoute
from hindsight_aws.model.principal import Permission
from hindsight_aws.retain import DryRun

router = APIRouter(route_class=ReportingRoute)


@router.post("/v1/default/banks/{bank_id}/memories/dry-run-extract")
async def dry_run_extract_memories(call: CallDep, bank_id: str, body: DryRunBody) -> Response:
    """The facts that retaining the text would give; the bank need not be there, and is not made."""
    principal = call.principal(Permission.WRITE)
    return json_answer(_shown(retain.dry_run(call.services.retain_ports, principal, bank_id, body.as_request())))


def _shown(tried: DryRun) -> dict[str, object]:
    facts = [
        {
            "text": fact.text,
            "fact_type": fact.fact_type,
            "occurred_start": _instant(fact.occurred_start),
            "occurred_end": _instant(fact.occurred_end),
            "entities": [*fact.entities, *fact.labels],
            "chunk_index": index,
            "attachments": [],
        }
        for index, (_, extraction) in enumerate(tried.chunks)
        for fact in extraction.facts
    ]
    problems = [problem for _, extraction in tried.chunks for problem in extraction.problems]
    return {
        "facts": facts,
        "chunks": [{"text": text, "fact_count": len(extraction.facts)} for text, extraction in tried.chunks],
        "usage": {
            "input_tokens": tried.usage.input_tokens,
            "output_tokens": tried.usage.output_tokens,
            "total_tokens": tried.usage.total_tokens,
            "cached_tokens": tried.usage.cached_tokens,
            "thoughts_tokens": 0,
        },
        **({"extraction_errors": problems} if problems else {}),
    }


def _instant(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
