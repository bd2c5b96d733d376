"""Lets reflect's tools search as recall does.  Made by runtime.py; calls the recall use case."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_aws.model.bank import Bank
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.recalled import RecallAnswer
from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.model_gateway import Embedder, ModelUsage, QueryVector, Reranker
from hindsight_aws.ports.store import Store
from hindsight_aws.recall import RecallQuery, fact_types_of, recall, text_of
from hindsight_aws.reflect.ports import SearchRequest
from hindsight_aws.settings import Settings
from hindsight_aws.usage.ledger import ledger_entries


@dataclass(frozen=True, slots=True)
class RecallSearches:
    """Searches through recall, at its middle budget whatever reflect's own is."""

    store: Store
    embedder: Embedder
    reranker: Reranker | None
    settings: Settings
    clock: Clock

    def search(self, principal: Principal, bank: str, request: SearchRequest) -> RecallAnswer:
        query = RecallQuery(
            query=request.query,
            fact_types=fact_types_of(sorted(request.fact_types)),
            max_tokens=request.max_tokens,
            tags=request.tags,
            now=request.now,
            prefer_observations=False,
            chunk_tokens=request.chunk_tokens,
            source_tokens=request.source_tokens,
            times=request.times,
            vector=request.vector,
        )
        return recall(
            self.store,
            self.embedder,
            self.settings,
            principal,
            bank,
            query,
            reranker=self.reranker,
            clock=self.clock,
        )

    def embed(self, principal: Principal, bank: Bank, query: str) -> QueryVector | None:
        embedder = self.embedder.of(bank.embedding_model)
        if embedder is None:
            return None
        usage: list[ModelUsage] = []
        try:
            text = text_of(self.settings, RecallQuery(query))
            return QueryVector(embedder.model, embedder.embed([text], "query", usage.append)[0])
        finally:
            with self.store.transaction(principal.tenant_id) as tx:
                tx.usage.record(ledger_entries(usage, principal.subject, bank.bank_id))

    def vector(self, principal: Principal, bank: Bank, query: str, made: QueryVector | None) -> QueryVector | None:
        embedder = self.embedder.of(bank.embedding_model)
        if made is None or embedder is None or made.model != embedder.model:
            made = self.embed(principal, bank, query)
        return None if made is None or made.values is None else made
