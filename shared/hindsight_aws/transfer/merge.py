"""Adds the documents of an archive to a bank, one transaction each, by the rules of a retain without its model call.

Called by run.py.  Facts get the scopes, the entities and the links that they would get if they were retained here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hindsight_aws.access import bank_not_found
from hindsight_aws.configuration.config import resolve as resolve_config
from hindsight_aws.entities import FactNames, Naming, resolve
from hindsight_aws.faults import reached
from hindsight_aws.links.rule import link_rule
from hindsight_aws.model.bank import Bank
from hindsight_aws.model.document import document_id_of
from hindsight_aws.model.ids import ScopeId, TenantId
from hindsight_aws.model.operation import Lease, Progress
from hindsight_aws.operations.written import mark_written
from hindsight_aws.ports.documents import StoredDocument
from hindsight_aws.ports.memories import NewFact
from hindsight_aws.ports.model_gateway import Embedder, Embedding, ModelUsage, serving
from hindsight_aws.ports.transfers import TransferPlace
from hindsight_aws.retain.commit import MOST_LINKED_AT_ONCE, write_facts
from hindsight_aws.screening import policy_of
from hindsight_aws.transfer import points
from hindsight_aws.transfer.documents import Arriving, Group, groups
from hindsight_aws.transfer.kinds import DOCUMENTS, MEMORIES
from hindsight_aws.transfer.ports import TransferPorts
from hindsight_aws.transfer.reader import ArchiveReader
from hindsight_aws.transfer.task import TransferTask
from hindsight_aws.transfer.vectors import paid_anew, vector_of
from hindsight_aws.usage.ledger import ledger_entries


@dataclass(slots=True)
class Merging:
    """One attempt at adding an archive's documents to the operation's own bank; `place` is what is committed of it."""

    ports: TransferPorts
    tenant_id: TenantId
    lease: Lease
    task: TransferTask
    reader: ArchiveReader
    place: TransferPlace
    give_up_at: float
    embedder: Embedder = field(init=False)

    def run(self) -> bool:
        """Adds what is left to be added and ends the operation; False when the time is up before.

        Raises: ArchiveRefused, Conflict when the model of the bank's vectors is not served, WorkSuperseded, and what
        the Embedder and the database do.  What was added before stays, and is not added again.
        """
        bank = self._bank()
        for number, group in enumerate(groups(self.reader), start=1):
            if number <= self.place.line:
                continue
            self._add(bank, number, group)
            if time.monotonic() > self.give_up_at:
                return False
        with self.ports.store.transaction(self.tenant_id) as tx:
            tx.operations.renew(self.lease, self.ports.settings.hindsight_transfer_lease_seconds)
            tx.operations.complete(self.lease, {"counts": dict(self.place.counts)})
            reached(points.BEFORE_END)
        return True

    def _bank(self) -> Bank:
        with self.ports.store.transaction(self.tenant_id) as tx:
            bank = tx.banks.by_id(self.lease.bank_id)
        if bank is None:
            raise bank_not_found(str(self.lease.bank_id))
        self.embedder = serving(self.ports.embedder, bank.embedding_model)
        return bank

    def _add(self, bank: Bank, number: int, group: Group) -> None:
        name = group.external_id
        stored = self._stored(bank, name)
        if stored is not None and self.task.on_conflict == "skip":
            self._pass_over(number)
            return
        if stored is not None and self.task.on_conflict == "new-id":
            name = f"{name}-{self.lease.operation_id.hex[:12]}"
            stored = self._stored(bank, name)
        config = resolve_config(self.ports.settings, bank.overrides)
        arriving = Arriving(bank.bank_id, name, self.lease.operation_id, stored, config, group)
        arriving.screen(policy_of(self.ports.settings, bank, None))
        usages: list[ModelUsage] = []
        vectors = self._vectors(group, usages)
        facts = arriving.facts(vectors, self._naming(bank, arriving))
        self._commit(bank, number, arriving, facts, usages)

    def _stored(self, bank: Bank, name: str) -> StoredDocument | None:
        document_id = document_id_of(bank.bank_id, name)
        with self.ports.store.transaction(self.tenant_id) as tx:
            return tx.documents.stored(bank.bank_id, [document_id]).get(document_id)

    def _vectors(self, group: Group, usages: list[ModelUsage]) -> list[Embedding | None]:
        if self.reader.manifest.embedding_model == self.embedder.model:
            return [vector_of(row.get("vector")) for row in group.memories]
        return paid_anew(self.ports, self.tenant_id, self.lease, (MEMORIES, group.memories), self.embedder, usages)

    def _naming(self, bank: Bank, arriving: Arriving) -> Naming:
        names = arriving.names()
        if not any(names):
            return Naming()
        settings = self.ports.settings
        floor = max(
            settings.hindsight_api_entity_trgm_similarity_threshold,
            settings.hindsight_api_entity_merge_min_similarity,
        )
        with self.ports.store.transaction(self.tenant_id) as tx:
            return resolve(tx.entities, bank.bank_id, [FactNames(each) for each in names], floor)

    def _pass_over(self, number: int) -> None:
        place = self._moved_to(number, "documents_skipped")
        with self.ports.store.transaction(self.tenant_id) as tx:
            tx.operations.renew(self.lease, self.ports.settings.hindsight_transfer_lease_seconds)
            tx.transfers.move(self.lease, place)
        self.place = place

    def _moved_to(self, number: int, counted: str, facts: int = 0) -> TransferPlace:
        counts = dict(self.place.counts)
        counts[counted] = counts.get(counted, 0) + 1
        counts["facts"] = counts.get("facts", 0) + facts
        return replace(self.place, member=DOCUMENTS.member, line=number, counts=counts)

    def _commit(
        self, bank: Bank, number: int, arriving: Arriving, facts: Sequence[NewFact], usages: Sequence[ModelUsage]
    ) -> None:
        settings, lease = self.ports.settings, self.lease
        replaces = arriving.stored is not None
        place = self._moved_to(number, "documents_replaced" if replaces else "documents_added", len(facts))
        documents = self.reader.manifest.members[DOCUMENTS.member].rows
        costs = ledger_entries(usages, lease.subject, bank.bank_id, lease.operation_id)
        coming = [entity for fact in facts for entity in fact.entities] if replaces else []
        reached(points.BEFORE_BATCH)
        with self.ports.store.transaction(self.tenant_id) as tx:
            if facts:
                tx.vectors.lock_shared(bank.bank_id, self.embedder.model)
            tx.operations.renew(
                lease, settings.hindsight_transfer_lease_seconds, Progress("documents", number, documents)
            )
            tx.transfers.move(lease, place)
            reopened = tx.documents.write(bank.bank_id, [arriving.version(len(facts))], coming)
            if facts:
                write_facts(
                    tx,
                    bank.bank_id,
                    self.embedder.model,
                    facts,
                    lambda: link_rule(settings, tx.memories.count(bank.bank_id)),
                )
            tx.usage.record(costs)
            scopes = list(dict.fromkeys(scope for fact in facts for scope in fact.scopes))
            opened = tx.scopes.ids(bank.bank_id, scopes) if scopes else []
            mark_written(tx, bank.bank_id, self.embedder.model if facts else None, forgets=replaces)
        reached(points.AFTER_BATCH)
        self.place = place
        self._wake(bank, list(dict.fromkeys([*opened, *reopened])), replaces or len(facts) > MOST_LINKED_AT_ONCE)

    def _wake(self, bank: Bank, scopes: Sequence[ScopeId], has_links: bool) -> None:
        if scopes and resolve_config(self.ports.settings, bank.overrides).consolidates_by_itself:
            self.ports.wakeups.wake_scopes(self.tenant_id, bank.bank_id, scopes)
        if has_links:
            self.ports.wakeups.wake_links(self.tenant_id, bank.bank_id)
