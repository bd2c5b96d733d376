"""No text of one scope reaches a prompt, an edit, a merge or a reader of another, however a model tries to mix them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import psycopg
import pytest
from psycopg.rows import dict_row

from hindsight_aws.model.ids import BankId
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue, ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.conftest import Dose
from tests.support.api import UNSET, Caller, make_caller, make_key, make_services
from tests.support.consolidation import Workshop
from tests.support.database import Database, make_tenant
from tests.support.hostile import shown_in
from tests.support.invariants import broken

SCOPES: tuple[tuple[str, ...], ...] = (
    (), ("user:a",), ("user:b",), ("team:x",), ("team:x", "user:a"), ("company:c", "team:x", "user:a"),
)  # fmt: skip
_MARK = re.compile(r"mark\d+")
BANK = "/v1/default/banks/bank"


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

    def read(self, ask: Caller, scopes: Sequence[tuple[str, ...]], requests: int) -> int:
        """Recalls, and makes so many other requests, with a key that may read these scopes; how many marks it is told.

        Requests are drawn anew in each world: over them all, whatever a reader can ask is asked many times.
        """
        allowed = set[str]().union(*(self.allowed[scope] for scope in scopes))
        others = self.chance.sample(self.every_id, min(3, len(self.every_id)))
        own = [str(row["id"]) for scope in scopes if self.allowed[scope] for row in self.shop.observations(*scope)]
        told = 0
        recall, *rest = _asked([*own[:2], *others])
        for method, path, body in [recall, *self.chance.sample(rest, min(requests, len(rest)))]:
            answer = ask(method, path, body)
            if answer.status >= 500:
                self.leaks.append(f"{method} {path}: {answer.status}")
            marks = _MARK.findall(answer.body.decode())
            told += len(marks)
            if not set(marks) <= allowed:
                self.leaks.append(f"{method} {path} tells {list(scopes)} of {sorted(set(marks) - allowed)}")
        return told

    def _watch(self, scope: Sequence[str], where: str, texts: Sequence[str]) -> None:
        foreign = set(_MARK.findall(" ".join(texts))) - self.allowed[tuple(scope)]
        if foreign:
            self.leaks.append(f"{where} of {list(scope)} holds {sorted(foreign)}")


def _asked(memories: Sequence[str]) -> Iterator[tuple[str, str, object]]:
    """Requests for whatever a reader can ask about a bank and these memories of it."""
    everything = {"chunks": {}, "source_facts": {}, "entities": {}, "evidence": True}
    query = {"query": "Which gardens are green?", "trace": True, "include": everything}
    yield "POST", f"{BANK}/memories/recall", query
    yield "POST", f"{BANK}/memories/recall", {**query, "types": ["observation"]}
    yield "POST", f"{BANK}/consolidation-strategies/preview", {"strategies": [], "sample_limit": 50}
    for path in ("memories/list?limit=100", "stats", "observations/scopes?include_pending=true", "consolidation/runs"):
        yield "GET", f"{BANK}/{path}", UNSET
    for memory in memories:
        yield "GET", f"{BANK}/memories/{memory}", UNSET
        yield "GET", f"{BANK}/memories/{memory}/history", UNSET


def _some_key(chance: random.Random) -> tuple[dict[str, object], list[tuple[str, ...]]]:
    """What limits a key, and the scopes that it leaves: an exact one, or those that bear a tag."""
    if chance.random() < 0.6:
        scope = chance.choice(SCOPES)
        return {"exact_scopes": (frozenset(scope),)}, [scope]
    tag = chance.choice(["user:a", "team:x"])
    return {"forced_tags": {"tags": [tag], "match": "any_strict"}}, [scope for scope in SCOPES if tag in scope]


@pytest.fixture
def owner(database: Database) -> Iterator[PostgresStore]:
    """The store as whoever administers the database sees it: it alone can make keys."""
    opened = PostgresStore(lambda: f"{database.owner_url}&options=-csearch_path%3Dhindsight,public", connect_for_s=30.0)
    yield opened
    opened.close()


@pytest.mark.timeout(1_800)
def test_no_text_of_one_scope_reaches_another(
    database: Database, store: PostgresStore, owner: PostgresStore, dose: Dose, seed: int
) -> None:
    """Case [C023]. No call shows facts of two scopes; no reader of some is told of others."""
    worlds, requests = (100, 5) if dose == "small" else (2_000, 100)
    handler = make_caller(make_services(store, None)).handler
    banks: list[BankId] = []
    told = 0
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
            limits, readable = _some_key(chance)
            told += world.read(Caller(handler, make_key(owner, world.shop.tenant, **limits)), readable, requests)

            banks.append(world.shop.bank_id)
            assert world.leaks == [], f"{seed}/{number}"
        assert broken(rows, banks) == []
        (written,) = rows.execute("SELECT count(*) AS revisions FROM observation_revisions").fetchall()
    assert written["revisions"] > worlds
    assert told > worlds
