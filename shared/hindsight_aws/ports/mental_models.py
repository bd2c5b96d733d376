"""Mental models as they are kept: pages with their staleness, what they rest on, their history and their refreshes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from hindsight_aws.access import PageSight, Sight
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.mental_model import Citation, MentalModel, NewMentalModel, PageChange
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.listing import Page
from hindsight_aws.ports.model_gateway import JsonObject, QueryVector

Staleness = Literal["never_refreshed", "source_deleted", "new_memories"]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page as reflect's tools meet it; `relevance` is its cosine to the query, None where none was given.

    `updated_at` is when its text was last written.  A stale page says why.
    """

    id: str
    name: str
    content: str
    tags: tuple[str, ...]
    updated_at: datetime | None
    is_stale: bool
    staleness_reason: Staleness | None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model as it is shown, with why it is stale (None: it is fresh).

    `is_withheld`: something it rests on was deleted and its text has not been mended yet; `model` comes without text.
    `is_page`: it is a page of the knowledge base.
    """

    model: MentalModel
    staleness: Staleness | None
    is_withheld: bool
    is_page: bool = False


@dataclass(frozen=True, slots=True)
class Past:
    """One entry of a model's history, newest first: a version that was replaced, or a refresh that failed.

    `content` is None where something that the version rested on is gone.
    """

    kind: Literal["version", "failure"]
    content: str | None
    response: JsonObject | None
    outcome: str | None
    failure_reason: str | None
    error_message: str | None
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class ScopeReading:
    """What there is in a model's scope, in one moment.

    `cutoff` is that moment, `snapshot` tells later which commits it did not see.  `newest` is the latest change seen,
    None where there was none of late; `holds`: there is any memory.  `unseen` counts memories that the last refresh did
    not see, `oldest_unseen` is the earliest change among them.
    """

    cutoff: datetime
    snapshot: str
    newest: datetime | None
    holds: bool
    unseen: int
    oldest_unseen: datetime | None


@dataclass(frozen=True, slots=True)
class Vanished:
    """A memory that a model rests on and that is there no more; `text` is what it said when it was cited."""

    id: UUID
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Failures:
    """Refreshes of a model that failed since the last that did not, up to 50; when the last one did."""

    number: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class CitedInSight:
    """What a model's text rests on, as one caller may see it; `withheld` counts what is not in their sight."""

    citations: list[Citation]
    withheld: int


class MentalModels(Protocol):
    """The mental models of the transaction's tenant."""

    def search(
        self, bank_id: BankId, wanted: QueryVector, seen: PageSight, excluded: Collection[str], limit: int
    ) -> list[FoundPage]:
        """The pages with text in sight that are nearest to the vector, nearest first; `excluded` ids are left out.

        Pages that another model embedded cannot be compared, and are not found.
        """
        ...

    def read(self, bank_id: BankId, ids: Sequence[str], seen: PageSight, excluded: Collection[str]) -> list[FoundPage]:
        """The pages among these ids that are in sight, in the order asked for."""
        ...

    def exist(self, bank_id: BankId, seen: PageSight, excluded: Collection[str]) -> bool:
        """Whether there is a page with text in sight."""
        ...

    def count(self, bank_id: BankId) -> int:
        """How many models the bank has."""
        ...

    def add(self, bank_id: BankId, new: NewMentalModel) -> bool:
        """Writes a model without text; False when its id is taken."""
        ...

    def view(self, bank_id: BankId, model_id: str, seen: PageSight) -> ModelView | None:
        """The model, or None where there is none in sight."""
        ...

    def page(
        self,
        bank_id: BankId,
        seen: PageSight,
        wanted: TagFilter,
        limit: int,
        offset: int,
        *,
        in_knowledge_base: bool | None = None,
    ) -> Page[ModelView]:
        """Models in sight whose tags pass the filter, those refreshed last first.

        `in_knowledge_base`: only pages of the knowledge base, or only models that are none; None: both.
        """
        ...

    def lock(self, bank_id: BankId, page_id: UUID) -> MentalModel | None:
        """The model as it is, locked until the transaction ends; after the memories that are to be cited."""
        ...

    def find(self, bank_id: BankId, page_id: UUID) -> MentalModel | None:
        """The model as it is, or None."""
        ...

    def change(self, bank_id: BankId, changed: MentalModel, due_at: datetime | None) -> None:
        """Writes what its owner says of a model that is locked, and when its schedule is looked at next."""
        ...

    def clear(self, bank_id: BankId, page_id: UUID, *, keeps_past: bool = True) -> None:
        """Takes the text away, with what it rested on, and lets automatic refreshes run again.

        `keeps_past`: the text goes into the history.
        """
        ...

    def remove(self, bank_id: BankId, page_id: UUID) -> None:
        """Removes the model with its history."""
        ...

    def history(self, bank_id: BankId, page_id: UUID, at_most: int) -> list[Past]:
        """The latest `at_most` versions and as many failures, newest first."""
        ...

    def count_in(self, bank_id: BankId, scope: TagFilter, fact_types: Collection[str]) -> int:
        """How many memories a scope reaches, counted up to 1,000."""
        ...

    def reading(self, bank_id: BankId, page_id: UUID) -> ScopeReading:
        """What there is in the model's scope now."""
        ...

    def staleness(self, bank_id: BankId, page_id: UUID) -> Staleness | None:
        """Why the model is stale now; None: it is fresh."""
        ...

    def citations(self, bank_id: BankId, page_id: UUID) -> list[Citation]:
        """What the model's text rests on, by id."""
        ...

    def beneath(self, bank_id: BankId, ids: Collection[str], since: datetime) -> list[Citation] | None:
        """What the texts that these pages had since then rested on, by id; None where that is known no more."""
        ...

    def citations_in(self, bank_id: BankId, page_id: UUID, seen: Sight) -> CitedInSight:
        """What of it is in sight, in the words that it has now."""
        ...

    def vanished(self, bank_id: BankId, page_id: UUID) -> list[Vanished]:
        """What it rests on that is there no more."""
        ...

    def lock_memories(self, bank_id: BankId, ids: Sequence[UUID]) -> list[Citation]:
        """The memories among these ids that are still there, locked in id order until the transaction ends."""
        ...

    def awaits_consolidation(self, bank_id: BankId) -> bool:
        """Whether facts of the bank are about to be consolidated: pending for less than an hour, and due soon."""
        ...

    def prune(self, bank_id: BankId, page_id: UUID) -> None:
        """Of what the model's text rests on, what is gone is no more: the text says nothing of it."""
        ...

    def write(self, bank_id: BankId, page_id: UUID, change: PageChange, *, keeps_past: bool = True) -> None:
        """Writes what a refresh came to: text and what it rests on as one.

        `keeps_past`: the former text goes into the history.  If not, what it rested on is still known to whoever has
        read it.
        """
        ...

    def stamp(self, bank_id: BankId, page_id: UUID, seen: datetime | None, snapshot: str, *, is_full: bool) -> None:
        """Notes a refresh that changed no text: when it was, and what it saw."""
        ...

    def fail(self, bank_id: BankId, page_id: UUID, outcome: str, reason: str, message: str, *, pauses: bool) -> None:
        """Adds a failure to the history; `pauses`: automatic refreshes wait for somebody until one succeeds."""
        ...

    def failures(self, bank_id: BankId, page_id: UUID) -> Failures:
        """How often its refreshes failed since one last did not."""
        ...

    def purge(self, bank_id: BankId, page_id: UUID) -> None:
        """Blanks former versions that rest on what is gone; a deletion is looked at again a quarter of an hour on."""
        ...

    def move(self, bank_id: BankId, absorbed: UUID, heir: UUID) -> None:
        """What rests on an observation that is absorbed rests on its heir; before the observation goes."""
        ...

    def candidates(self, bank_id: BankId, scopes: Sequence[Collection[str]]) -> list[MentalModel]:
        """Stale models to be refreshed after consolidation that scopes with these tags concern, by id.

        Without those of which a refresh runs, or waits and is due: one more would be part of it.
        """
        ...

    def take_marks(self, bank_id: BankId, *, even_if_busy: bool) -> list[tuple[str, ...]]:
        """The tags of scopes whose observations changed since pages were last looked at; the marks go.

        None while work is due elsewhere in the bank, unless `even_if_busy`.
        """
        ...

    def schedule(self, bank_id: BankId, page_id: UUID, due_at: datetime | None) -> None:
        """Notes when the model's schedule is looked at next."""
        ...
