"""Corrections by hand: facts rewritten, taken out of use and put back, and whole kinds of memories cleared.

Called by curation/; kept by store/curation.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hindsight_aws.model.entity import EntityName, ResolvedEntity
from hindsight_aws.model.ids import BankId, DocumentId, ScopeId, UnitId
from hindsight_aws.model.scope import Scope
from hindsight_aws.ports.memories import State
from hindsight_aws.ports.model_gateway import Embedding


@dataclass(frozen=True, slots=True)
class FactAsKnown:
    """A memory as whoever corrects it knows it; a `version` passed on says that it is still so.

    `names` are its entities; labels of the bank's vocabulary are among them and say so.
    """

    id: UnitId
    fact_type: str
    state: State
    version: int
    document_id: DocumentId | None
    text: str
    context: str | None
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    tags: tuple[str, ...]
    observation_scopes: object | None
    names: tuple[EntityName, ...]


@dataclass(frozen=True, slots=True)
class Indexing:
    """What a fact is found by: its vector with the model that made it, and its index terms."""

    embedding: Embedding
    embedding_model: str
    term_counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A fact as it shall be.  `entities` None: those it has stay."""

    fact: FactAsKnown
    indexing: Indexing
    entities: tuple[ResolvedEntity, ...] | None


@dataclass(frozen=True, slots=True)
class Cleared:
    """What one slice of a clear took out, and the scopes in which other facts wait again."""

    memories: int
    reopened: tuple[ScopeId, ...] = ()


class Curation(Protocol):
    """The memories of the transaction's tenant, to be corrected.

    Methods that take a fact lock its document and then it, in the global order.
    """

    def look(self, bank_id: BankId, memory_id: UUID) -> FactAsKnown | None:
        """A memory, valid or archived, or None."""
        ...

    def rewrite(self, bank_id: BankId, rewrite: Rewrite) -> list[ScopeId]:
        """Writes the fact as a new version, its links to be measured anew; what rested on it ends.

        Returns the scopes in which it and its co-sources wait.  Raises: WorkSuperseded when it has changed or gone.
        """
        ...

    def archive(self, bank_id: BankId, fact: FactAsKnown, reason: str | None) -> list[ScopeId]:
        """Takes the fact out of use, with all that is needed to put it back; what rested on it ends.

        Returns the scopes in which its co-sources wait.  Raises: WorkSuperseded when it has changed or gone.
        """
        ...

    def give_reason(self, bank_id: BankId, fact: FactAsKnown, reason: str | None) -> None:
        """Another reason why an archived fact is so."""
        ...

    def restore(
        self,
        bank_id: BankId,
        fact: FactAsKnown,
        indexing: Indexing,
        entities: Sequence[ResolvedEntity],
        scopes: Sequence[Scope],
    ) -> list[ScopeId]:
        """Puts an archived fact back: as it was, with the causes whose other end is live; the others wait for theirs.

        Returns the scopes in which it waits.  Raises: WorkSuperseded when it has changed or gone.
        """
        ...

    def delete(self, bank_id: BankId, fact: FactAsKnown) -> list[ScopeId]:
        """Takes a fact out for good, valid or archived, and what its chunk kept of its reading; what rested on it ends.

        The chunk counts as read: its document, retained again as it is, does not bring the fact back.
        Returns the scopes in which its co-sources wait.  Raises: WorkSuperseded when it has changed or gone.
        """
        ...

    def clear_observations_of(self, bank_id: BankId, fact: FactAsKnown) -> tuple[int, list[ScopeId]]:
        """Ends what rests on the fact, which waits again in all its scopes: how many ended, and the scopes.

        Raises: WorkSuperseded when the fact has changed or gone.
        """
        ...

    def clear_facts(self, bank_id: BankId, fact_types: Sequence[str], at_most: int) -> Cleared:
        """Takes out the next facts of these types, for good; their documents, retained again, make facts again."""
        ...

    def clear_archive(self, bank_id: BankId, fact_types: Sequence[str]) -> None:
        """Takes out the archived facts of these types, for good."""
        ...

    def clear_observations(
        self, bank_id: BankId, at_most: int, *, reopen: bool, scope_id: ScopeId | None = None
    ) -> Cleared:
        """Ends the next observations, of one scope if it is named, their histories blanked.

        With `reopen` their sources wait again.
        """
        ...

    def clear_seals(self, bank_id: BankId, scope_id: ScopeId | None = None) -> None:
        """Takes out what is kept sealed of former generations, of one scope if it is named."""
        ...

    def reopen_all(self, bank_id: BankId, scope_id: ScopeId | None = None) -> list[ScopeId]:
        """Every fact of the bank waits again in all its scopes, or in the one named; those scopes are returned."""
        ...
