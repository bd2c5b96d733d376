"""One tenant-bound transaction: hands out the repositories of this package, each when it is first asked for.

Made by postgres.py; calls the repositories.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from hindsight_aws.store.session import Session

if TYPE_CHECKING:
    from hindsight_aws.store.aliases import PostgresAliases
    from hindsight_aws.store.audit import PostgresAuditLog
    from hindsight_aws.store.banks import PostgresBanks
    from hindsight_aws.store.compaction import PostgresCompactions
    from hindsight_aws.store.consolidation import PostgresConsolidation
    from hindsight_aws.store.curation import PostgresCuration
    from hindsight_aws.store.deliveries import PostgresDeliveries
    from hindsight_aws.store.directives import PostgresDirectives
    from hindsight_aws.store.documents import PostgresDocuments
    from hindsight_aws.store.entities import PostgresEntities
    from hindsight_aws.store.erasure import PostgresErasures
    from hindsight_aws.store.evidence import PostgresEvidenceReads
    from hindsight_aws.store.graph import PostgresGraphs
    from hindsight_aws.store.kept_files import PostgresKeptFiles
    from hindsight_aws.store.knowledge import PostgresKnowledgeBases
    from hindsight_aws.store.limits import PostgresTenantLimits
    from hindsight_aws.store.links import PostgresLinks
    from hindsight_aws.store.memories import PostgresMemories
    from hindsight_aws.store.mental_models import PostgresMentalModels
    from hindsight_aws.store.observations import PostgresObservations
    from hindsight_aws.store.operations import PostgresOperations
    from hindsight_aws.store.past import PostgresPastReads
    from hindsight_aws.store.rebuilds import PostgresRebuilds
    from hindsight_aws.store.recall import PostgresRecallReads
    from hindsight_aws.store.reembedding import PostgresBankVectors
    from hindsight_aws.store.reflect import PostgresReflectRuns
    from hindsight_aws.store.refreshes import PostgresRefreshes
    from hindsight_aws.store.runs import PostgresRuns
    from hindsight_aws.store.scopes import PostgresScopes
    from hindsight_aws.store.stats import PostgresStats
    from hindsight_aws.store.tags import PostgresTags
    from hindsight_aws.store.tenants import PostgresTenants
    from hindsight_aws.store.transfers import PostgresTransfers
    from hindsight_aws.store.uploads import PostgresUploads
    from hindsight_aws.store.usage import PostgresUsageLedger
    from hindsight_aws.store.webhooks import PostgresWebhooks


class PostgresTransaction:
    """The repositories of one transaction, each imported and made when first asked for: a cold start pays for few."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @cached_property
    def recall(self) -> PostgresRecallReads:
        from hindsight_aws.store.recall import PostgresRecallReads

        return PostgresRecallReads(self.session)

    @cached_property
    def past(self) -> PostgresPastReads:
        from hindsight_aws.store.past import PostgresPastReads

        return PostgresPastReads(self.session)

    @cached_property
    def reflect(self) -> PostgresReflectRuns:
        from hindsight_aws.store.reflect import PostgresReflectRuns

        return PostgresReflectRuns(self.session)

    @cached_property
    def evidence(self) -> PostgresEvidenceReads:
        from hindsight_aws.store.evidence import PostgresEvidenceReads

        return PostgresEvidenceReads(self.session)

    @cached_property
    def tenants(self) -> PostgresTenants:
        from hindsight_aws.store.tenants import PostgresTenants

        return PostgresTenants(self.session)

    @cached_property
    def consolidation(self) -> PostgresConsolidation:
        from hindsight_aws.store.consolidation import PostgresConsolidation

        return PostgresConsolidation(self.session)

    @cached_property
    def compactions(self) -> PostgresCompactions:
        from hindsight_aws.store.compaction import PostgresCompactions

        return PostgresCompactions(self.session)

    @cached_property
    def webhooks(self) -> PostgresWebhooks:
        from hindsight_aws.store.webhooks import PostgresWebhooks

        return PostgresWebhooks(self.session)

    @cached_property
    def deliveries(self) -> PostgresDeliveries:
        from hindsight_aws.store.deliveries import PostgresDeliveries

        return PostgresDeliveries(self.session)

    @cached_property
    def runs(self) -> PostgresRuns:
        from hindsight_aws.store.runs import PostgresRuns

        return PostgresRuns(self.session)

    @cached_property
    def rebuilds(self) -> PostgresRebuilds:
        from hindsight_aws.store.rebuilds import PostgresRebuilds

        return PostgresRebuilds(self.session)

    @cached_property
    def observations(self) -> PostgresObservations:
        from hindsight_aws.store.observations import PostgresObservations

        return PostgresObservations(self.session)

    @cached_property
    def transfers(self) -> PostgresTransfers:
        from hindsight_aws.store.transfers import PostgresTransfers

        return PostgresTransfers(self.session)

    @cached_property
    def kept_files(self) -> PostgresKeptFiles:
        from hindsight_aws.store.kept_files import PostgresKeptFiles

        return PostgresKeptFiles(self.session)

    @cached_property
    def uploads(self) -> PostgresUploads:
        from hindsight_aws.store.uploads import PostgresUploads

        return PostgresUploads(self.session)

    @cached_property
    def operations(self) -> PostgresOperations:
        from hindsight_aws.store.operations import PostgresOperations

        return PostgresOperations(self.session)

    @cached_property
    def documents(self) -> PostgresDocuments:
        from hindsight_aws.store.documents import PostgresDocuments

        return PostgresDocuments(self.session)

    @cached_property
    def directives(self) -> PostgresDirectives:
        from hindsight_aws.store.directives import PostgresDirectives

        return PostgresDirectives(self.session)

    @cached_property
    def memories(self) -> PostgresMemories:
        from hindsight_aws.store.memories import PostgresMemories

        return PostgresMemories(self.session)

    @cached_property
    def vectors(self) -> PostgresBankVectors:
        from hindsight_aws.store.reembedding import PostgresBankVectors

        return PostgresBankVectors(self.session)

    @cached_property
    def mental_models(self) -> PostgresMentalModels:
        from hindsight_aws.store.mental_models import PostgresMentalModels

        return PostgresMentalModels(self.session)

    @cached_property
    def refreshes(self) -> PostgresRefreshes:
        from hindsight_aws.store.refreshes import PostgresRefreshes

        return PostgresRefreshes(self.session)

    @cached_property
    def knowledge(self) -> PostgresKnowledgeBases:
        from hindsight_aws.store.knowledge import PostgresKnowledgeBases

        return PostgresKnowledgeBases(self.session)

    @cached_property
    def links(self) -> PostgresLinks:
        from hindsight_aws.store.links import PostgresLinks

        return PostgresLinks(self.session)

    @cached_property
    def curation(self) -> PostgresCuration:
        from hindsight_aws.store.curation import PostgresCuration

        return PostgresCuration(self.session)

    @cached_property
    def entities(self) -> PostgresEntities:
        from hindsight_aws.store.entities import PostgresEntities

        return PostgresEntities(self.session)

    @cached_property
    def scopes(self) -> PostgresScopes:
        from hindsight_aws.store.scopes import PostgresScopes

        return PostgresScopes(self.session)

    @cached_property
    def tags(self) -> PostgresTags:
        from hindsight_aws.store.tags import PostgresTags

        return PostgresTags(self.session)

    @cached_property
    def graphs(self) -> PostgresGraphs:
        from hindsight_aws.store.graph import PostgresGraphs

        return PostgresGraphs(self.session)

    @cached_property
    def stats(self) -> PostgresStats:
        from hindsight_aws.store.stats import PostgresStats

        return PostgresStats(self.session)

    @cached_property
    def usage(self) -> PostgresUsageLedger:
        from hindsight_aws.store.usage import PostgresUsageLedger

        return PostgresUsageLedger(self.session)

    @cached_property
    def limits(self) -> PostgresTenantLimits:
        from hindsight_aws.store.limits import PostgresTenantLimits

        return PostgresTenantLimits(self.session)

    def together(self) -> AbstractContextManager[None]:
        return self.session.pipeline()

    @cached_property
    def banks(self) -> PostgresBanks:
        from hindsight_aws.store.banks import PostgresBanks

        return PostgresBanks(self.session)

    @cached_property
    def aliases(self) -> PostgresAliases:
        from hindsight_aws.store.aliases import PostgresAliases

        return PostgresAliases(self.session)

    @cached_property
    def erasures(self) -> PostgresErasures:
        from hindsight_aws.store.erasure import PostgresErasures

        return PostgresErasures(self.session)

    @cached_property
    def audit(self) -> PostgresAuditLog:
        from hindsight_aws.store.audit import PostgresAuditLog

        return PostgresAuditLog(self.session)
