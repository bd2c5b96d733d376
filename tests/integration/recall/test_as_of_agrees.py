"""Whatever happens to a bank, recall of each moment gives what was believed then and has not been deleted since."""

from __future__ import annotations

import random
from datetime import datetime
from uuid import UUID

from hindsight_aws.model.ids import TenantId, UnitId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.recall import TimeFilter
from hindsight_aws.recall import RecallQuery, recall
from hindsight_aws.store.postgres import PostgresStore
from tests.conftest import Dose
from tests.support.consolidation import Workshop, creates, updates
from tests.support.database import Database

Beliefs = set[tuple[str, frozenset[UUID]]]
"""What is believed, with the facts that it rests on, a fact on itself."""


class _World:
    """A bank, and beside it the beliefs of every moment as they should be told."""

    def __init__(self, workshop: Workshop, chance: random.Random) -> None:
        self.shop, self.chance = workshop, chance
        workshop.embedder.same = True
        self.now: dict[UUID, tuple[str, frozenset[UUID]]] = {}
        self.moments: list[tuple[datetime, Beliefs]] = []
        self.told = 0

    def live(self) -> None:
        """Lets one thing happen, and notes what is believed since."""
        observations = [of for of, (text, _) in self.now.items() if text.startswith("belief")]
        facts = [of for of in self.now if of not in observations]
        way = self.chance.choice(["learn", "learn", "believe", "reword", "reword", "forget"])
        if way == "reword" and observations:
            self._reword(self.chance.choice(observations))
        elif way == "forget" and facts:
            self._forget(self.chance.choice(facts))
        elif way == "learn":
            self._learn(leaves_it=True)
        else:
            self._believe()
        at = self.shop.sql("SELECT clock_timestamp() AS at")[0]["at"]
        self.moments.append((at, set(self.now.values())))

    def _learn(self, *, leaves_it: bool = False) -> UUID:
        self.told += 1
        (fact,) = self.shop.remember(text := f"kettle fact {self.told}")
        self.now[fact] = text, frozenset({fact})
        if leaves_it:
            self.shop.answers({"skipped": [{"fact_id": str(fact), "reason": "not durable"}]})
            self.shop.drain()
        return fact

    def _believe(self) -> None:
        fact = self._learn()
        self.shop.answers(creates((text := f"belief {self.told} about a kettle", [fact])))
        known = {row["id"] for row in self.shop.observations()}
        self.shop.drain()
        (made,) = {row["id"] for row in self.shop.observations()} - known
        self.now[made] = text, frozenset({fact})

    def _reword(self, observation: UUID) -> None:
        fact = self._learn()
        text = f"belief {self.told} of the kettle, reworded"
        self.shop.answers(updates(observation, text, [fact]))
        self.shop.drain()
        self.now[observation] = text, self.now[observation][1] | {fact}

    def _forget(self, fact: UUID) -> None:
        with self.shop.store.transaction(self.shop.tenant) as tx:
            tx.memories.remove(self.shop.bank_id, [UnitId(fact)])
        self.now = {of: belief for of, belief in self.now.items() if fact not in belief[1]}
        for _, believed in self.moments:
            believed -= {belief for belief in believed if fact in belief[1]}
        # What rested on it waits to be believed anew; here it is let go.
        self.shop.sql("UPDATE consolidation_work SET state = 'done', done_at = now() WHERE state = 'pending'")

    def told_of(self, at: datetime | None) -> list[str]:
        """What recall says was believed at the moment."""
        query = RecallQuery("kettle", max_tokens=100_000, times=TimeFilter(as_of=at))
        asker = Principal(self.shop.tenant, "me")
        answer = recall(
            self.shop.store, self.shop.embedder, self.shop.settings, asker, "bank", query, clock=SystemClock()
        )
        return sorted(result.unit.text for result in answer.results)


def test_every_moment_is_told_as_it_was(
    database: Database, tenant: TenantId, store: PostgresStore, dose: Dose, seed: int
) -> None:
    shop = Workshop(database, tenant, store, hindsight_api_consolidation_dedup_threshold=1.0)
    world = _World(shop, random.Random(seed))

    for _ in range(16 if dose == "small" else 100):
        world.live()

    for at, believed in world.moments:
        assert world.told_of(at) == sorted(text for text, _ in believed)
    assert world.told_of(None) == sorted(text for text, _ in world.now.values())
