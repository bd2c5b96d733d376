"""Runs one search tool for a run and gives its answer as JSON with real ids; the conversation gives them aliases later.

Called by the steps; each tool is a module of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindsight_aws.access import OBSERVATIONS, RAW_TYPES, page_sight, sees_documents
from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.ports.store import Transaction
from hindsight_aws.reflect.conversation import calls
from hindsight_aws.reflect.conversation.aliases import resolved
from hindsight_aws.reflect.request import ReflectJob
from hindsight_aws.reflect.tools.expand import expand
from hindsight_aws.reflect.tools.lookup import ToolContext, memory_sight
from hindsight_aws.reflect.tools.memories import recall, search_observations
from hindsight_aws.reflect.tools.mental_models import read_mental_models, search_mental_models

__all__ = ["LAYERS", "ToolContext", "enabled", "has_pages", "run", "searched_types"]

LAYERS = (calls.SEARCH_MENTAL_MODELS, calls.SEARCH_OBSERVATIONS, calls.RECALL)
_TOOLS = {
    calls.SEARCH_MENTAL_MODELS: search_mental_models,
    calls.READ_MENTAL_MODELS: read_mental_models,
    calls.SEARCH_OBSERVATIONS: search_observations,
    calls.RECALL: recall,
    calls.EXPAND: expand,
}


def enabled(job: ReflectJob, config: BankConfig, *, has_pages: bool = False) -> tuple[str, ...]:
    """The tools this caller's question may use, in the order of a first look.

    A caller limited to exact scopes gets observations and nothing that lies beneath them or was made of them.
    """
    seen = memory_sight(job)
    tools: list[str] = []
    if has_pages and seen.sees_beneath and job.request.with_pages:
        tools += [calls.SEARCH_MENTAL_MODELS, calls.READ_MENTAL_MODELS]
    if seen.fact_types & OBSERVATIONS:
        tools.append(calls.SEARCH_OBSERVATIONS)
    if seen.fact_types & RAW_TYPES:
        tools.append(calls.RECALL)
        if seen.sees_beneath and sees_documents(job.principal) and config.store_document_text:
            tools.append(calls.EXPAND)
    return tuple(tools)


def has_pages(tx: Transaction, job: ReflectJob, bank_id: BankId) -> bool:
    """Whether there is a page that this question may read."""
    request, principal = job.request, job.principal
    if not request.with_pages or not memory_sight(job).sees_beneath:
        return False
    sight = page_sight(principal, request.tags, request.fact_types)
    return tx.mental_models.exist(bank_id, sight, request.excluded_pages)


def searched_types(job: ReflectJob) -> frozenset[str]:
    """The types of memory that this caller's question may be answered from."""
    return memory_sight(job).fact_types


def run(context: ToolContext, name: str, said: JsonObject, ids: Mapping[str, str]) -> JsonObject:
    """The tool's answer; `ids` are the run's aliases, which stand for real ids among the arguments.

    Raises: WrongArgument for arguments that were not checked, ValueError for an unknown tool, and whatever a failed
    search raises: a failure is never told to the model as an answer.
    """
    tool = _TOOLS.get(name)
    if tool is None:
        raise ValueError(f"there is no tool {name!r}")
    return tool(context, resolved(said, ids))
