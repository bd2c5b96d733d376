"""No text of one scope reaches a prompt, an edit or a merge of another, however a model tries to mix them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.conftest import Dose
from tests.support.consolidation import Workshop
from tests.support.database import Database, make_tenant
from tests.support.hostile import shown_in
from tests.support.invariants import broken

SCOPES: tuple[tuple[str, ...], ...] = (
    (), ("user:a",), ("user:b",), ("team:x",), ("team:x", "user:a"), ("company:c", "team:x", "user:a"),
)  # fmt: skip
_MARK = re.compile(r"mark\d+")


@dataclass
class World:
    """A bank in which each fact carries a mark of its own, and a note of the scopes in which the mark may be seen."""

    shop: Workshop
    chance: random.Random
    allowed: dict[tuple[str, ...], set[str]] = field(default_factory=lambda: {scope: set() for scope in SCOPES})
    every_id: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    marks: int = 0

    def remember(self) -> list[tuple[str, ...]]:
        """A fact in one scope or several, worded like its neighbours but for its mark; its scopes."""
        scopes = self.chance.sample(SCOPES, self.chance.choice([1, 1, 2, 3]))
        mark = f"mark{self.marks}"
        self.marks += 1
        (fact,) = self.shop.remember(f"The garden of {mark} is green.", scopes=scopes)
        self.every_id.append(str(fact))
        for scope in scopes:
            self.allowed[scope].add(mark)
        return scopes

    def drain(self, scope: tuple[str, ...]) -> None:
        """Works the scope off, watching every word the model is shown."""
        self.shop.answers(lambda call: self._answer(scope, call), judge=[{"action": "merge"}, {"action": "keep"}])
        self.shop.drain(*scope)
        self.every_id += [str(row["id"]) for row in self.shop.observations(*scope)]
        for call in self.shop.model.calls:
            self._watch(scope, f"a {call.task} prompt", call.blocks)

    def _answer(self, scope: Sequence[str], call: ModelCall) -> JsonObject:
        """Tells what it is shown, and aims at whatever id it has ever heard of."""
        shown = shown_in(call)
        heard = [*shown.observations, *shown.facts, *self.chance.sample(self.every_id, min(4, len(self.every_id)))]
        said = " ".join(sorted(set(_MARK.findall(" ".join(call.blocks))))) or "nothing"

        def aim() -> str:
            return self.chance.choice(heard)

        creates: list[JsonValue] = [
            {"text": f"The gardens of {said} are green.", "source_fact_ids": [*shown.facts, aim()]}
            for _ in range(self.chance.randrange(2))
        ]
        updates: list[JsonValue] = [
            {"observation_id": aim(), "text": f"Now {said} is green.", "source_fact_ids": [*shown.facts, aim()]}
            for _ in range(self.chance.randrange(3))
        ]
        deletes: list[JsonValue] = [
            {"observation_id": aim(), "merged_into": aim()} for _ in range(self.chance.randrange(3))
        ]
        return {"creates": creates, "updates": updates, "deletes": deletes}

    def inspect(self) -> None:
        """Looks at every observation, quote and revision of every scope."""
        for scope in SCOPES:
            rows = self.shop.sql(
                "SELECT r.text, r.evidence::text AS evidence FROM observation_revisions r "
                "JOIN scopes s USING (bank_id, scope_id) WHERE r.bank_id = %s AND s.tags = %s",
                self.shop.bank_id,
                list(scope),
            )
            for row in rows:
                self._watch(scope, "a revision", [row["text"], row["evidence"]])

    def _watch(self, scope: Sequence[str], where: str, texts: Sequence[str]) -> None:
        foreign = set(_MARK.findall(" ".join(texts))) - self.allowed[tuple(scope)]
        if foreign:
            self.leaks.append(f"{where} of {list(scope)} holds {sorted(foreign)}")


@pytest.mark.timeout(1_800)
def test_no_text_of_one_scope_reaches_another(database: Database, store: PostgresStore, dose: Dose, seed: int) -> None:
    worlds = 100 if dose == "small" else 2_000
    banks: list[BankId] = []
    with psycopg.connect(database.admin_url, row_factory=dict_row, autocommit=True) as rows:
        rows.execute("SET search_path = hindsight, public")
        for number in range(worlds):
            chance = random.Random(f"{seed}/{number}")
            world = World(Workshop(database, make_tenant(database), store), chance)
            world.shop.embedder.same = chance.random() < 0.5
            world.shop.rows = rows

            for _ in range(2):
                waiting = {scope for _ in range(chance.randint(1, 2)) for scope in world.remember()}
                for scope in sorted(waiting):
                    world.drain(scope)
            world.inspect()

            banks.append(world.shop.bank_id)
            assert world.leaks == [], f"{seed}/{number}"
        assert broken(rows, banks) == []
        (written,) = rows.execute("SELECT count(*) AS revisions FROM observation_revisions").fetchall()
    assert written["revisions"] > worlds
