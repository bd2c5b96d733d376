"""Mental models over HTTP, on a garden."""

from __future__ import annotations

from typing import Any

from hindsight_aws.model.ids import TenantId
from hindsight_aws.reflect.ports import ReflectDoor
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Answer, Caller, FakeRuntime, make_caller, make_services
from tests.support.database import Database
from tests.support.refreshing import Garden, make_garden, page, ready
from tests.support.units import Unit

BANK = "/v1/default/banks/bank"
MODELS = f"{BANK}/mental-models"
NEW = {"id": "plants", "name": "Plants", "source_query": "What grows here?"}


class Served:
    """The routes on a garden."""

    def __init__(self, database: Database, store: PostgresStore, tenant: TenantId) -> None:
        services: FakeRuntime = make_services(store, tenant, hindsight_reflect_url_wait_seconds=0.5)
        self.garden: Garden = make_garden(database, store, tenant, ready())
        rig = self.garden.rig
        rig.settings = services.settings
        services.__dict__["reflect_door"] = ReflectDoor(store, rig.workflows, services.settings, services.clock)
        self.call: Caller = make_caller(services, groups=frozenset({"reflect", "admin"}))

    def make(self, caller: Caller | None = None, **body: Any) -> Answer:
        return (caller or self.call)("POST", MODELS, {**NEW, **body})

    def written(self, **body: Any) -> None:
        """A model whose text was written."""
        self.garden.rig.remember(Unit("Roses grow in the yard.", tags=("a",)))
        self.garden.say(ready(), page("Roses grow here.", cites=("f1",)))
        assert self.make(**body).status == 200
