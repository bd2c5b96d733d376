"""Operations that older clients still call, and those that are served no more or never."""

from __future__ import annotations

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_caller, make_services

BANK = "/v1/default/banks/old"


@pytest.fixture
def client(module_store: PostgresStore, module_tenant: TenantId) -> Caller:
    return make_caller(make_services(module_store, module_tenant))


def test_a_disposition_is_set_and_the_profile_shown(client: Caller) -> None:
    client("PUT", BANK, {"mission": "You look after bees."})
    traits = {"skepticism": 5, "literalism": 1, "empathy": 2}

    answer = client("PUT", f"{BANK}/profile", {"disposition": traits})

    assert answer.status == 200
    assert answer.json()["disposition"] == traits
    assert answer.json() == client("GET", f"{BANK}/profile").json()
    assert answer.json()["mission"] == "You look after bees."


def test_background_is_added_to_the_mission_once(client: Caller) -> None:
    client("PUT", BANK, {"mission": "You look after bees."})

    client("POST", f"{BANK}/background", {"content": " You were born in Oslo. "})
    answer = client("POST", f"{BANK}/background", {"content": " You were born in Oslo. "})

    assert answer.status == 200
    assert answer.json()["mission"] == answer.json()["background"] == "You look after bees.\nYou were born in Oslo."


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "profile", {"disposition": {"skepticism": 5, "literalism": 1, "empathy": 2}}),
        ("POST", "background", {"content": "You were born in Oslo."}),
    ],
)
def test_neither_makes_a_bank(client: Caller, method: str, path: str, body: object) -> None:
    answer = client(method, f"/v1/default/banks/nobody/{path}", body)

    assert (answer.status, answer.json()) == (404, {"detail": "Bank 'nobody' not found"})


@pytest.mark.parametrize(
    ("path", "status", "named"),
    [
        ("document-transfer", 410, "removed"),
        ("attachments/0123456789ab", 501, "Attachments"),
        ("llm-requests", 501, "log of model requests"),
        ("llm-requests/stats", 501, "log of model requests"),
    ],
)
def test_what_is_not_served_says_so(client: Caller, path: str, status: int, named: str) -> None:
    client("PUT", BANK, {})

    answer = client("GET", f"{BANK}/{path}")

    assert answer.status == status
    assert named in answer.json()["detail"]
