"""What replacing a document means for the observations that rested on its facts."""

from __future__ import annotations

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.retain import RetainItem, RetainPorts, RetainRequest, retain
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from tests.support.consolidation import StillClock, Workshop, creates
from tests.support.database import Database
from tests.support.models import HashEmbedder, NotedWakeups


@pytest.fixture
def workshop(database: Database, tenant: TenantId, store: PostgresStore) -> Workshop:
    return Workshop(database, tenant, store)


def test_replacing_a_document_ends_what_rested_on_its_facts_and_wakes_the_other_sources(workshop: Workshop) -> None:
    wakeups = NotedWakeups()
    settings = Settings(hindsight_environment="local", hindsight_api_llm_provider="none")
    ports = RetainPorts(workshop.store, HashEmbedder(), None, wakeups, StillClock(), settings)
    principal = Principal(workshop.tenant, "test")

    def put(document: str, text: str) -> None:
        item = RetainItem(content=text, document_id=document)
        retain(ports, principal, "bank", RetainRequest(items=(item,)))

    put("one", "Ada rows on the lake.")
    put("two", "Ada rows every morning.")
    first, second = (row["id"] for row in workshop.sql("SELECT id FROM memory_units ORDER BY created_at"))
    workshop.answers(creates(("Ada rows.", [first, second])))
    workshop.drain()
    assert len(workshop.observations()) == 1

    put("one", "Ada has sold her boat.")

    assert workshop.observations() == []
    states = workshop.work()
    assert first not in states
    assert states[second] == [("pending", None)]
    assert workshop.sql("SELECT count(*) AS n FROM observation_evidence") == [{"n": 0}]
    (revision,) = workshop.sql("SELECT DISTINCT text FROM observation_revisions")
    assert revision["text"] is None
