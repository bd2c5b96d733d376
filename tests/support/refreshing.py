"""Mental models on a reflect rig: made, refreshed by whole runs in this process, and looked at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg

from hindsight_aws.access import page_sight
from hindsight_aws.mental_models import manage
from hindsight_aws.mental_models.manage import ModelRequest, QueuedRefresh
from hindsight_aws.mental_models.ports import PagesDoor
from hindsight_aws.mental_models.start import start
from hindsight_aws.model.ids import OperationId, TenantId
from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.ports.curation import Indexing, Rewrite
from hindsight_aws.ports.mental_models import ModelView, Past
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.ports.operations import OperationView
from hindsight_aws.store.postgres import PostgresStore
from tests.support.admin import changing
from tests.support.database import Database
from tests.support.reflect import Reply, Rig, Said, make_rig
from tests.support.units import Unit


def page(*blocks: str, heading: str = "Plants", cites: tuple[str, ...] = (), found: bool = True) -> Said:
    """The model writes a whole page of one section."""
    sections: list[JsonValue] = [{"heading": heading, "level": 1, "blocks": [*blocks]}]
    facts: list[JsonValue] = [alias for alias in cites if not alias.startswith("o")]
    observations: list[JsonValue] = [alias for alias in cites if alias.startswith("o")]
    said: JsonObject = {"document": {"sections": sections} if blocks else {"sections": []}, "answer_found": found}
    return Said((("refresh_document", {**said, "memory_ids": facts, "observation_ids": observations}),))


def edits(*operations: JsonObject) -> Said:
    """The model lists these edits."""
    return Said((("refresh_ops", {"operations": [*operations]}),))


def retraction(*operations: JsonObject) -> Said:
    """The model takes this out."""
    return Said((("retract", {"operations": [*operations]}),))


def ready() -> Said:
    """The model has seen enough."""
    return Said((("answer_ready", {"answer_found": True}),))


@dataclass(slots=True)
class Garden:
    """A bank with mental models, and all that refreshes them."""

    rig: Rig
    clock: Clock = field(default_factory=SystemClock)

    @property
    def door(self) -> PagesDoor:
        return PagesDoor(self.rig.store, self.rig.workflows, self.clock, self.rig.settings)

    def say(self, *replies: Reply) -> None:
        """What the model says from now on."""
        self.rig.model.replies = [*replies]
        self.rig.model.calls.clear()

    @property
    def tasks(self) -> list[str]:
        """What the model was asked since."""
        return [call.task for call in self.rig.model.calls]

    def plant(
        self, model_id: str = "plants", *tags: str, principal: Principal | None = None, **trigger: Any
    ) -> QueuedRefresh:
        """Makes a model without running its first refresh."""
        request = ModelRequest(model_id, model_id.title(), "What grows here?", [*tags], 2048, trigger)
        return manage.create(self.door, principal or self.rig.principal, self.rig.bank, request)

    def grow(self, asked: QueuedRefresh) -> None:
        """Runs a refresh, whole, if it may run."""
        start(self.door, self.rig.tenant, asked.bank_id, asked.operation_id)

    def refresh(self, model_id: str = "plants", *, full: bool = False) -> OperationView:
        """Asks for a refresh, runs it whole, and says what became of it."""
        asked = manage.refresh(self.door, self.rig.principal, self.rig.bank, model_id, full=full)
        self.grow(asked)
        return self.operation(asked.operation_id)

    def view(self, model_id: str = "plants", principal: Principal | None = None) -> ModelView:
        """The model as it is shown."""
        with self.rig.store.snapshot(self.rig.tenant) as tx:
            found = tx.mental_models.view(self.rig.bank_id, model_id, page_sight(principal or self.rig.principal))
        assert found is not None
        return found

    def listed(self) -> list[ModelView]:
        """Every model, as lists show them."""
        with self.rig.store.snapshot(self.rig.tenant) as tx:
            sight = page_sight(self.rig.principal)
            return [*tx.mental_models.page(self.rig.bank_id, sight, TagFilter(), 100, 0).items]

    def model(self, model_id: str = "plants") -> MentalModel:
        return self.view(model_id).model

    def history(self, model_id: str = "plants") -> list[Past]:
        page_id = self.model(model_id).page_id
        with self.rig.store.snapshot(self.rig.tenant) as tx:
            return tx.mental_models.history(self.rig.bank_id, page_id, 50)

    def operation(self, operation_id: OperationId) -> OperationView:
        with self.rig.store.snapshot(self.rig.tenant) as tx:
            found = tx.operations.view(self.rig.bank_id, operation_id, None, with_payload=True)
        assert found is not None
        return found

    def outcome(self, operation: OperationView) -> tuple[str, object, object]:
        """Status, outcome and reason of an operation."""
        details = operation.result.get("details")
        assert isinstance(details, dict), (operation.status, operation.error_message)
        return operation.status, details["outcome"], details["failure_reason"]

    def delete(self, *ids: UUID) -> None:
        """Memories go, as they go with their document."""
        with psycopg.connect(self.rig.database.write_url) as connection:
            connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(self.rig.tenant),))
            connection.execute("DELETE FROM memory_units WHERE id = ANY (%s)", ([*ids],))

    def edit(self, unit: Unit, text: str) -> None:
        """Somebody corrects a fact, which keeps its id."""
        embedder = self.rig.embedder
        (vector,) = embedder.embed([text], "document", lambda _usage: None)
        with self.rig.store.transaction(self.rig.tenant) as tx:
            known = tx.curation.look(self.rig.bank_id, unit.id)
            assert known is not None
            indexing = Indexing(vector, embedder.model, {})
            tx.curation.rewrite(self.rig.bank_id, Rewrite(replace(known, text=text), indexing, None))

    def age(self, seconds: float) -> None:
        """The whole bank lies as long ago."""
        with changing(self.rig.database.admin_url) as connection:
            span = timedelta(seconds=seconds)
            connection.execute(
                "UPDATE mental_models SET last_refreshed_at = last_refreshed_at - %s, "
                "last_full_refreshed_at = last_full_refreshed_at - %s",
                (span, span),
            )


def make_garden(database: Database, store: PostgresStore, tenant: TenantId, *replies: Reply, **settings: Any) -> Garden:
    """A garden on an empty bank."""
    return Garden(make_rig(database, store, tenant, *replies, **settings))
