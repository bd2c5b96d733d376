"""A limited key's reflect: nothing it may not see reaches the model, the answer, the trace, or the rows of the run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import psycopg
import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagLeaf
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.pages import put_page
from tests.support.reflect import Rig, Said, done, make_rig, uses
from tests.support.units import Unit

COMPANY = frozenset({"company"})
FACT = Unit(
    "Teams ship on Fridays, said CANARYFACT.", tags=("company",), context="CANARYCONTEXT", document="CANARYNAME",
    chunk_index=0, entities=("CANARYENTITY",), metadata={"from": "CANARYMETA"},
)  # fmt: skip
OTHER = Unit(
    "Teams ship on Mondays, said ALIENFACT.", tags=("user:bea",), document="ALIENNAME", chunk_index=0,
    entities=("ALIENENTITY",),
)  # fmt: skip
BELIEF = Unit("Teams ship on Fridays.", "observation", tags=("company",), sources=(FACT.id, OTHER.id))
ALIEN = Unit("Teams ship whenever ALIENBELIEF ships.", "observation", tags=("user:bea",), sources=(OTHER.id,))
ASKED = ReflectRequest(
    "When do teams ship?", shows_facts=True, shows_evidence=True, shows_tool_calls=True, shows_tool_output=True
)
BENEATH = ("CANARYFACT", "CANARYCONTEXT", "CANARYNAME", "CANARYENTITY", "CANARYMETA", "CANARYTEXT", "CANARYPAGE")
ALIENS = ("ALIENFACT", "ALIENNAME", "ALIENENTITY", "ALIENBELIEF", "ALIENTEXT", "ALIENPAGE")


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


@dataclass
class Seen:
    """Everything that a run showed or wrote."""

    rig: Rig
    told: list[str] = field(default_factory=list)

    def look(self, call: ModelCall | None = None) -> None:
        """Keeps the call as it went out, and the rows of every run as they stand."""
        if call is not None:
            self.told += [call.system, *call.blocks, repr(call.history)]
        with psycopg.connect(self.rig.database.admin_url) as admin:
            for table in ("reflect_runs", "reflect_steps"):
                statement = (
                    f"SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]')::text FROM hindsight.{table} t WHERE tenant_id = %s"
                )
                self.told += [str(row[0]) for row in admin.execute(statement.encode(), (self.rig.tenant,))]


def tries_everything(seen: Seen) -> list[object]:
    """A model that uses every tool on every id it could know, and then cites all of it."""
    ids = ["o1", "o2", "f1", "f2", "p1", "c1", *(str(one.id) for one in (FACT, OTHER, BELIEF, ALIEN))]
    asked: JsonObject = {"reason": "r", "query": "CANARY ALIEN teams ship"}
    said: list[tuple[str, JsonObject]] = [
        ("recall", {**asked, "max_chunk_tokens": 16_000}),
        ("search_observations", asked),
        ("search_mental_models", asked),
        ("read_mental_models", {"reason": "r", "mental_model_ids": ["p1", "company", "bea"]}),
        ("expand", {"reason": "r", "memory_ids": [*ids], "depth": "chunk"}),
        ("expand", {"reason": "r", "memory_ids": [*ids], "depth": "document"}),
    ]

    def tries(call: ModelCall) -> Said:
        seen.look(call)
        return uses(*said)

    def ends(call: ModelCall) -> Said:
        seen.look(call)
        return done("On Fridays.", *ids)

    return [tries, ends]


@pytest.mark.parametrize(
    ("limits", "hidden", "shown"),
    [
        pytest.param({"exact_scopes": frozenset({COMPANY})}, (*BENEATH, *ALIENS), (), id="exact-scopes"),
        pytest.param({"fact_types": frozenset({"observation"})}, (*BENEATH, *ALIENS[:3], *ALIENS[4:]), (), id="types"),
        pytest.param({"forced_tags": TagLeaf(COMPANY)}, ALIENS, ("CANARYFACT", "CANARYPAGE", "CANARYTEXT"), id="tags"),
    ],
)
def test_nothing_out_of_sight_leaves_a_reflect_nor_is_kept_with_it(
    database: Database,
    store: PostgresStore,
    tenant: TenantId,
    limits: dict[str, object],
    hidden: tuple[str, ...],
    shown: tuple[str, ...],
) -> None:
    rig = make_rig(database, store, tenant)
    seen = Seen(rig)
    rig.model.replies = tries_everything(seen)  # type: ignore[assignment]  # replies by what they are asked
    rig.remember(FACT, OTHER, BELIEF, ALIEN)
    put_page(rig, "company", "CANARYPAGE: teams ship.", ["company"])
    put_page(rig, "bea", "ALIENPAGE: teams ship.", ["user:bea"])
    with psycopg.connect(database.admin_url) as admin:
        admin.execute(
            "UPDATE hindsight.documents SET original_text = left(external_id, -4) || 'TEXT' WHERE tenant_id = %s",
            (tenant,),
        )

    answer = rig.answer(ASKED, Principal(tenant, "key", **limits))  # type: ignore[arg-type]  # one limit at a time

    seen.look()
    seen.told.append(json.dumps(answer))
    everything = "\n".join(seen.told).replace(json.dumps("CANARY ALIEN teams ship"), "")
    assert [word for word in hidden if word in everything] == []
    assert [word for word in shown if word not in everything] == []
    assert str(BELIEF.id) in json.dumps(answer)
    assert answer["withheld"] == (1 if "forced_tags" in limits else 2)


def test_a_key_of_exact_scopes_has_the_tools_of_observations_alone(
    database: Database, store: PostgresStore, tenant: TenantId
) -> None:
    rig = make_rig(database, store, tenant, done("On Fridays.", "o1"))
    rig.remember(FACT, OTHER, BELIEF)
    put_page(rig, "company", "CANARYPAGE: teams ship.", ["company"])

    rig.answer(ASKED, Principal(tenant, "key", exact_scopes=frozenset({COMPANY})))

    assert [tool.name for tool in rig.model.calls[0].tools if tool.name not in ("done", "answer_ready")] == [
        "search_observations"
    ]
