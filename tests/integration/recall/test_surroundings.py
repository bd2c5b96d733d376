"""What stands next to a hit, over Postgres."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import psycopg

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.recall import RecallQuery
from tests.support.database import Database
from tests.support.recalling import EAST, NORTH, Asking
from tests.support.units import Unit, insert_units


def test_the_turn_after_a_hit_comes_before_what_is_as_far_from_the_question(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    near = [Unit(f"Remark {number} of the day", vector=(0.4, 0.6, 0.0), document="notes", chunk_index=number)
            for number in range(12)]  # fmt: skip
    talk = [
        Unit("And where did the kettle go?", vector=NORTH, document="talk", chunk_index=6),
        Unit("To the attic, I believe", vector=(0.4, 0.6, 0.0), document="talk", chunk_index=7),
    ]
    insert_units(database.admin_url, tenant, bank, [*near, *talk])

    answer = asking.ask("where is the kettle")

    assert [result.unit.text for result in answer.results[:2]] == [unit.text for unit in talk]


def test_facts_of_one_chunk_stand_as_far_apart_as_their_places(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    facts = [Unit(f"Point {number} of the plan", vector=EAST, document="plan", chunk_index=0) for number in range(8)]
    hit = replace(facts[0], text="The kettle is in the plan", vector=NORTH)
    insert_units(database.admin_url, tenant, bank, [hit, *facts[1:]])
    with psycopg.connect(database.admin_url) as admin:
        for place, unit in enumerate([hit, *facts[1:]]):
            admin.execute("UPDATE hindsight.memory_units SET ordinal = %s WHERE id = %s", (place, unit.id))

    answer = asking.ask("kettle plan")

    assert [result.unit.text for result in answer.results[:5]] == [hit.text, *(unit.text for unit in facts[1:5])]


def test_a_question_about_a_day_prefers_what_lies_in_it(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    day = datetime(2026, 3, 5, tzinfo=UTC)
    then = Unit("Tea was served at the fair", vector=(0.9, 0.436, 0.0), occurred_start=day, occurred_end=day)
    other = Unit("Tea was served at the fair again", vector=NORTH, occurred_start=day.replace(day=9))
    insert_units(database.admin_url, tenant, bank, [then, other])

    answer = asking.ask(RecallQuery("what was served on March 5, 2026?", now=datetime(2026, 3, 11, tzinfo=UTC)))

    assert [result.unit.id for result in answer.results] == [then.id, other.id]
