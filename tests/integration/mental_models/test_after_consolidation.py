"""Consolidation has the pages refreshed that it concerns: each once, when the bank's work is through."""

from __future__ import annotations

from uuid import UUID

import pytest

from hindsight_aws.consolidate.drain import Drained
from hindsight_aws.jobs.refreshes import after_drain, tend_pages
from hindsight_aws.mental_models import manage
from hindsight_aws.mental_models.manage import ModelRequest
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.ports.store import DueBy
from hindsight_aws.store.postgres import PostgresStore
from tests.support.consolidation import Workshop, creates
from tests.support.database import Database
from tests.support.models import Answer


class NotedWorkflows:
    """Workflows that are started and never run."""

    def __init__(self) -> None:
        self.started: list[UUID] = []

    def start_reflect(self, _tenant_id: TenantId, _bank_id: UUID, run_id: UUID) -> None:
        self.started.append(run_id)


class Yard:
    """A workshop whose bank has mental models."""

    def __init__(self, workshop: Workshop) -> None:
        self.shop = workshop
        self.workflows = NotedWorkflows()
        self.door = PagesDoor(workshop.store, self.workflows, SystemClock(), workshop.settings)

    def plant(self, model_id: str, *tags: str) -> None:
        """A model that follows consolidation, refreshed when the bank was as it is now."""
        request = ModelRequest(model_id, model_id, "What?", [*tags], 2048, {"refresh_after_consolidation": True})
        manage.create(self.door, Principal(self.shop.tenant, "dev"), "bank", request)
        self.shop.sql("DELETE FROM operations")
        self.shop.sql(
            "UPDATE mental_models SET last_refreshed_at = clock_timestamp(), seen_snapshot = pg_current_snapshot(), "
            "last_memory_seen_at = clock_timestamp(), content = 'Text.'"
        )
        self.shop.sql("UPDATE mental_models SET last_refreshed_at = now() - interval '1 hour'")

    def drain(self, *tags: str) -> Drained:
        """One message of the queue."""
        ended = self.shop.drain(*tags)
        after_drain(self.door, self.shop.tenant, self.shop.bank_id)
        return ended

    @property
    def refreshes(self) -> list[str]:
        """The models of all refreshes that were asked for, in order."""
        rows = self.shop.sql(
            "SELECT result ->> 'mental_model_id' AS model FROM operations WHERE kind = 'refresh_mental_model' "
            "ORDER BY created_at, 1"
        )
        return [row["model"] for row in rows]


@pytest.fixture
def yard(database: Database, tenant: TenantId, store: PostgresStore) -> Yard:
    return Yard(Workshop(database, tenant, store, hindsight_api_consolidation_llm_batch_size=1))


def _each(*facts: UUID) -> list[Answer]:
    return [creates((f"Belief {number}.", [fact])) for number, fact in enumerate(facts)]


def test_every_model_concerned_is_refreshed_once_when_the_chain_is_through(yard: Yard) -> None:
    """[C133] Three scopes, several batches each, several drains: one refresh of each model, after the last of them."""
    yard.plant("everything")
    yard.plant("alice", "alice")
    alice = yard.shop.remember("Alice reads.", "Alice sings.", tags=["alice"])
    bob = yard.shop.remember("Bob cooks.", "Bob runs.", tags=["bob"])
    carol = yard.shop.remember("Carol paints.", tags=["carol"])
    yard.shop.answers(*_each(*alice, *bob, *carol))

    yard.drain("alice")
    yard.drain("bob")
    before_the_last = yard.refreshes
    yard.drain("carol")
    after_drain(yard.door, yard.shop.tenant, yard.shop.bank_id)

    assert before_the_last == []
    assert sorted(yard.refreshes) == ["alice", "everything"]
    assert len(yard.workflows.started) == 2


def test_a_run_over_another_scope_refreshes_nothing(yard: Yard) -> None:
    """[C141] A model scoped {bob}, and a run over {alice}."""
    yard.plant("bob", "bob")
    yard.shop.answers(*_each(*yard.shop.remember("Alice reads.", tags=["alice"])))

    yard.drain("alice")

    assert yard.refreshes == []


def _dies(_call: ModelCall) -> JsonObject:
    raise KeyboardInterrupt


@pytest.mark.parametrize("how", ["another drain", "the sweep"])
def test_what_was_written_before_a_crash_still_refreshes(yard: Yard, how: str) -> None:
    """[C142] The worker dies after its first batch: the next one, or the sweep, has the models refreshed."""
    yard.plant("alice", "alice")
    first, second = yard.shop.remember("Alice reads.", "Alice sings.", tags=["alice"])
    yard.shop.answers(creates(("Alice reads books.", [first])), _dies)
    with pytest.raises(KeyboardInterrupt):
        yard.drain("alice")
    assert yard.refreshes == []
    yard.shop.sql("UPDATE scopes SET lease_until = '-infinity', unread_since = unread_since - interval '10 minutes'")

    if how == "the sweep":
        due = yard.shop.store.due_work(100, DueBy(observations=True, auto_consolidation=True))
        tend_pages(yard.door, due)
    else:
        yard.shop.answers({"skipped": [{"fact_id": str(second), "reason": "known"}]})
        yard.drain("alice")

    assert yard.refreshes == ["alice"]
