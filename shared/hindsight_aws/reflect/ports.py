"""What reflect needs of the world, gathered once by runtime.py."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.recalled import RecallAnswer
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import QueryVector, TextModel
from hindsight_aws.ports.page_keeper import Pages
from hindsight_aws.ports.recall import NO_BOUNDS, TimeFilter
from hindsight_aws.ports.reflect import Workflows
from hindsight_aws.ports.store import Store
from hindsight_aws.settings import Settings


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search of a tool: `fact_types` are those of its layer, `max_tokens` bounds the texts found.

    `chunk_tokens` and `source_tokens` None leave out the chunks, and the facts under observations; `times` bounds what
    is found at all, `now` is the present of the question (None: the clock's).  `vector` is that of the query where it
    was made already.
    """

    query: str
    fact_types: frozenset[str]
    tags: TagFilter
    max_tokens: int
    chunk_tokens: int | None = None
    source_tokens: int | None = None
    times: TimeFilter = NO_BOUNDS
    now: datetime | None = None
    vector: QueryVector | None = None


class Searches(Protocol):
    """Searches a bank as recall does."""

    def search(self, principal: Principal, bank: str, request: SearchRequest) -> RecallAnswer:
        """What the caller would be given, best first, with the names of entities.

        Raises: what recall raises; a search that fails is never an empty answer.
        """
        ...

    def embed(self, principal: Principal, bank: Bank, query: str) -> QueryVector | None:
        """The vector of a query as a search embeds it; None when the bank's are of another model.

        Raises: what an embedder raises; the call is in the ledger either way.
        """
        ...

    def vector(self, principal: Principal, bank: Bank, query: str, made: QueryVector | None) -> QueryVector | None:
        """The vector of a query for the bank's pages, `made` already or made now.

        None when it has no direction, or theirs are of another model.

        Raises: what an embedder raises; the call is in the ledger either way.
        """
        ...


@dataclass(frozen=True, slots=True)
class ReflectPorts:
    """For the steps of a run.  `text_model` None means that there is no model (`HINDSIGHT_API_LLM_PROVIDER=none`).

    `pages` are those that runs of kind `refresh` write.
    """

    store: Store
    text_model: TextModel | None
    searches: Searches
    settings: Settings
    pages: Pages
    clock: Clock


@dataclass(frozen=True, slots=True)
class ReflectDoor:
    """For the API: asks for runs and waits for them, but takes no step itself."""

    store: Store
    workflows: Workflows
    settings: Settings
    clock: Clock
