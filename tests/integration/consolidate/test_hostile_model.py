"""A model that errs in every way costs no observation and no fact, and is never reported as success."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.consolidate.submit import submit
from hindsight_aws.model.ids import BankId
from hindsight_aws.model.principal import Principal
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.conftest import Dose
from tests.support.consolidation import Workshop, creates
from tests.support.database import Database, make_tenant
from tests.support.hostile import HostileModel, Response, broken_answer, judgement, revision, shown_in, uses
from tests.support.invariants import broken

MOST_CALLS_PER_FACT = 8
"""Four sizes down to alone, two looks, one after a refused delete, one when read again."""
HERE, THERE = "user:here", "user:there"


class Trial:
    """A scope with observations and pending facts, another beside it, and a model that errs by a seed."""

    def __init__(self, workshop: Workshop, seed: str) -> None:
        self.shop, self.chance = workshop, random.Random(seed)
        self._fill(HERE, self.chance.randint(0, 3))
        self._fill(THERE, 1)
        self.there = workshop.observations(THERE)
        self.strangers = [str(row["id"]) for row in self.there]
        self.facts = workshop.remember(*self._sayings(self.chance.choice([1, 1, 2, 3, 5, 9])), tags=[HERE])
        self.before = self.evidence(HERE)
        self.model = HostileModel(self._reply)

    def _fill(self, tag: str, count: int) -> None:
        if count:
            facts = self.shop.remember(*[f"Old fact {place} of {tag}." for place in range(count)], tags=[tag])
            self.shop.answers(creates(*[(f"Old belief {place} of {tag}.", [fact]) for place, fact in enumerate(facts)]))
            self.shop.drain(tag)

    def _sayings(self, count: int) -> list[str]:
        return [f"Fact {self.chance.randrange(6)} is said, the {place}." for place in range(count)]

    def _reply(self, call: ModelCall) -> Response:
        shown = shown_in(call, self.strangers)
        sound = revision(self.chance, shown) if call.task == "consolidate" else judgement(self.chance)
        return broken_answer(self.chance, call, sound) if self.chance.random() < 0.3 else uses(call, sound)

    def run(self) -> str:
        """Asks for consolidation by hand and drains; how the operation ended."""
        self.shop.model = self.model  # type: ignore[assignment]  # another model with the same promise
        asked = submit(self.shop.ports, Principal(self.shop.tenant, "tester"), self._bank_name(), None)
        self.shop.drain(HERE)
        (operation,) = self.shop.sql("SELECT status FROM operations WHERE operation_id = %s", asked.operation_id)
        return str(operation["status"])

    def _bank_name(self) -> str:
        (bank,) = self.shop.sql("SELECT external_id FROM banks WHERE bank_id = %s", self.shop.bank_id)
        return str(bank["external_id"])

    def evidence(self, tag: str) -> dict[UUID, set[UUID]]:
        """Facts by the observation they support."""
        return {row["id"]: {UUID(fact) for fact in row["evidence"]} for row in self.shop.observations(tag)}

    def lost_observations(self) -> list[UUID]:
        """Observations that ended without an heir that stands and holds their evidence."""
        now = self.evidence(HERE)
        return [old for old, facts in self.before.items() if not self._lives_on(old, facts, now)]

    def _lives_on(self, old: UUID, facts: set[UUID], now: dict[UUID, set[UUID]]) -> bool:
        if old in now:
            return now[old] >= facts
        (end,) = self.shop.sql(
            "SELECT kind, merged_into FROM observation_revisions WHERE observation_id = %s "
            "ORDER BY sequence DESC LIMIT 1",
            old,
        )
        return end["kind"] == "merge" and self._lives_on(end["merged_into"], facts, now)

    def unaccounted_facts(self) -> list[str]:
        """Facts that are gone, still open, or done without a reason that the model's replies give."""
        work = self.shop.work()
        supported = set().union(*self.evidence(HERE).values())
        return [
            f"{fact}: {work.get(fact)}"
            for fact in self.facts
            if not self._is_accounted(fact, work.get(fact, []), supported)
        ]

    def _is_accounted(self, fact: UUID, rows: list[tuple[str, str | None]], supported: set[UUID]) -> bool:
        match rows:
            case [("failed", None)]:
                return True
            case [("done", "not_durable")]:
                return self._was_let_go(fact)
            case [("done", "created" | "updated" | "evidence" | "multiple" | "merged")]:
                return fact in supported
        return False

    def _was_let_go(self, fact: UUID) -> bool:
        for call, document in self.model.heard:
            if call.task == "consolidate" and document is not None:
                shown = shown_in(call)
                is_alone = list(shown.facts) == [str(fact)]
                if is_alone or any(str(fact)[:13] in str(entry).lower() for entry in _listed(document.get("skipped"))):
                    return True
        return False


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


@pytest.fixture
def new_shop(database: Database, store: PostgresStore) -> Callable[[], Workshop]:
    """Makes one tenant's bank after another on the test's database."""
    return lambda: Workshop(database, make_tenant(database), store)


@pytest.mark.timeout(900)
def test_no_reply_costs_an_observation_or_a_fact_or_passes_for_success(
    new_shop: Callable[[], Workshop], database: Database, dose: Dose, seed: int
) -> None:
    trials = 60 if dose == "small" else 500
    banks: list[BankId] = []
    ended: dict[str, int] = {}
    with psycopg.connect(database.admin_url, row_factory=dict_row, autocommit=True) as rows:
        rows.execute("SET search_path = hindsight, public")
        for number in range(trials):
            name = f"{seed}/{number}"
            shop = new_shop()
            shop.rows = rows
            banks.append(shop.bank_id)
            trial = Trial(shop, name)

            status = trial.run()

            states = [state for found in trial.shop.work().values() for state, _ in found]
            calls = [repr((call.task, call.system, call.blocks)) for call in trial.model.calls]
            ended[status] = ended.get(status, 0) + 1
            assert trial.lost_observations() == [], name
            assert trial.unaccounted_facts() == [], name
            assert status == ("failed" if "failed" in states else "completed"), name
            assert trial.shop.observations(THERE) == trial.there, name
            assert len(set(calls)) == len(calls), name
            assert len(trial.model.asked("consolidate")) <= MOST_CALLS_PER_FACT * len(trial.facts), name
        assert broken(rows, banks) == []
    assert ended.keys() == {"completed", "failed"}, ended
