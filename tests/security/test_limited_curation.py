"""Keys that see part of a bank correct what they see, and move nothing out of their own sight or into another's."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg
import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_key
from tests.support.database import Database
from tests.support.seed import fingerprint
from tests.support.units import Unit, insert_units, make_bank

BANK = "/v1/default/banks/firm"
OF_ANN = {"tags": ["user:ann"], "match": "any_strict"}


@dataclass(frozen=True, slots=True)
class Firm:
    """Facts of two people, one of them consolidated for the whole company as well."""

    database: Database
    handler: LambdaHandler
    owner_store: PostgresStore
    tenant: TenantId
    of_ann: UUID
    of_bob: UUID
    shared: UUID
    observation: UUID

    def key(self, **limits: object) -> Caller:
        return Caller(self.handler, make_key(self.owner_store, self.tenant, **limits))


@pytest.fixture(scope="module")
def firm(
    module_database: Database, owner_store: PostgresStore, handler: LambdaHandler, module_tenant: TenantId
) -> Firm:
    bank_id = make_bank(module_database.admin_url, module_tenant, "firm")
    of_ann, of_bob, shared, observation = uuid4(), uuid4(), uuid4(), uuid4()
    insert_units(
        module_database.admin_url,
        module_tenant,
        bank_id,
        [
            Unit("Ann rows.", id=of_ann, tags=("user:ann",), vector=[1.0]),
            Unit("Bob swims.", id=of_bob, tags=("user:bob",), vector=[1.0]),
            Unit("Ann leads.", id=shared, tags=("user:ann", "company"), vector=[1.0]),
            Unit("People row.", "observation", observation, tags=("company",), sources=(of_ann,), vector=[1.0]),
        ],
    )
    with psycopg.connect(module_database.admin_url, autocommit=True) as admin:
        admin.execute("SET search_path = hindsight, public")
        admin.execute(
            "UPDATE memory_units SET observation_scopes = '[[\"company\"]]' WHERE id = %s",
            (shared,),
        )
    return Firm(module_database, handler, owner_store, module_tenant, of_ann, of_bob, shared, observation)


CORRECTIONS: tuple[dict[str, object], ...] = (
    {"text": "Changed."},
    {"state": "invalidated"},
    {"state": "valid"},
    {"entities": []},
)


@pytest.mark.parametrize("body", CORRECTIONS)
def test_what_a_key_does_not_see_is_not_there_to_be_corrected(firm: Firm, body: dict[str, object]) -> None:
    before = fingerprint(firm.database, firm.tenant)
    keys = [
        firm.key(forced_tags=OF_ANN),
        firm.key(fact_types=frozenset({"experience"})),
        firm.key(exact_scopes=(("company",),)),
    ]

    answers = [key("PATCH", f"{BANK}/memories/{firm.of_bob}", body) for key in keys]
    deleted = [key("DELETE", f"{BANK}/memories/{firm.of_bob}") for key in keys]
    unknown = keys[0]("PATCH", f"{BANK}/memories/{uuid4()}", body)

    assert [answer.status for answer in (*answers, *deleted)] == [404] * 6
    assert "Bob" not in "".join(answer.body.decode() for answer in (*answers, *deleted))
    assert unknown.status == 404
    assert _unchanged(before, fingerprint(firm.database, firm.tenant))


def test_a_key_that_sees_observations_alone_edits_and_deletes_none(firm: Firm) -> None:
    company = firm.key(exact_scopes=(("company",),))

    answers = [company("PATCH", f"{BANK}/memories/{firm.observation}", body) for body in CORRECTIONS[:2]]
    deleted = company("DELETE", f"{BANK}/memories/{firm.observation}")
    cleared = company("DELETE", f"{BANK}/memories/{firm.of_ann}/observations")

    assert [answer.status for answer in (*answers, deleted)] == [400, 400, 400]
    assert cleared.json() == {"deleted_count": 0}


def test_a_fact_whose_scope_a_key_does_not_see_is_not_its_to_correct(firm: Firm) -> None:
    """Else one person's key would end what the company believes."""
    ann = firm.key(forced_tags={"tags": ["user:ann"], "match": "exact"})
    wide = firm.key(forced_tags=OF_ANN)

    answers = [wide("PATCH", f"{BANK}/memories/{firm.shared}", body) for body in CORRECTIONS[:2]]
    cleared = wide("DELETE", f"{BANK}/memories/{firm.shared}/observations")
    deleted = wide("DELETE", f"{BANK}/memories/{firm.shared}")

    assert [answer.status for answer in answers] == [403, 403]
    assert cleared.status == deleted.status == 403
    assert ann("PATCH", f"{BANK}/memories/{firm.shared}", CORRECTIONS[0]).status == 404


def test_a_key_for_one_type_moves_no_fact_into_another(firm: Firm) -> None:
    worldly = firm.key(fact_types=frozenset({"world", "observation"}))

    answer = worldly("PATCH", f"{BANK}/memories/{firm.of_ann}", {"fact_type": "experience"})

    assert answer.status == 403
    assert firm.key()("GET", f"{BANK}/memories/{firm.of_ann}").json()["type"] == "world"


@pytest.mark.parametrize("permission", [Permission.READ, Permission.WRITE])
def test_a_correction_needs_the_right_to_write_and_to_see(firm: Firm, permission: Permission) -> None:
    half = firm.key(permissions=frozenset({permission}))

    answers = [
        half("PATCH", f"{BANK}/memories/{firm.of_ann}", {"text": "Changed."}),
        half("DELETE", f"{BANK}/memories/{firm.of_ann}/observations"),
        half("DELETE", f"{BANK}/memories/{firm.of_ann}"),
    ]

    assert [answer.status for answer in answers] == [403, 403, 403]
    assert "rows" not in answers[0].body.decode()


@pytest.mark.parametrize("path", ["/memories", "/memories?type=world", "/observations"])
@pytest.mark.parametrize(
    "limit",
    [{"forced_tags": OF_ANN}, {"fact_types": frozenset({"world"})}, {"exact_scopes": (("company",),)}],
    ids=["tags", "types", "scopes"],
)
def test_a_key_that_sees_part_of_a_bank_clears_none_of_it(firm: Firm, path: str, limit: dict[str, object]) -> None:
    before = fingerprint(firm.database, firm.tenant)

    answer = firm.key(**limit)("DELETE", f"{BANK}{path}")

    assert answer.status == 403
    assert _unchanged(before, fingerprint(firm.database, firm.tenant))


def test_a_persons_key_corrects_the_persons_fact(firm: Firm) -> None:
    ann = firm.key(forced_tags=OF_ANN)

    edited = ann("PATCH", f"{BANK}/memories/{firm.of_ann}", {"text": "Ann sails."})

    assert (edited.status, edited.json()["text"], edited.json()["tags"]) == (200, "Ann sails.", ["user:ann"])


def _unchanged(before: dict[str, tuple[int, str | None]], after: dict[str, tuple[int, str | None]]) -> bool:
    """Whether nothing but the keys of the test itself has changed."""
    return {**before, "api_keys": (0, None)} == {**after, "api_keys": (0, None)}
