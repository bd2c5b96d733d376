"""Every route answers ids of another tenant as ids of nothing at all.  A new route: a row in tests/support/calls.py."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_caller, make_key, make_services
from tests.support.calls import NO_IDS, TABLE, WRONG_VERBS, anonymous, ask, every_route, ids_of, unknown_ids
from tests.support.database import Database, make_tenant
from tests.support.seed import Seeded, fingerprint, seed_bank


@dataclass(frozen=True, slots=True)
class Scene:
    """A victim with one of everything, and an attacker of another tenant with a bank of their own."""

    database: Database
    victim: Seeded
    own: Seeded
    attacker: Caller


@pytest.fixture(scope="module")
def victim(module_database: Database) -> Seeded:
    return seed_bank(module_database, make_tenant(module_database, "victim"), "bank-of-victim", "Xanthippe")


@pytest.fixture(scope="module")
def handler(module_store: PostgresStore, victim: Seeded) -> LambdaHandler:
    """The API, of which the victim's archive lies in the bucket: it could be had."""
    services = make_services(module_store, None)
    services.stored.objects[victim.archive] = b"Xanthippe"
    return make_caller(services).handler


@pytest.fixture
def scene(module_database: Database, owner_store: PostgresStore, handler: LambdaHandler, victim: Seeded) -> Scene:
    attacker = make_tenant(module_database, "attacker")
    own = seed_bank(module_database, attacker, "bank-of-attacker", "Yorick")
    caller = Caller(handler, make_key(owner_store, attacker))
    return Scene(module_database, victim, own, caller)


def test_every_route_has_a_row_in_the_table() -> None:
    assert every_route() == set(TABLE) | NO_IDS | WRONG_VERBS


@pytest.mark.parametrize("route", TABLE)
def test_another_tenants_bank_answers_as_a_bank_that_is_not_there(scene: Scene, route: str) -> None:
    before = fingerprint(scene.database, scene.victim.tenant)
    foreign, unknown = ids_of(scene.victim), unknown_ids()

    answers = [anonymous(ask(scene.attacker, route, ids), ids) for ids in (foreign, unknown)]

    assert answers[0] == answers[1]
    assert "Xanthippe" not in str(answers[0])
    assert fingerprint(scene.database, scene.victim.tenant) == before


@pytest.mark.parametrize("route", [route for route in TABLE if "{" in route.replace("{bank_id}", "")])
def test_another_tenants_things_in_ones_own_bank_answer_as_things_that_are_not_there(scene: Scene, route: str) -> None:
    before = fingerprint(scene.database, scene.victim.tenant)
    foreign = ids_of(scene.victim) | {"bank_id": scene.own.bank}
    unknown = unknown_ids() | {"bank_id": scene.own.bank}

    answers = [anonymous(ask(scene.attacker, route, ids), ids) for ids in (foreign, unknown)]

    assert answers[0] == answers[1]
    assert fingerprint(scene.database, scene.victim.tenant) == before
