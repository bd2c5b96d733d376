"""Mental models over HTTP: shapes, validation, and what each kind of key may see."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from hindsight_aws.mental_models import manage
from hindsight_aws.mental_models.start import start_due
from hindsight_aws.model.ids import BankId, RunId, TenantId
from hindsight_aws.ports.reflect import Run
from hindsight_aws.reflect.request import ReflectRequest
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.store.reflect import PostgresReflectRuns
from tests.support.api import Caller, make_caller, make_services
from tests.support.database import Database
from tests.support.reflect import done
from tests.support.refreshing import page, ready
from tests.support.served_models import BANK, MODELS, NEW, Served
from tests.support.units import Unit


def test_a_new_model_is_empty_and_its_refresh_is_queued(served: Served) -> None:
    """[X053] Empty content and an operation; a taken id is 409, a wrong size 422."""
    served.garden.rig.workflows.runs = False

    made, again, small = served.make(), served.make(), served.make(id="other", max_tokens=100)

    body = made.json()
    shown = served.call("GET", f"{MODELS}/plants").json()
    operation = served.call("GET", f"{BANK}/operations/{body['operation_id']}").json()
    assert made.status == 200
    assert body["mental_model_id"] == "plants"
    assert body["scope_matches"] == 0
    assert len(body["warnings"]) == 1
    assert (shown["content"], shown["is_stale"], shown["max_tokens"]) == ("", True, 2048)
    assert (operation["operation_type"], operation["mental_model_id"]) == ("refresh_mental_model", "plants")
    assert again.status == 409
    assert again.json() == {"detail": "Mental model 'plants' already exists in bank 'bank'"}
    assert small.status == 422


def test_a_model_without_an_id_is_given_one(served: Served) -> None:
    answer = served.make(id=None).json()

    assert answer["mental_model_id"].startswith("mm-")
    assert len(answer["mental_model_id"]) == 35


@pytest.mark.parametrize(
    ("trigger", "word"),
    [
        ({"refresh_after_consolidation": True, "refresh_cron": "* * * * *"}, "not both"),
        ({"refresh_cron": "61 * * * *"}, "refresh_cron"),
        ({"full_refresh_cron": "daily"}, "full_refresh_cron"),
        ({"fact_types": []}, "fact_types"),
        ({"tag_groups": [{"tags": ["a"], "resolve": "fuzzy"}]}, "fuzzy"),
        ({"min_refresh_interval_seconds": -1}, "min_refresh_interval_seconds"),
        ({"mode": "half"}, "mode"),
        ({"response_schema": {"type": "array"}}, "response_schema"),
    ],
)  # fmt: skip
def test_a_trigger_that_cannot_be_kept_is_refused(served: Served, trigger: dict[str, object], word: str) -> None:
    """[X054] Both ways of being refreshed by itself, a wrong schedule, guessed tags: 422, when made and patched."""
    served.garden.rig.workflows.runs = False

    refused = served.make(trigger=trigger)
    served.make()
    patched = served.call("PATCH", f"{MODELS}/plants", {"trigger": trigger})

    assert refused.status == 422
    assert word in refused.body.decode()
    assert patched.status == 422
    assert served.call("GET", f"{MODELS}/plants").json()["trigger"]["refresh_cron"] is None


def test_a_blank_schedule_is_none(served: Served) -> None:
    """[X054] `" "` is null."""
    served.garden.rig.workflows.runs = False
    served.make(trigger={"refresh_cron": " ", "refresh_after_consolidation": True})

    trigger = served.call("GET", f"{MODELS}/plants").json()["trigger"]

    assert (trigger["refresh_cron"], trigger["refresh_after_consolidation"]) == (None, True)


def test_a_patch_changes_what_it_names(served: Served) -> None:
    """[X055] A trigger is merged field by field; of the exclusive pair the one that is set clears the other."""
    served.garden.rig.workflows.runs = False
    served.make(tags=["a"], trigger={"refresh_after_consolidation": True, "mode": "delta", "keep_trace": True})

    answer = served.call("PATCH", f"{MODELS}/plants", {"name": "Garden", "trigger": {"refresh_cron": "5 * * * *"}})

    body = answer.json()
    assert answer.status == 200
    assert (body["name"], body["source_query"], body["tags"]) == ("Garden", "What grows here?", ["a"])
    trigger = body["trigger"]
    assert (trigger["refresh_cron"], trigger["refresh_after_consolidation"]) == ("5 * * * *", False)
    assert (trigger["mode"], trigger["keep_trace"]) == ("delta", True)
    back = served.call("PATCH", f"{MODELS}/plants", {"trigger": {"refresh_after_consolidation": True}}).json()
    assert (back["trigger"]["refresh_cron"], back["trigger"]["mode"]) == (None, "delta")


def test_a_written_model_is_shown_in_as_much_detail_as_is_asked_for(served: Served) -> None:
    served.written()

    full = served.call("GET", f"{MODELS}/plants").json()
    listed = served.call("GET", MODELS).json()
    content = served.call("GET", f"{MODELS}?detail=content").json()["items"][0]

    assert full["content"] == "# Plants\n\nRoses grow here.\n"
    based_on = full["reflect_response"]["based_on"]
    assert [fact["text"] for fact in based_on["world"]] == ["Roses grow in the yard."]
    assert set(based_on) == {"world", "experience", "opinion", "observation", "mental-models", "directives"}
    assert full["reflect_response"]["outcome"] == "content_written"
    assert (listed["total"], listed["limit"], listed["offset"]) == (1, 100, 0)
    (item,) = listed["items"]
    assert [item[name] for name in ("source_query", "content", "max_tokens", "trigger", "reflect_response")] == [
        None
    ] * 5
    assert item["is_stale"] is False
    assert (content["content"], content["reflect_response"]) == (full["content"], None)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", {"a", "ab", "none"}), ("tags=a", {"a", "ab"}), ("tags=a&tags=b&tags_match=all", {"ab"}),
        ("tags=a&tags_match=exact", {"a"}), ("tags_match=exact", {"none"}), ("limit=1", None),
    ],
)  # fmt: skip
def test_models_are_listed_by_their_tags(served: Served, query: str, found: set[str] | None) -> None:
    served.garden.rig.workflows.runs = False
    for model_id, tags in (("a", ["a"]), ("ab", ["a", "b"]), ("none", [])):
        served.make(id=model_id, tags=tags)

    listed = served.call("GET", f"{MODELS}?{query}").json()

    if found is None:
        assert (len(listed["items"]), listed["total"]) == (1, 3)
    else:
        assert {item["id"] for item in listed["items"]} == found


def test_the_tags_of_models_are_counted(served: Served, limited: Callable[..., Caller]) -> None:
    served.garden.rig.workflows.runs = False
    for model_id, tags in (("a", ["a"]), ("ab", ["a", "b"])):
        served.make(id=model_id, tags=tags)
    key = limited(forced_tags={"tags": ["b"], "match": "any_strict"})

    seen = [caller("GET", f"{BANK}/tags?source=mental_models").json()["items"] for caller in (served.call, key)]

    assert seen[0] == [{"tag": "a", "count": 2}, {"tag": "b", "count": 1}]
    assert seen[1] == [{"tag": "a", "count": 1}, {"tag": "b", "count": 1}]


def test_a_dry_run_tells_what_would_be_written_and_writes_nothing(served: Served) -> None:
    """[X076] The row is unchanged, and it can be done again."""
    served.written()
    before = served.call("GET", f"{MODELS}/plants").json()
    served.garden.say(ready(), page("Roses and more.", cites=("f1",)))

    first = served.call("POST", f"{MODELS}/plants/dry-run-refresh")
    served.garden.say(ready(), page("Roses and even more.", cites=("f1",)))
    second = served.call("POST", f"{MODELS}/plants/dry-run-refresh")

    told = first.json()
    assert first.status == 200
    assert (told["outcome"], told["would_persist"], told["effective_mode"]) == ("content_written", True, "full")
    assert told["preview_content"] == "# Plants\n\nRoses and more.\n"
    assert "-Roses grow here." in told["diff"]
    assert "+Roses and more." in told["diff"]
    assert told["facts"]["used"] == {"world": 1}
    assert told["usage"]["total_tokens"] > 0
    assert [call["tool"] for call in told["trace"]["tool_calls"]]
    assert "even more" in second.json()["preview_content"]
    assert served.call("GET", f"{MODELS}/plants").json() == before
    assert served.call("GET", f"{MODELS}/plants/history").json() == [
        {**entry, "previous_content": ""} for entry in served.call("GET", f"{MODELS}/plants/history").json()
    ]


def test_clear_and_delete(served: Served) -> None:
    """[X075] Cleared: empty, shown as stale, its text in the history; deleted: gone, refreshes cancelled."""
    served.written()

    cleared = served.call("POST", f"{MODELS}/plants/clear").json()
    history = served.call("GET", f"{MODELS}/plants/history").json()
    served.garden.rig.workflows.runs = False
    queued = served.call("POST", f"{MODELS}/plants/refresh", {"mode": "full"}).json()
    deleted = served.call("DELETE", f"{MODELS}/plants")

    assert (cleared["content"], cleared["is_stale"], cleared["reflect_response"]) == ("", True, None)
    assert history[0]["previous_content"] == "# Plants\n\nRoses grow here.\n"
    assert queued["status"] == "queued"
    assert (deleted.status, deleted.json()) == (200, {"status": "deleted"})
    assert served.call("GET", f"{BANK}/operations/{queued['operation_id']}").json()["status"] == "cancelled"
    for path in ("", "/history"):
        missing = served.call("GET", f"{MODELS}/plants{path}")
        assert (missing.status, missing.json()) == (404, {"detail": "Mental model 'plants' not found"})


def test_a_deleted_model_is_in_no_kept_answer(served: Served) -> None:
    served.written()
    rig = served.garden.rig
    served.garden.say(done("Roses.", "p1"))
    run = rig.ask(ReflectRequest("What grows here?", shows_facts=True))

    served.call("DELETE", f"{MODELS}/plants")

    assert "Roses grow here." in str(run.answer)
    assert rig.find(run.run_id).answer is None


def test_the_operation_of_a_refresh_tells_its_outcome(served: Served) -> None:
    served.written()
    operation_id = served.call("GET", f"{BANK}/operations?type=refresh_mental_model").json()["operations"][0]["id"]

    operation = served.call("GET", f"{BANK}/operations/{operation_id}").json()

    assert operation["status"] == "completed"
    assert operation["details"] == {
        "operation_type": "refresh_mental_model", "outcome": "content_written", "failure_reason": None,
    }  # fmt: skip


def test_a_cancelled_refresh_asks_nothing_more(served: Served) -> None:
    garden = served.garden
    garden.rig.remember(Unit("Roses grow here."))
    garden.rig.workflows.runs = False
    operation_id = served.make().json()["operation_id"]

    cancelled = served.call("DELETE", f"{BANK}/operations/{operation_id}")

    run = garden.rig.find(RunId(garden.rig.workflows.started[-1]))
    at = (garden.rig.tenant, run.bank_id, run.run_id)
    tenant_id, bank_id, run_id = map(str, at)
    garden.rig.workflows.execute({"tenant_id": tenant_id, "bank_id": bank_id, "run_id": run_id, "turn": 0})
    assert cancelled.status == 200
    assert run.status == "cancelled"
    assert garden.tasks == []
    assert served.call("GET", f"{BANK}/operations/{operation_id}").json()["status"] == "cancelled"


def test_a_run_that_works_on_a_refresh_is_told_by_its_operation_alone(served: Served) -> None:
    garden = served.garden
    garden.rig.remember(Unit("Roses grow here."))
    garden.rig.workflows.runs = False
    served.make()
    previewed = served.call("POST", f"{MODELS}/plants/dry-run-refresh").json()["operation_id"]

    told = [
        served.call("GET", f"{BANK}/operations/{run_id}").json()
        for run_id in (garden.rig.workflows.started[0], previewed)
    ]

    assert [(one["status"], one["operation_type"]) for one in told] == [
        ("not_found", None),
        ("processing", "dry_run_refresh_mental_model"),
    ]


def test_two_equal_previews_at_the_same_time_are_one(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither saw the other when it looked: the one that comes second to write joins the first."""
    served.garden.rig.workflows.runs = False
    served.make()
    first = served.call("POST", f"{MODELS}/plants/dry-run-refresh").json()
    look, looks = PostgresReflectRuns.joinable, iter([False])

    def too_early(runs: PostgresReflectRuns, bank_id: BankId, request_hash: str, within_seconds: float) -> Run | None:
        return look(runs, bank_id, request_hash, within_seconds) if next(looks, True) else None

    monkeypatch.setattr(PostgresReflectRuns, "joinable", too_early)

    second = served.call("POST", f"{MODELS}/plants/dry-run-refresh").json()

    assert second["operation_id"] == first["operation_id"]
    served.call("PATCH", f"{MODELS}/plants", {"trigger": {"budget": "low"}})
    other = served.call("POST", f"{MODELS}/plants/dry-run-refresh").json()
    assert other["operation_id"] != first["operation_id"]


def test_a_bank_has_so_many_models_and_no_more(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.garden.rig.workflows.runs = False
    monkeypatch.setattr(manage, "MOST_MODELS", 1)

    assert [served.make(id=name).status for name in ("one", "two")] == [200, 409]


def test_a_history_shows_as_much_as_the_setting_says(served: Served) -> None:
    served.written()
    served.call("POST", f"{MODELS}/plants/clear")
    at_most = {"hindsight_api_mental_model_history_max_entries": 1}
    shorter = make_caller(make_services(served.garden.rig.store, served.garden.rig.tenant, **at_most))

    assert [len(call("GET", f"{MODELS}/plants/history").json()) for call in (served.call, shorter)] == [2, 1]


def test_where_no_past_is_kept_what_was_kept_before_stays_and_goes_by_deletion(served: Served) -> None:
    """[G7] Not even the database has a text that was replaced since."""
    served.written()
    rig = served.garden.rig
    served.call("POST", f"{MODELS}/plants/clear")
    off = {"hindsight_api_enable_mental_model_history": False}
    rig.settings = rig.settings.model_copy(update=off)
    for text in ("Tulips too.", "Lilies too."):
        served.garden.say(ready(), page(text, cites=("f1",)))
        served.garden.refresh(full=True)
    make_caller(make_services(rig.store, rig.tenant, **off))("POST", f"{MODELS}/plants/clear")
    told = [entry["previous_content"] for entry in served.call("GET", f"{MODELS}/plants/history").json()]
    with psycopg.connect(rig.database.admin_url) as connection:
        rows = connection.execute("SELECT r::text FROM hindsight.mental_model_revisions r").fetchall()

    served.call("DELETE", f"{BANK}/memories")

    assert told == ["# Plants\n\nRoses grow here.\n", ""]
    assert (len(rows), "too." in str(rows)) == (5, False)
    assert [entry["previous_content"] for entry in served.call("GET", f"{MODELS}/plants/history").json()] == [None, ""]


def test_tags_are_cleaned_as_those_of_memories_are(served: Served) -> None:
    served.garden.rig.workflows.runs = False
    served.make(tags=[" a", "a", " "])

    refused = served.call("PATCH", f"{MODELS}/plants", {"tags": ["x" * 600]})

    assert served.call("GET", f"{MODELS}/plants").json()["tags"] == ["a"]
    assert (refused.status, "tags" in refused.body.decode()) == (422, True)


def test_a_failed_refresh_cannot_be_retried_while_another_waits(served: Served) -> None:
    served.written()
    served.garden.say(ready(), page())
    failed = served.call("POST", f"{MODELS}/plants/refresh").json()["operation_id"]
    served.garden.rig.workflows.runs = False
    running = served.call("POST", f"{MODELS}/plants/refresh").json()["operation_id"]
    waiting = served.call("POST", f"{MODELS}/plants/refresh").json()["operation_id"]

    answer = served.call("POST", f"{BANK}/operations/{failed}/retry")

    assert answer.status == 409
    assert len({failed, running, waiting}) == 3


def test_a_key_with_forced_tags_sees_and_writes_its_own_models_alone(
    served: Served, limited: Callable[..., Caller]
) -> None:
    served.garden.rig.workflows.runs = False
    served.make(id="mine", tags=["a"])
    served.make(id="theirs", tags=["b"])
    key = limited(forced_tags={"tags": ["a"], "match": "any_strict"})

    listed = key("GET", MODELS).json()
    calls = (("GET", ""), ("POST", "/refresh"), ("POST", "/dry-run-refresh"), ("POST", "/clear"), ("DELETE", ""))
    hidden = [key(verb, f"{MODELS}/theirs{path}") for verb, path in calls]
    refused = [served.make(key, id="new", tags=[]), key("PATCH", f"{MODELS}/mine", {"tags": ["b"]})]

    assert [item["id"] for item in listed["items"]] == ["mine"]
    assert [answer.status for answer in hidden] == [404] * 5
    assert [answer.status for answer in refused] == [403, 403]


def test_a_model_is_written_from_what_its_creator_could_see_for_good(
    served: Served, limited: Callable[..., Caller]
) -> None:
    """The creator's forced tags hold in every refresh, whoever asks for it."""
    garden = served.garden
    garden.rig.remember(Unit("Roses grow here.", tags=("a",)), Unit("Gold grows here.", tags=("b",)))
    key = limited(forced_tags={"tags": ["a"], "match": "any_strict"})
    garden.say(ready(), page("Roses.", cites=("f1",)))
    served.make(key, tags=["a"], trigger={"tag_groups": [{"not": {"tags": ["c"]}}]})

    served.call("POST", f"{MODELS}/plants/refresh", {"mode": "full"})

    told = str([(call.blocks, call.history) for call in garden.rig.model.calls])
    assert "Roses grow here." in told
    assert "Gold grows here." not in told


@pytest.mark.parametrize(
    "limits", [{"exact_scopes": (("company:x",),)}, {"fact_types": frozenset({"observation"})}], ids=["scopes", "types"]
)
def test_a_key_of_a_narrower_sight_is_not_shown_what_a_wider_one_wrote(
    served: Served, limited: Callable[..., Caller], limits: dict[str, object]
) -> None:
    served.written()
    key = limited(**limits)

    assert key("GET", MODELS).json()["total"] == 0
    assert key("GET", f"{MODELS}/plants").status == 404
    served.garden.rig.workflows.runs = False
    assert served.make(key, id="own").status == 200
    assert key("GET", f"{MODELS}/own").status == 200


def test_without_a_language_model_nothing_is_made(database: Database, store: PostgresStore, tenant: TenantId) -> None:
    call = make_caller(make_services(store, tenant, hindsight_api_llm_provider="none"))

    answer = call("POST", MODELS, NEW)

    assert answer.status == 400
    assert "HINDSIGHT_API_LLM_PROVIDER" in answer.json()["detail"]


def test_due_refreshes_of_a_bank_are_started_together(served: Served) -> None:
    garden = served.garden
    garden.rig.remember(Unit("Roses grow here."))
    for model_id in ("one", "two"):
        garden.plant(model_id)
    garden.say(ready(), page("Roses.", cites=("f1",)), ready(), page("Roses.", cites=("f1",)))

    start_due(garden.door, garden.rig.tenant, garden.rig.bank_id)

    assert [garden.model(model_id).content != "" for model_id in ("one", "two")] == [True, True]
