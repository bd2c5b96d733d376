"""One fact, three scopes, two missions: the company's key finds the detail nowhere, whatever it asks."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote

import pytest

from hindsight_aws.model.chunk_id import chunk_id
from hindsight_aws.model.principal import Permission
from tests.support.api import UNSET, Answer, Caller
from tests.support.calls import BANK as ROUTES
from tests.support.calls import MCP, NO_IDS, TABLE, WRONG_VERBS, every_route
from tests.support.consolidation import Workshop
from tests.support.rebuilding import CANARY, DETAIL, TRENDS, drain_woken, listening, run_sweep, shadows, texts

BANK = "/v1/default/banks/bank"
TAGS = ["user:dana", "team:exec", "company:acme"]
REDACTING = [{"scopes": [{"tags": ["company:*"]}], "observations_mission": TRENDS}]
RECALL: dict[str, object] = {
    "query": CANARY,
    "trace": True,
    "include": {"chunks": {}, "source_facts": {}, "entities": {}, "evidence": {}},
}
BY_TOOL: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "recall",
        "arguments": {"query": CANARY, "bank_id": "bank", "include_chunks": True, "include_source_facts": True},
    },
}
ASKED: dict[str, dict[str, object]] = {
    f"POST {ROUTES}/memories/recall": RECALL,
    "POST /v1/default/recall": RECALL | {"banks": ["bank"]},
    f"POST {ROUTES}/reflect": {
        "query": CANARY,
        "apply_all_directives": True,
        "include": {"facts": {}, "evidence": {}, "tool_calls": {"output": True}},
    },
    f"POST {ROUTES}/consolidation-strategies/preview": {"strategies": REDACTING},
    **dict.fromkeys(MCP, BY_TOOL),
}
"""What is asked of routes that look; of every other, what the table of all routes sends."""
OF_LISTS = ("", f"q={CANARY.split()[0]}", "type=world", "include_pending=true", "active_only=false", "detail=full")
OF_THINGS = ("", "detail=full&include_payload=true")


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
    _write_down(workshop, call)


def _write_down(workshop: Workshop, call: Caller) -> None:
    """Rules that name it, for others; and pages that tell of it, whose maker sees it, whatever tags they bear."""
    for tags in ([], TAGS[:1]):
        rule = {"name": f"On {CANARY}", "content": f"Praise {CANARY}.", "tags": tags}
        assert call("POST", f"{BANK}/directives", rule).status == 200
    for tag in ("", *TAGS):
        page = {"id": f"{tag} {CANARY}", "name": CANARY, "source_query": CANARY, "tags": [tag] if tag else []}
        assert call("POST", f"{BANK}/mental-models", page).status == 200
    workshop.sql("UPDATE mental_models SET content = %s, version = 1, last_refreshed_at = now()", CANARY)
    workshop.sql(
        "INSERT INTO mental_model_revisions (tenant_id, bank_id, page_id, revision_id, kind, version, content) "
        "SELECT tenant_id, bank_id, page_id, gen_random_uuid(), 'version', 0, content FROM mental_models"
    )
    for kind, many in (("directives", 2), ("mental-models", 4)):
        assert call("GET", f"{BANK}/{kind}?detail=full").body.decode().count(CANARY) >= many


def _looks(workshop: Workshop) -> list[str]:
    """Ids that a curious caller may have come by: of memories, entities, operations, runs, rules, pages, documents."""
    ids = workshop.sql(
        "SELECT id::text FROM memory_units UNION SELECT entity_id::text FROM entities "
        "UNION SELECT operation_id::text FROM operations UNION SELECT run_id::text FROM consolidation_runs "
        "UNION SELECT directive_id::text FROM directives UNION SELECT model_id FROM mental_models "
        "UNION SELECT external_id FROM documents"
    )
    return [*(quote(row["id"]) for row in ids), quote(chunk_id("bank", f"notes of {CANARY}", 0))]


def _everything(workshop: Workshop, caller: Caller) -> str:
    """All that the key is answered, on every route that there is, with every id, but for what it sends itself."""
    answers: list[str] = []
    ids = _looks(workshop)
    (before,) = workshop.sql("SELECT max(created_at) AS written FROM mental_models")
    for route, body in TABLE.items():
        method, path = route.split(" ", 1)
        of_things = "_id" in path.replace("{bank_id}", "")
        asked = ASKED.get(route)
        bodies = [body] if asked is None else [asked]
        if asked is not None and "recall" in route:
            bodies.append(asked | {"as_of": before["written"].isoformat()})
        for one in ids if of_things else [""]:
            target = re.sub(r"\{[a-z_]+(:path)?\}", one, path.replace("{bank_id}", "bank"))
            queries = ("",) if method != "GET" else OF_THINGS if of_things else OF_LISTS
            for query in queries:
                told = [_answer(caller, method, f"{target}?{query}", each) for each in bodies]
                assert asked is None or {answer.status for answer in told} <= {200, 202}, told
                answers += [answer.body.decode().replace(unquote(one) or target, "") for answer in told]
    question = f'"query_text":"{CANARY}"'
    return "\n".join(answers).replace(question, "")


def _answer(caller: Caller, method: str, target: str, body: object) -> Answer:
    """What is answered."""
    if isinstance(body, bytes):
        form = {"content-type": "multipart/form-data; boundary=b"}
        return caller(method, target, raw=body, headers=form)
    return caller(method, target, body, {"prefer": "respond-async"})


def test_the_story_looks_at_every_route_there_is() -> None:
    assert every_route() == set(TABLE) | NO_IDS | WRONG_VERBS
    assert set(ASKED) <= every_route()


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
    assert CANARY in _answer(company, "GET", f"{BANK}/memories/list", UNSET).body.decode()
    workshop.configure(observations_mission=DETAIL, consolidation_strategies=REDACTING)

    run_sweep(workshop)
    assert len(shadows(workshop)) == 1
    drain_woken(workshop)

    answered = _everything(workshop, company)
    assert "A firm leased 4 clusters." in answered
    assert CANARY not in answered
    assert texts(workshop, "user:dana") == [f"Noted: {CANARY} leased 4 clusters."]
