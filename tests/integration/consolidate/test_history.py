"""What the history of an observation shows: its latest changes, and nothing for what is no observation."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

from hindsight_aws.ports.model_gateway import JsonObject
from tests.support.api import Caller
from tests.support.consolidation import Workshop, creates

BANK = "/v1/default/banks/bank"


def _believe(workshop: Workshop) -> tuple[UUID, UUID]:
    """A fact and the observation that rests on it."""
    (fact,) = workshop.remember("Dana signed.", tags=["user:dana"])
    workshop.answers(creates(("Dana signs leases.", [fact])))
    workshop.drain("user:dana")
    return fact, workshop.observations("user:dana")[0]["id"]


def test_c138_the_latest_fifty_changes_are_shown_and_all_are_kept(workshop: Workshop, call: Caller) -> None:
    _, observation = _believe(workshop)
    workshop.sql(
        "INSERT INTO observation_revisions (tenant_id, bank_id, revision_id, observation_id, scope_id, kind, text,"
        " tags, provenance) SELECT r.tenant_id, r.bank_id, gen_random_uuid(), r.observation_id, r.scope_id, 'rewrite',"
        " 'Wording ' || n, r.tags, r.provenance"
        " FROM observation_revisions AS r CROSS JOIN generate_series(1, 60) AS n RETURNING revision_id"
    )

    shown = call("GET", f"{BANK}/memories/{observation}/history").json()

    assert [change["previous_text"] for change in shown] == [f"Wording {number}" for number in range(10, 60)]
    assert workshop.sql("SELECT count(*) AS n FROM observation_revisions") == [{"n": 61}]


def test_c139_a_fact_has_no_history_and_an_unknown_id_none_to_show(workshop: Workshop, call: Caller) -> None:
    fact, _ = _believe(workshop)

    of_a_fact = call("GET", f"{BANK}/memories/{fact}/history")
    of_nothing = call("GET", f"{BANK}/memories/{uuid4()}/history")
    of_no_id = call("GET", f"{BANK}/memories/not-an-id/history")

    assert (of_a_fact.status, of_a_fact.json()) == (200, [])
    assert of_nothing.status == 404
    assert of_no_id.status == 400


def test_what_was_merged_away_has_its_history_still_and_names_its_heir(
    workshop: Workshop, call: Caller, limited: Callable[..., Caller]
) -> None:
    _, heir = _believe(workshop)
    (other,) = workshop.remember("Dana signed again.", tags=["user:dana"])
    workshop.answers(creates(("Dana signed twice.", [other])))
    workshop.drain("user:dana")
    ended = workshop.observations("user:dana")[1]["id"]
    (third,) = workshop.remember("Dana left.", tags=["user:dana"])
    gone: JsonObject = {"observation_id": str(ended), "merged_into": str(heir)}
    workshop.answers({"skipped": [{"fact_id": str(third), "reason": "chatter"}], "deletes": [gone]})
    workshop.drain("user:dana")

    (last,) = call("GET", f"{BANK}/memories/{ended}/history").json()

    assert (last["kind"], last["merged_into"]) == ("merge", str(heir))
    assert last["previous_text"] == "Dana signed twice."
    bob = limited(forced_tags={"tags": ["user:bob"], "match": "any_strict"})
    assert bob("GET", f"{BANK}/memories/{ended}/history").status == 404


def test_what_ended_with_its_fact_has_no_history_to_show(workshop: Workshop, call: Caller) -> None:
    fact, observation = _believe(workshop)

    call("PATCH", f"{BANK}/memories/{fact}", {"state": "invalidated"})

    assert call("GET", f"{BANK}/memories/{observation}/history").status == 404
