"""What reflect needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hindsight_aws.model.principal import Principal
from hindsight_aws.model.recalled import RecallAnswer
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.model_gateway import TextModel
from hindsight_aws.ports.reflect import Workflows
from hindsight_aws.ports.store import Store
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search of a tool: `fact_types` are those of its layer, `max_tokens` bounds the texts found."""

    query: str
    fact_types: frozenset[str]
    tags: TagFilter
    max_tokens: int


class Searches(Protocol):
    """Searches a bank as recall does."""

    def search(self, principal: Principal, bank: str, request: SearchRequest) -> RecallAnswer:
        """What the caller would be given, best first, with the names of entities.

        Raises: what recall raises; a search that fails is never an empty answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class ReflectPorts:
    """For the steps of a run.  `text_model` None means that there is no model (`HINDSIGHT_API_LLM_PROVIDER=none`)."""

    store: Store
    text_model: TextModel | None
    searches: Searches
    settings: Settings


@dataclass(frozen=True, slots=True)
class ReflectDoor:
    """For the API: asks for runs and waits for them, but takes no step itself."""

    store: Store
    workflows: Workflows
    settings: Settings
