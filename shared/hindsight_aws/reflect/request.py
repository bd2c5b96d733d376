"""A reflect request as the use case takes it, its JSON form for the run's row, and what makes two requests equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter, accepted_groups, group_to_json, parse_group
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue


class Budget(StrEnum):
    """How much searching an answer is worth."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class ReflectRequest:
    """A question to a bank.

    `fact_types` None means all the caller may see; `max_tokens` is the wished length of the answer.
    `excluded_pages` are left out of search and reading; without pages neither is a tool.  `updated_after` and
    `updated_before`, both excluded, bound when what is found was last changed.  What is None is as the bank has it.
    `asked_at` is the present of the question (None: when it came in).  With `apply_all_directives` tagged directives
    bind whatever tags are asked for.  `response_schema` is the shape of a structured answer besides the one in words.
    The `shows_…` flags say what the answer carries besides its text.
    """

    query: str
    context: str | None = None
    budget: Budget = Budget.LOW
    max_tokens: int = 4_096
    tags: TagFilter = field(default_factory=TagFilter)
    fact_types: frozenset[str] | None = None
    observations_max_tokens: int | None = None
    observations_with_entities: bool | None = None
    recall_tokens: int | None = None
    chunk_tokens: int | None = None
    with_chunks: bool | None = None
    with_pages: bool = True
    excluded_pages: frozenset[str] = frozenset()
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    shows_facts: bool = False
    shows_evidence: bool = False
    shows_tool_calls: bool = False
    shows_tool_output: bool = False
    asked_at: datetime | None = None
    apply_all_directives: bool = False
    response_schema: JsonObject | None = None

    @property
    def wants_structure(self) -> bool:
        """Whether a structured answer was asked for."""
        return self.response_schema is not None


@dataclass(frozen=True, slots=True)
class ReflectJob:
    """A request with who made it and of which bank: all that the steps of its run need to know."""

    principal: Principal
    bank: str
    request: ReflectRequest


def job_to_json(job: ReflectJob) -> JsonObject:
    """The job for a run's row; `job_from_json` gives back an equal one."""
    principal, request = job.principal, job.request
    return {
        "bank": job.bank,
        "principal": {
            "tenant_id": str(principal.tenant_id),
            "subject": principal.subject,
            "permissions": [permission.value for permission in sorted(principal.permissions)],
            "bank_patterns": list(principal.bank_patterns),
            "forced_tags": None if principal.forced_tags is None else _json(group_to_json(principal.forced_tags)),
            "fact_types": _sorted(principal.fact_types),
            "exact_scopes": None
            if principal.exact_scopes is None
            else sorted([_sorted(scope) for scope in principal.exact_scopes], key=str),
        },
        "query": request.query,
        "context": request.context,
        "budget": request.budget.value,
        "max_tokens": request.max_tokens,
        "tags": [_json(group_to_json(group)) for group in request.tags.groups],
        "fact_types": _sorted(request.fact_types),
        "observations_max_tokens": request.observations_max_tokens,
        "observations_with_entities": request.observations_with_entities,
        "recall_tokens": request.recall_tokens,
        "chunk_tokens": request.chunk_tokens,
        "with_chunks": request.with_chunks,
        "with_pages": request.with_pages,
        "excluded_pages": [*sorted(request.excluded_pages)],
        "updated_after": _moment(request.updated_after),
        "updated_before": _moment(request.updated_before),
        "shows_facts": request.shows_facts,
        "shows_evidence": request.shows_evidence,
        "shows_tool_calls": request.shows_tool_calls,
        "shows_tool_output": request.shows_tool_output,
        "asked_at": _moment(request.asked_at),
        "apply_all_directives": request.apply_all_directives,
        "response_schema": request.response_schema,
    }


def job_from_json(document: Mapping[str, JsonValue]) -> ReflectJob:
    """Reads what `job_to_json` wrote."""
    caller = document["principal"]
    assert isinstance(caller, dict)  # noqa: S101 - our own row
    return ReflectJob(_principal(caller), str(document["bank"]), _request(document))


def request_hash(job: ReflectJob, bank_id: BankId, settled: JsonValue = None) -> str:
    """Equal for equal requests of the same caller, with the same limits, to the same bank `settled` alike."""
    canonical = json.dumps([job_to_json(job), settled], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{bank_id}\n{canonical}".encode("utf-8", "surrogatepass")).hexdigest()


def _principal(caller: JsonObject) -> Principal:
    scopes, forced = caller["exact_scopes"], caller["forced_tags"]
    return Principal(
        tenant_id=TenantId(UUID(str(caller["tenant_id"]))),
        subject=str(caller["subject"]),
        permissions=frozenset(Permission(name) for name in _texts(caller["permissions"])),
        bank_patterns=tuple(_texts(caller["bank_patterns"])),
        forced_tags=None if forced is None else parse_group(forced),
        fact_types=_set(caller["fact_types"]),
        exact_scopes=frozenset(frozenset(_texts(scope)) for scope in scopes) if isinstance(scopes, list) else None,
    )


def _request(document: Mapping[str, JsonValue]) -> ReflectRequest:
    context = document["context"]
    return ReflectRequest(
        query=str(document["query"]),
        context=None if context is None else str(context),
        budget=Budget(str(document["budget"])),
        max_tokens=_number(document["max_tokens"]) or 0,
        tags=TagFilter(accepted_groups(document["tags"])),
        fact_types=_set(document["fact_types"]),
        observations_max_tokens=_number(document["observations_max_tokens"]),
        observations_with_entities=_flag(document["observations_with_entities"]),
        recall_tokens=_number(document.get("recall_tokens")),
        chunk_tokens=_number(document.get("chunk_tokens")),
        with_chunks=_flag(document.get("with_chunks")),
        with_pages=document.get("with_pages") is not False,
        excluded_pages=frozenset(_texts(document.get("excluded_pages"))),
        updated_after=_instant(document.get("updated_after")),
        updated_before=_instant(document.get("updated_before")),
        shows_facts=document["shows_facts"] is True,
        shows_evidence=document.get("shows_evidence") is True,
        shows_tool_calls=document["shows_tool_calls"] is True,
        shows_tool_output=document["shows_tool_output"] is True,
        asked_at=_instant(document.get("asked_at")),
        apply_all_directives=document.get("apply_all_directives") is True,
        response_schema=_schema(document.get("response_schema")),
    )


def _sorted(values: frozenset[str] | None) -> JsonValue:
    return None if values is None else [*sorted(values)]


def _texts(value: JsonValue) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _set(value: JsonValue) -> frozenset[str] | None:
    return None if value is None else frozenset(_texts(value))


def _number(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def _instant(value: JsonValue) -> datetime | None:
    return None if value is None else datetime.fromisoformat(str(value))


def _schema(value: JsonValue) -> JsonObject | None:
    return value if isinstance(value, dict) else None


def _flag(value: JsonValue) -> bool | None:
    return value if isinstance(value, bool) else None


def _json(value: Mapping[str, object]) -> JsonObject:
    copied: JsonObject = json.loads(json.dumps(value))
    return copied
