"""The database as use cases see it: tenant-bound transactions, and the two questions that cross tenants.

The repositories' own modules are imported by whoever uses one: a cold start pays for those alone.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from hindsight_aws.model.ids import TenantId
from hindsight_aws.ports.due import Backlog, DueBy, DueKind, DueWork

if TYPE_CHECKING:
    from hindsight_aws.ports.aliases import Aliases
    from hindsight_aws.ports.audit import AuditLog
    from hindsight_aws.ports.banks import Banks
    from hindsight_aws.ports.compaction import Compactions
    from hindsight_aws.ports.consolidation import Consolidation
    from hindsight_aws.ports.curation import Curation
    from hindsight_aws.ports.deliveries import Deliveries
    from hindsight_aws.ports.directives import Directives
    from hindsight_aws.ports.documents import Documents
    from hindsight_aws.ports.entities import Entities
    from hindsight_aws.ports.erasure import Erasures
    from hindsight_aws.ports.evidence import EvidenceReads
    from hindsight_aws.ports.graph import Graphs
    from hindsight_aws.ports.kept_files import KeptFiles
    from hindsight_aws.ports.knowledge import KnowledgeBases
    from hindsight_aws.ports.limits import TenantLimits
    from hindsight_aws.ports.links import Links
    from hindsight_aws.ports.memories import Memories
    from hindsight_aws.ports.mental_models import MentalModels
    from hindsight_aws.ports.observations import Observations
    from hindsight_aws.ports.operations import Operations
    from hindsight_aws.ports.past import PastReads
    from hindsight_aws.ports.rebuilds import Rebuilds
    from hindsight_aws.ports.recall import RecallReads
    from hindsight_aws.ports.reembedding import BankVectors
    from hindsight_aws.ports.reflect import ReflectRuns
    from hindsight_aws.ports.refreshes import Refreshes
    from hindsight_aws.ports.runs import Runs
    from hindsight_aws.ports.scopes import Scopes
    from hindsight_aws.ports.stats import Stats
    from hindsight_aws.ports.tags import Tags
    from hindsight_aws.ports.tenants import KeyRecord, Tenants
    from hindsight_aws.ports.transfers import Transfers
    from hindsight_aws.ports.uploads import Uploads
    from hindsight_aws.ports.usage import UsageLedger
    from hindsight_aws.ports.webhooks import Webhooks

__all__ = ["Backlog", "DueBy", "DueKind", "DueWork", "Store", "Transaction"]


class Transaction(Protocol):
    """One unit of work of one tenant.

    Its repositories are attributes; all they write is committed together or not at all.
    """

    @property
    def recall(self) -> RecallReads:
        """Reads for recall."""
        ...

    @property
    def past(self) -> PastReads:
        """Reads for recall of the past."""
        ...

    @property
    def reflect(self) -> ReflectRuns:
        """Reflect runs and their steps."""
        ...

    @property
    def evidence(self) -> EvidenceReads:
        """What answers rest on."""
        ...

    @property
    def tenants(self) -> Tenants:
        """The tenant itself and its keys; for the owner's role alone."""
        ...

    @property
    def consolidation(self) -> Consolidation:
        """Scopes with their leases and pending work."""
        ...

    @property
    def compactions(self) -> Compactions:
        """Near-duplicates of scopes, and the windows in which they are looked for."""
        ...

    @property
    def webhooks(self) -> Webhooks:
        """Hooks of banks, and events that somebody may be told of."""
        ...

    @property
    def deliveries(self) -> Deliveries:
        """Events on their way to hooks."""
        ...

    @property
    def runs(self) -> Runs:
        """Consolidation runs, to look at and to undo."""
        ...

    @property
    def rebuilds(self) -> Rebuilds:
        """The next generations of scopes, in the making."""
        ...

    @property
    def observations(self) -> Observations:
        """Observations as they are written and ended, and their history."""
        ...

    @property
    def transfers(self) -> Transfers:
        """Banks on their way into archives and out of them."""
        ...

    @property
    def kept_files(self) -> KeptFiles:
        """Files that are kept after their text was retained."""
        ...

    @property
    def uploads(self) -> Uploads:
        """Files that somebody was given a ticket for."""
        ...

    @property
    def operations(self) -> Operations:
        """Pieces of work with an outcome."""
        ...

    @property
    def documents(self) -> Documents:
        """Documents, their chunks and their history."""
        ...

    @property
    def directives(self) -> Directives:
        """Standing rules for a bank's answers."""
        ...

    @property
    def memories(self) -> Memories:
        """Facts as retain writes them, and memories to look at."""
        ...

    @property
    def vectors(self) -> BankVectors:
        """What model a bank's vectors are of, and another's in the making."""
        ...

    @property
    def mental_models(self) -> MentalModels:
        """Mental models."""
        ...

    @property
    def refreshes(self) -> Refreshes:
        """Refreshes of mental models."""
        ...

    @property
    def knowledge(self) -> KnowledgeBases:
        """Folders and pages of mental models."""
        ...

    @property
    def links(self) -> Links:
        """Links between facts, and the queue of what is left to do about them."""
        ...

    @property
    def curation(self) -> Curation:
        """Memories, to be corrected by hand."""
        ...

    @property
    def entities(self) -> Entities:
        """Names that facts mention."""
        ...

    @property
    def scopes(self) -> Scopes:
        """Scopes, and the work that retain opens in them."""
        ...

    @property
    def tags(self) -> Tags:
        """Tags in use."""
        ...

    @property
    def graphs(self) -> Graphs:
        """Banks as pictures."""
        ...

    @property
    def stats(self) -> Stats:
        """Counts over a bank."""
        ...

    @property
    def usage(self) -> UsageLedger:
        """What model calls cost."""
        ...

    @property
    def limits(self) -> TenantLimits:
        """What the tenant may use in a day, and whether its model work waits."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Statements that answer nothing share round trips inside; the first failure ends them all."""
        ...

    @property
    def banks(self) -> Banks:
        """Banks and their settings."""
        ...

    @property
    def audit(self) -> AuditLog:
        """Who called what on which bank."""
        ...

    @property
    def erasures(self) -> Erasures:
        """What was to be gone for good, and its receipts."""
        ...

    @property
    def aliases(self) -> Aliases:
        """Other names of banks."""
        ...


class Store(Protocol):
    """Promises isolation by tenant and all-or-nothing commits."""

    def transaction(self, tenant_id: TenantId) -> AbstractContextManager[Transaction]:
        """Opens a unit of work: commits when the block ends, rolls back when it raises.

        Raises: DatabaseUnavailable when no connection can be had, or when it broke (the outcome of a commit is then
        unknown to the caller, who must ask the rows).
        """
        ...

    def snapshot(self, tenant_id: TenantId) -> AbstractContextManager[Transaction]:
        """A unit of work whose reads all see one moment: what others commit meanwhile is not there.

        For readers; it may add rows, and must not change or lock any.  Raises what `transaction` does.
        """
        ...

    def resolve_key(self, key_hash: bytes) -> KeyRecord | None:
        """The key with this SHA-256 hash, of whatever tenant, or None."""
        ...

    def due_work(self, at_most: int, due_by: DueBy) -> list[DueWork]:
        """Up to `at_most` due pieces of work of each kind over all tenants, those due for longest first."""
        ...

    def backlog(self, due_by: DueBy) -> Backlog:
        """How much work waits and how much is given up, parked and suspended tenants' apart."""
        ...

    def next_due(self, due_by: DueBy) -> datetime | None:
        """From when on `due_work` will tell of work that workers wait for, which may be past; None: as it is, never.

        Of what is only kept for some time, and of what any commit or use makes due, nothing is said.
        """
        ...
