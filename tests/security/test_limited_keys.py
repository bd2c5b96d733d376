"""Keys that see part of a bank: by tags, type or exact scope.  What they may not see is in no answer of any route."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from hindsight_aws.api.gateway import LambdaHandler
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, make_key
from tests.support.database import Database
from tests.support.units import Unit, insert_units, make_bank

BANK = "/v1/default/banks/firm"
SECRET = "Penelope"
COMPANY = ("company:acme",)


@dataclass(frozen=True, slots=True)
class Firm:
    """A bank with a person's facts, a company-wide observation that rests on them, and another person's fact."""

    caller: Caller
    owner_store: PostgresStore
    tenant: TenantId
    private_fact: UUID
    company_observation: UUID
    private_observation: UUID
    colleague_fact: UUID

    def limited(self, **limits: object) -> Caller:
        return Caller(self.caller.handler, make_key(self.owner_store, self.tenant, **limits))


@pytest.fixture(scope="module")
def firm(
    module_database: Database, owner_store: PostgresStore, handler: LambdaHandler, module_tenant: TenantId
) -> Firm:
    bank_id = make_bank(module_database.admin_url, module_tenant, "firm")
    private, company, own, colleague = uuid4(), uuid4(), uuid4(), uuid4()
    insert_units(
        module_database.admin_url,
        module_tenant,
        bank_id,
        [
            Unit(
                f"{SECRET} asked for shorter weeks.", id=private, tags=("user:p", *COMPANY),
                document=f"mail of {SECRET}", chunk_index=0, entities=(SECRET,), context=f"mail of {SECRET}",
                vector=[1.0],
            ),
            Unit("Ulysses sails to work.", id=colleague, tags=("user:u",), vector=[1.0], entities=("Ulysses",)),
            Unit(
                "People ask for shorter weeks.", "observation", company, tags=COMPANY, sources=(private,), vector=[1.0]
            ),
            Unit(f"{SECRET} is tired.", "observation", own, tags=("user:p",), sources=(private,), vector=[1.0]),
        ],
    )  # fmt: skip
    caller = Caller(handler, make_key(owner_store, module_tenant))
    return Firm(caller, owner_store, module_tenant, private, company, own, colleague)


EVERY_READ = (
    "", "/config", "/profile", "/stats", "/stats/memories-timeseries", "/memories/list",
    "/memories/list?state=invalidated", "/memories/list?q=shorter", "/memories/list?entity_id={entity}",
    "/memories/list?document_id=mail%20of%20Penelope",
    "/memories/{private_fact}", "/memories/{company_observation}", "/memories/{private_observation}",
    "/memories/{company_observation}/history", "/documents", "/documents?q=mail", "/documents/mail%20of%20Penelope",
    "/entities", "/entities?tags=user:p", "/entities/{entity}", "/entities/graph", "/tags", "/tags?q=user*",
    "/operations", "/observations/scopes", "/graph", "/graph?q=shorter&tags_match=any",
    "/graph?document_id=mail%20of%20Penelope", "/usage",
)  # fmt: skip


@pytest.mark.parametrize("path", EVERY_READ)
def test_a_company_key_never_meets_the_persons_beneath(firm: Firm, path: str) -> None:
    company = firm.limited(exact_scopes=(COMPANY,))
    entity = firm.caller("GET", f"{BANK}/entities?tags=user:p").json()["items"][0]["id"]
    target = path.format(
        entity=entity,
        private_fact=firm.private_fact,
        company_observation=firm.company_observation,
        private_observation=firm.private_observation,
    )

    answer = company("GET", f"{BANK}{target}" if path else "/v1/default/banks")

    assert answer.status < 500
    assert SECRET not in answer.body.decode()
    assert "user:p" not in answer.body.decode()
    if "{private" not in path:
        assert str(firm.private_fact) not in answer.body.decode()


def test_a_company_key_is_not_told_under_which_missions_it_is_written(firm: Firm) -> None:
    told = {
        "observations_mission": f"Say nothing of {SECRET}.",
        "retain_mission": f"Leave out {SECRET}.",
        "consolidation_strategies": [{"scopes": [{"tags": ["user:p"]}], "observations_mission": SECRET}, {}],
    }
    bank = "/v1/default/banks/firm-with-missions"
    assert firm.caller("PATCH", f"{bank}/config", {"updates": told}).status == 200
    company = firm.limited(exact_scopes=(COMPANY,))

    shown, whole = (key("GET", f"{bank}/config") for key in (company, firm.caller))

    assert SECRET not in shown.body.decode()
    assert "user:p" not in shown.body.decode()
    assert (shown.json()["warnings"], shown.json()["overrides"]) == ([], {})
    assert shown.json()["withheld"] >= len(told)
    assert shown.json()["config"].keys() == whole.json()["config"].keys()
    assert whole.json()["config"]["observations_mission"] == told["observations_mission"]
    assert "withheld" not in whole.json()


@pytest.mark.parametrize(
    "include",
    [{}, {"chunks": {}, "source_facts": {}, "entities": {}, "evidence": {}}],
    ids=["plain", "everything"],
)
def test_a_company_key_recalls_the_companys_observation_alone(firm: Firm, include: dict[str, object]) -> None:
    company = firm.limited(exact_scopes=(COMPANY,))

    answer = company("POST", f"{BANK}/memories/recall", {"query": "shorter weeks", "include": include, "trace": True})

    assert answer.status == 200
    assert [result["text"] for result in answer.json()["results"]] == ["People ask for shorter weeks."]
    assert SECRET not in answer.body.decode()


@pytest.mark.parametrize("path", [f"{BANK}/memories/recall", "/v1/default/recall"])
def test_no_score_tells_how_often_a_word_stands_in_what_is_hidden(firm: Firm, path: str) -> None:
    limited = firm.limited(forced_tags={"tags": ["user:u"], "match": "any_strict"})
    body = {"query": "Who sails to work?", "trace": True, "banks": ["firm"]}

    found = limited("POST", path, body).json()
    seen_by_all = firm.caller("POST", path, body).json()
    floored = limited("POST", path, {**body, "min_scores": {"keyword": 0.5}})

    assert [result["scores"]["keyword"] for result in found["results"]] == [None]
    assert any(result["scores"]["keyword"] is not None for result in seen_by_all["results"])
    traces = [found["trace"]] if "rrf_merged" in (found["trace"] or {}) else list(found["trace"].values())
    hits = [hit for trace in traces for arm in trace["retrieval_results"] for hit in arm["results"]]
    assert {hit["score"] for hit in hits if hit["score_name"] == "bm25_score"} == {None}
    assert floored.status == 422
    assert "min_scores.keyword" in floored.body.decode()


def test_recall_quotes_the_evidence_to_who_may_see_it(firm: Firm) -> None:
    body = {"query": "shorter weeks", "types": ["observation"], "include": {"evidence": {}}}

    found = firm.caller("POST", f"{BANK}/memories/recall", body).json()["results"]

    quotes = [piece["quote"] for result in found for piece in result["evidence"]]
    assert f"{SECRET} asked for shorter weeks." in quotes
    assert all("evidence" in result for result in found)


def test_a_company_key_is_told_how_much_is_withheld(firm: Firm) -> None:
    company = firm.limited(exact_scopes=(COMPANY,))

    seen = company("GET", f"{BANK}/memories/{firm.company_observation}").json()
    whole = firm.caller("GET", f"{BANK}/memories/{firm.company_observation}").json()

    assert (seen["withheld"], seen["evidence"], seen["source_memories"]) == (1, [], [])
    assert (whole["withheld"], [piece["quote"] for piece in whole["evidence"]]) == (
        0,
        [f"{SECRET} asked for shorter weeks."],
    )


def test_a_persons_key_sees_what_bears_the_persons_tag(firm: Firm) -> None:
    person = firm.limited(forced_tags={"tags": ["user:u"], "match": "any_strict"})

    listed = person("GET", f"{BANK}/memories/list").json()
    widened = person("GET", f"{BANK}/memories/list?tags=user:p").json()
    entities = person("GET", f"{BANK}/entities").json()
    tags = person("GET", f"{BANK}/tags").json()
    stats = person("GET", f"{BANK}/stats").json()
    documents = person("GET", f"{BANK}/documents").json()

    assert [item["text"] for item in listed["items"]] == ["Ulysses sails to work."]
    assert widened["total"] == 0
    assert [entity["canonical_name"] for entity in entities["items"]] == ["Ulysses"]
    assert tags["items"] == [{"tag": "user:u", "count": 1}]
    assert (stats["nodes_by_fact_type"], stats["total_links"]) == ({"world": 1}, 0)
    assert stats["total_documents"] == documents["total"]
    assert person("GET", f"{BANK}/memories/{firm.private_fact}").status == 404


def test_a_persons_key_writes_with_the_persons_tag_alone(firm: Firm) -> None:
    person = firm.limited(forced_tags={"tags": ["user:u"], "match": "any_strict"})

    refused = person("POST", f"{BANK}/memories", {"items": [{"content": "Ulysses rows.", "tags": ["user:p"]}]})
    untagged = person("POST", f"{BANK}/memories", {"items": [{"content": "Ulysses rows."}]})

    assert (refused.status, untagged.status) == (403, 403)
    assert firm.caller("GET", f"{BANK}/memories/list?q=rows").json()["total"] == 0


def test_a_key_for_observations_sees_their_text_and_no_fact(firm: Firm) -> None:
    reader = firm.limited(fact_types=frozenset({"observation"}))

    listed = reader("GET", f"{BANK}/memories/list").json()
    detail = reader("GET", f"{BANK}/memories/{firm.company_observation}").json()
    documents = reader("GET", f"{BANK}/documents").json()

    assert {item["fact_type"] for item in listed["items"]} == {"observation"}
    assert (detail["evidence"], detail["withheld"]) == ([], 1)
    assert documents["total"] == 0
    assert reader("GET", f"{BANK}/memories/list?type=world").json()["total"] == 0


@pytest.mark.parametrize("limit", [{"fact_types": frozenset({"world"})}, {"exact_scopes": (COMPANY,)},
                                   {"forced_tags": {"tags": ["a"]}}], ids=["types", "scopes", "tags"])  # fmt: skip
def test_a_limited_key_changes_no_settings_and_deletes_no_bank(firm: Firm, limit: dict[str, object]) -> None:
    limited = firm.limited(**limit)

    answers = [
        limited("PATCH", f"{BANK}/config", {"updates": {"observations_mission": "tell all"}}),
        limited("PUT", BANK, {"observations_mission": "tell all"}),
        limited("DELETE", f"{BANK}/config"),
        limited("DELETE", BANK),
    ]

    assert [answer.status for answer in answers] == [403] * 4
    assert firm.caller("GET", f"{BANK}/config").json()["overrides"] == {}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_limited_key_renames_no_bank(firm: Firm, method: str) -> None:
    person = firm.limited(forced_tags={"tags": ["user:u"], "match": "any_strict"})

    refused = person(method, BANK, {"name": "mine"})

    assert refused.status == 403
    assert firm.caller("GET", f"{BANK}/profile").json()["name"] == "firm"


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_key_that_may_only_write_is_told_no_mission(firm: Firm, method: str) -> None:
    bank = "/v1/default/banks/firm-with-a-purpose"
    firm.caller("PUT", bank, {"mission": f"Serve {SECRET}."})
    writer = firm.limited(permissions=frozenset({Permission.WRITE}))

    told = writer(method, bank, {})

    assert (told.status, told.json()["mission"]) == (200, "")
    assert SECRET not in told.body.decode()
    assert firm.caller(method, bank, {}).json()["mission"] == f"Serve {SECRET}."


def test_a_document_stays_within_its_writers_sight(firm: Firm) -> None:
    """Also one whose items nobody wrote down."""
    person = firm.limited(forced_tags={"tags": ["user:p"], "match": "any_strict"})
    document = f"{BANK}/documents/mail%20of%20{SECRET}"

    refused = person("PATCH", document, {"tags": ["user:u"]})

    assert refused.status == 403
    assert person("GET", document).status == 200


def test_keys_that_are_called_alike_do_not_see_each_others_operations(firm: Firm) -> None:
    limit = {"tags": ["user:p"], "match": "any_strict"}
    writer, namesake = (firm.limited(subject="bot", forced_tags=limit) for _ in range(2))
    item = {"content": f"{SECRET} writes.", "tags": ["user:p"]}
    operation = writer("POST", f"{BANK}/memories", {"items": [item], "async": True}).json()["operation_id"]

    own = writer("GET", f"{BANK}/operations/{operation}?include_payload=true").json()
    listed = namesake("GET", f"{BANK}/operations").json()
    other = namesake("GET", f"{BANK}/operations/{operation}?include_payload=true").json()

    assert own["status"] == "pending"
    assert (listed["total"], listed["operations"]) == (0, [])
    assert SECRET not in str(other)
    assert other["status"] == "not_found"


def test_a_key_covers_banks_by_pattern(firm: Firm) -> None:
    covered = firm.limited(bank_patterns=("team-*",))

    made = covered("PUT", "/v1/default/banks/team-1", {})
    refused = covered("PUT", "/v1/default/banks/other", {})
    listed = covered("GET", "/v1/default/banks").json()

    assert (made.status, refused.status) == (200, 404)
    assert [bank["bank_id"] for bank in listed["banks"]] == ["team-1"]
    assert listed["total"] == 1
    assert covered("GET", f"{BANK}/stats").status == 404
