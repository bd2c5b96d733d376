"""One fact, three scopes, two missions: the company's key finds the detail nowhere, whatever it asks."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote

import pytest
from fastapi.routing import APIRoute

from hindsight_aws.api.app import GROUPS, routers
from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.principal import Permission
from tests.security.test_foreign_ids import BANK as ROUTES
from tests.security.test_foreign_ids import NO_IDS, TABLE, WRONG_VERBS
from tests.support.api import Caller
from tests.support.consolidation import Workshop
from tests.support.rebuilding import CANARY, DETAIL, TRENDS, drain_woken, listening, run_sweep, shadows, texts

BANK = "/v1/default/banks/bank"
TAGS = ["user:dana", "team:exec", "company:acme"]
REDACTING = [{"scopes": [{"tags": ["company:*"]}], "observations_mission": TRENDS}]
ASKED = {
    f"POST {ROUTES}/memories/recall": {
        "query": CANARY,
        "trace": True,
        "include": {"chunks": {}, "source_facts": {}, "entities": {}, "evidence": True},
    },
    f"POST {ROUTES}/reflect": {"query": CANARY, "include": {"facts": {}, "tool_calls": {"output": True}}},
}
"""What is asked of routes that look; of every other, what the table of all routes sends."""
QUERIES = ("", f"q={CANARY.split()[0]}", "type=world", "include_pending=true", "detail=full", "include_payload=true")


@pytest.fixture
def company(limited: Callable[..., Caller]) -> Caller:
    """A key that reads what is observed of the company, and nothing else."""
    return limited(exact_scopes=(frozenset({"company:acme"}),), permissions=frozenset({Permission.READ}))


def _remember(workshop: Workshop, call: Caller) -> None:
    """One fact that a person, a team and a company each have a scope for, consolidated in all three."""
    item = {
        "content": f"{CANARY} leased 4 clusters.",
        "context": f"a call with {CANARY}",
        "document_id": f"notes of {CANARY}",
        "metadata": {"client": CANARY},
        "entities": [{"text": CANARY}],
        "tags": TAGS,
        "observation_scopes": "per_tag",
    }
    assert call("POST", f"{BANK}/memories", {"items": [item]}).status == 200
    for tag in TAGS:
        workshop.drain(tag)


def _looks(workshop: Workshop) -> list[str]:
    """Ids that a curious caller may have come by: of every memory, entity, operation, run, document and chunk."""
    ids = workshop.sql(
        "SELECT id::text FROM memory_units UNION SELECT entity_id::text FROM entities "
        "UNION SELECT operation_id::text FROM operations UNION SELECT run_id::text FROM consolidation_runs "
        "UNION SELECT external_id FROM documents"
    )
    return [*(quote(row["id"]) for row in ids), quote(chunk_id("bank", f"notes of {CANARY}", 0))]


def _everything(workshop: Workshop, caller: Caller) -> str:
    """All that the key is answered, on every route that there is, with every id, but for the ids that it sends."""
    answers: list[str] = []
    ids = _looks(workshop)
    for route, body in TABLE.items():
        method, path = route.split(" ", 1)
        for one in ids if "_id" in path.replace("{bank_id}", "") else [""]:
            target = re.sub(r"\{[a-z_]+(:path)?\}", one, path.replace("{bank_id}", "bank"))
            queries = QUERIES if method == "GET" else ("",)
            asked = [(f"{target}?{query}", ASKED.get(route, body)) for query in queries]
            answers += [_answer(caller, method, *each).replace(unquote(one) or target, "") for each in asked]
    return "\n".join(answers)


def _answer(caller: Caller, method: str, target: str, body: object) -> str:
    """What is answered."""
    if isinstance(body, bytes):
        form = {"content-type": "multipart/form-data; boundary=b"}
        return caller(method, target, raw=body, headers=form).body.decode()
    return caller(method, target, body, {"prefer": "respond-async"}).body.decode()


def test_the_story_looks_at_every_route_there_is() -> None:
    served = {
        f"{method} {route.path}"
        for router in routers(GROUPS)
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }

    assert served == set(TABLE) | NO_IDS | WRONG_VERBS
    assert set(ASKED) <= served


def test_under_two_missions_the_company_is_told_trends_and_dana_the_detail(
    workshop: Workshop, call: Caller, company: Caller
) -> None:
    listening(workshop).configure(observations_mission=DETAIL, consolidation_strategies=REDACTING)

    _remember(workshop, call)

    assert texts(workshop, "user:dana") == [f"Noted: {CANARY} leased 4 clusters."]
    assert texts(workshop, "company:acme") == ["A firm leased 4 clusters."]
    answered = _everything(workshop, company)
    assert "A firm leased 4 clusters." in answered
    assert CANARY not in answered


def test_when_a_redacting_mission_replaces_a_detailed_one_the_detail_is_found_nowhere(
    workshop: Workshop, call: Caller, company: Caller
) -> None:
    listening(workshop).configure(observations_mission=DETAIL)
    _remember(workshop, call)
    run_sweep(workshop)
    assert CANARY in _everything(workshop, company)
    workshop.configure(observations_mission=DETAIL, consolidation_strategies=REDACTING)

    run_sweep(workshop)
    assert len(shadows(workshop)) == 1
    drain_woken(workshop)

    answered = _everything(workshop, company)
    assert "A firm leased 4 clusters." in answered
    assert CANARY not in answered
    assert texts(workshop, "user:dana") == [f"Noted: {CANARY} leased 4 clusters."]
