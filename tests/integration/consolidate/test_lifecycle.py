"""What becomes of observations when what they rest on goes, changes, moves or is asked about, and who is woken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from hindsight_aws import faults
from hindsight_aws.documents import DocumentPorts, delete_document
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.ports.model_gateway import JsonObject, ModelCall
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller, FakeRuntime, make_caller, make_services
from tests.support.consolidation import Workshop
from tests.support.contention import until_blocked
from tests.support.database import Database
from tests.support.models import NotedWakeups, ScriptedModel, block
from tests.support.rebuilding import drain_woken

BANK = "/v1/default/banks/bank"


@dataclass
class Desk:
    """The bank as a client changes it, and its workers."""

    workshop: Workshop
    call: Caller
    services: FakeRuntime

    def retain(self, content: str, document: str, tags: Sequence[str] = (), **fields: object) -> list[str]:
        """Stores the lines as the document's facts; their ids in order."""
        item = {"content": content, "document_id": document, "tags": list(tags), **fields}
        assert self.call("POST", f"{BANK}/memories", {"items": [item]}).status == 200
        found = self.workshop.sql(
            "SELECT u.id::text FROM memory_units u JOIN documents d USING (tenant_id, bank_id, document_id) "
            "WHERE d.external_id = %s ORDER BY u.chunk_index, u.ordinal",
            document,
        )
        return [row["id"] for row in found]

    def consolidate(self) -> None:
        """Lets the workers do all that was woken."""
        self.workshop.wakeups = self.services.noted
        drain_woken(self.workshop)
        self.services.noted.scopes.clear()

    def observations(self) -> dict[str, set[str]]:
        """What is observed, with the texts that it rests on."""
        rows = self.workshop.sql(
            "SELECT o.text, array_agg(f.text) AS beneath FROM memory_units o "
            "JOIN observation_evidence e ON e.observation_id = o.id JOIN memory_units f ON f.id = e.fact_id "
            "WHERE o.fact_type = 'observation' GROUP BY o.id, o.text"
        )
        return {row["text"]: set(row["beneath"]) for row in rows}

    def waiting(self, state: str = "pending") -> set[str]:
        """The facts that wait for consolidation somewhere."""
        rows = self.workshop.sql(
            "SELECT f.text FROM consolidation_work w JOIN memory_units f ON f.id = w.fact_id WHERE w.state = %s", state
        )
        return {row["text"] for row in rows}

    def histories(self) -> str:
        """Every word that any history keeps."""
        return str(self.workshop.sql("SELECT text, evidence FROM observation_revisions WHERE text IS NOT NULL"))


@pytest.fixture
def desk(workshop: Workshop, call: Caller, services: FakeRuntime) -> Desk:
    workshop.model = ScriptedModel(_told)
    return Desk(workshop, call, services)


@pytest.fixture
def other(database: Database) -> Iterator[PostgresStore]:
    """A connection of another process."""
    store = PostgresStore(lambda: database.write_url, connect_for_s=30.0)
    yield store
    store.close()


def _told(call: ModelCall) -> JsonObject:
    """One observation of all facts of a call; facts of a subject that is observed already join that."""
    if call.task == "judge_duplicate":
        return {"action": "merge"}
    facts: Any = block(call, "facts")
    observations: Any = block(call, "observations")
    entry: Any = {
        "text": f"Seen: {'; '.join(fact['text'] for fact in facts)}",
        "source_fact_ids": [fact["id"] for fact in facts],
    }
    shown = [one for one in observations if one["text"].split()[1] == facts[0]["text"].split()[0]]
    if shown:
        return {"updates": [entry | {"observation_id": shown[0]["id"]}]}
    return {"creates": [entry]}


def test_a_deleted_source_takes_the_observation_and_its_history_and_the_other_source_waits(desk: Desk) -> None:
    """[C114] No word of the fact is left in quotes and histories, and its scope is woken for the other source."""
    desk.retain("Ann rows.", "d")
    desk.retain("Ann sails.", "e")
    desk.consolidate()
    assert desk.observations() == {"Seen: Ann rows.; Ann sails.": {"Ann rows.", "Ann sails."}}

    desk.call("DELETE", f"{BANK}/documents/d")

    assert desk.observations() == {}
    assert desk.waiting() == {"Ann sails."}
    assert "Ann" not in desk.histories()
    assert desk.services.noted.scopes == [(desk.workshop.tenant, desk.workshop.bank_id, desk.workshop.scope())]


def test_an_observation_of_a_deleted_fact_alone_goes_and_nothing_waits(desk: Desk) -> None:
    """[C115] With its history; a lone source leaves nobody to ask again."""
    desk.retain("Ann rows.", "d")
    desk.consolidate()
    assert desk.observations() == {"Seen: Ann rows.": {"Ann rows."}}

    desk.call("DELETE", f"{BANK}/documents/d")

    assert desk.observations() == {}
    assert desk.waiting() == set()
    assert desk.services.noted.scopes == []
    assert "Ann" not in desk.histories()


def test_an_unrelated_fact_that_goes_leaves_an_observation_as_it_is(desk: Desk) -> None:
    """Case [C116]."""
    desk.retain("Ann rows.", "d")
    desk.consolidate()
    desk.retain("Bob swims.", "e")
    desk.consolidate()
    before = desk.workshop.sql("SELECT * FROM memory_units WHERE text = 'Seen: Ann rows.'")

    desk.call("DELETE", f"{BANK}/documents/e")

    assert desk.workshop.sql("SELECT * FROM memory_units WHERE text = 'Seen: Ann rows.'") == before
    assert list(desk.observations()) == ["Seen: Ann rows."]


def test_an_observation_committed_while_a_delete_waits_goes_with_its_fact(
    desk: Desk, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[C118] The delete waits for the worker that cites the fact, then finds what it wrote."""
    desk.retain("Ann rows.", "d")
    ports = DocumentPorts(other, NotedWakeups(), desk.workshop.settings)
    with ThreadPoolExecutor(1) as pool:
        deleting: list[Any] = []

        def strike(_address: str, point: str) -> str:
            if point == "consolidate.before_commit" and not deleting:
                principal = Principal(desk.workshop.tenant, "other")
                deleting.append(pool.submit(delete_document, ports, principal, "bank", "d"))
                until_blocked(desk.workshop.database)
            return ""

        monkeypatch.setattr(faults, "_ADDRESS", "here")
        monkeypatch.setattr(faults, "_ask", strike)
        desk.consolidate()
        assert deleting[0].result(timeout=60).facts == 1

    assert len(desk.workshop.sql("SELECT * FROM consolidation_runs WHERE status = 'applied'")) == 1
    assert desk.workshop.sql("SELECT * FROM memory_units") == []
    assert desk.workshop.sql("SELECT * FROM observation_evidence") == []


def test_the_same_text_again_changes_no_observation_and_asks_nobody(desk: Desk) -> None:
    """Case [C120]."""
    desk.retain("Ann rows.", "d", ["user:a"])
    desk.consolidate()
    state = "SELECT * FROM memory_units u LEFT JOIN consolidation_work w ON w.fact_id = u.id ORDER BY u.id"
    before = desk.workshop.sql(state)

    desk.retain("Ann rows.", "d", ["user:a"])
    desk.consolidate()

    assert desk.workshop.sql(state) == before
    assert len(desk.workshop.model.calls) == 1


def test_a_changed_chunk_ends_its_own_observations_alone(desk: Desk) -> None:
    """Case [C121]."""
    desk.workshop.configure(retain_chunk_size=100, consolidation_llm_batch_size=1)
    first, second, third = (f"{name} {' '.join(f'{name}{n}' for n in range(15))}." for name in ("Ann", "Bob", "Cyd"))
    desk.retain(f"{first}\n\n{second}\n\n{third}", "d")
    desk.consolidate()
    told = set(desk.observations())
    ids = {row["text"]: row["id"] for row in desk.workshop.sql("SELECT id, text FROM memory_units")}
    changed = second.replace("Bob3", "Bob99")

    desk.retain(f"{first}\n\n{changed}\n\n{third}", "d")

    left = desk.observations()
    assert len(told) >= 3
    assert told - set(left) == {text for text in told if "Bob3 " in text}
    assert all(ids[text] for text in left)
    assert "Bob3 " not in desk.histories()
    desk.consolidate()
    assert any("Bob99" in text for text in desk.observations())


@pytest.mark.parametrize(
    ("retained", "patch"),
    [
        pytest.param({}, {"tags": ["team:x", "user:a"]}, id="[C122] the same tags in another order"),
        pytest.param(
            {"observation_scopes": "shared"}, {"tags": ["user:b"]}, id="[C123] other tags of a shared document"
        ),
    ],
)
def test_a_retag_that_moves_no_scope_ends_nothing(
    desk: Desk, retained: Mapping[str, object], patch: Mapping[str, object]
) -> None:
    desk.retain("Ann rows.", "d", ["user:a", "team:x"], **retained)
    desk.consolidate()
    before = desk.observations()

    assert desk.call("PATCH", f"{BANK}/documents/d", patch).status == 200

    assert before == desk.observations() != {}
    assert desk.waiting() == set()
    assert desk.services.noted.scopes == []


def test_a_retag_that_moves_facts_ends_what_rested_on_them_and_asks_their_co_sources_again(desk: Desk) -> None:
    """[C124] Also facts of other documents, in the scope that was left."""
    desk.retain("Ann rows.", "d", ["user:a"])
    desk.retain("Ann sails.", "e", ["user:a"])
    desk.consolidate()
    assert desk.observations() == {"Seen: Ann rows.; Ann sails.": {"Ann rows.", "Ann sails."}}

    desk.call("PATCH", f"{BANK}/documents/d", {"tags": ["user:b"]})

    assert desk.observations() == {}
    assert desk.waiting() == {"Ann rows.", "Ann sails."}
    desk.consolidate()
    assert desk.observations() == {"Seen: Ann rows.": {"Ann rows."}, "Seen: Ann sails.": {"Ann sails."}}
    scopes = desk.workshop.sql("SELECT tags FROM memory_units WHERE fact_type = 'observation' ORDER BY tags")
    assert [row["tags"] for row in scopes] == [["user:a"], ["user:b"]]


def test_an_invalidated_fact_is_asked_about_no_more_until_it_is_put_back(desk: Desk) -> None:
    """Case [C127]."""
    ann, _ = desk.retain("Ann rows.\nBob swims.", "d")
    desk.call("PATCH", f"{BANK}/memories/{ann}", {"state": "invalidated"})

    desk.consolidate()
    assert desk.observations() == {"Seen: Bob swims.": {"Bob swims."}}

    desk.call("PATCH", f"{BANK}/memories/{ann}", {"state": "valid"})
    assert desk.waiting() == {"Ann rows."}
    desk.consolidate()
    assert desk.observations()["Seen: Ann rows."] == {"Ann rows."}


def test_an_invalidated_source_takes_its_observation_out_and_its_words_from_the_history(desk: Desk) -> None:
    ann, _ = desk.retain("Ann rows.\nBob swims.", "d")
    desk.consolidate()
    assert "Ann" in desk.histories()

    desk.call("PATCH", f"{BANK}/memories/{ann}", {"state": "invalidated"})

    assert desk.observations() == {}
    assert desk.waiting() == {"Bob swims."}
    assert "Ann" not in desk.histories()


def test_an_edit_asks_again_about_a_fact_that_had_failed(desk: Desk) -> None:
    (ann,) = desk.retain("Ann rows.", "d")
    desk.workshop.sql("UPDATE consolidation_work SET state = 'failed', failed_at = now(), revivals = 4, attempts = 3")

    desk.call("PATCH", f"{BANK}/memories/{ann}", {"text": "Ann sails."})

    (row,) = desk.workshop.sql("SELECT state, attempts, revivals, failed_at FROM consolidation_work")
    assert row == {"state": "pending", "attempts": 0, "revivals": 0, "failed_at": None}


def test_clearing_a_type_ends_what_rested_on_it_and_the_rest_waits(desk: Desk) -> None:
    desk.services.model.script = lambda _: {
        "facts": [{"what": "Ann rows.", "fact_type": "world"}, {"what": "Ann taught me.", "fact_type": "experience"}]
    }
    desk.retain("A letter.", "d")
    desk.consolidate()
    assert len(desk.observations()) == 1

    answer = desk.call("DELETE", f"{BANK}/memories?type=world")

    assert answer.json()["deleted_count"] == 1
    assert desk.observations() == {}
    assert desk.waiting() == {"Ann taught me."}
    assert "Ann rows" not in desk.histories()
    assert len(desk.services.noted.scopes) == 1


def test_two_deletes_that_share_an_observation_pass_each_other(desk: Desk, other: PostgresStore) -> None:
    """[C129] However often: no deadlock, and nothing is left."""
    principal = Principal(desk.workshop.tenant, "tester")
    both = [DocumentPorts(store, NotedWakeups(), desk.workshop.settings) for store in (desk.workshop.store, other)]
    for round_ in range(6):
        desk.retain(f"Ann rows {round_}.", "d")
        desk.retain(f"Ann sails {round_}.", "e")
        desk.consolidate()
        assert len(desk.observations()) == 1

        with ThreadPoolExecutor(2) as pool:
            ends = [pool.submit(delete_document, both[at], principal, "bank", "de"[at]) for at in (0, 1)]

        assert [end.result().facts for end in ends] == [1, 1]
        assert desk.workshop.sql("SELECT * FROM memory_units") == []


def test_a_replace_and_a_drain_of_one_document_pass_each_other(desk: Desk, other: PostgresStore) -> None:
    """[C130] However often: no deadlock, and the last text is what is observed."""
    elsewhere = make_services(other, desk.workshop.tenant)
    caller = make_caller(elsewhere)
    desk.retain("Ann rows 0.\nBob swims.", "d")
    for round_ in range(1, 7):
        item = {"content": f"Ann rows {round_}.\nBob swims.", "document_id": "d"}
        with ThreadPoolExecutor(2) as pool:
            replaced = pool.submit(caller, "POST", f"{BANK}/memories", {"items": [item]})
            desk.consolidate()
            assert replaced.result().status == 200
        desk.services.noted.scopes += elsewhere.noted.scopes
        elsewhere.noted.scopes.clear()

    desk.consolidate()
    assert desk.waiting() == desk.waiting("failed") == set()
    assert {text for beneath in desk.observations().values() for text in beneath} == {"Ann rows 6.", "Bob swims."}
    assert desk.workshop.sql("SELECT * FROM consolidation_work WHERE error LIKE '%%deadlock%%'") == []


@pytest.mark.parametrize(
    ("scopes", "done"),
    [
        pytest.param([["user:alice"]], {"Ann rows."}, id="[C131] one scope covers what holds all its tags"),
        pytest.param([["user:alice", "team:eng"]], {"Ann rows."}, id="[C131] each tag of a scope is wanted"),
        pytest.param([["user:alice", "user:bob"]], set(), id="[C131] nobody holds both"),
        pytest.param([["user:alice"], ["team:eng"]], {"Ann rows.", "Cyd runs."}, id="[C132] either of two scopes"),
    ],
)
def test_consolidation_of_some_scopes_takes_what_holds_all_tags_of_one(
    desk: Desk, scopes: list[list[str]], done: set[str]
) -> None:
    desk.workshop.configure(enable_auto_consolidation=False)
    desk.retain("Ann rows.", "a", ["user:alice", "team:eng"])
    desk.retain("Bob swims.", "b", ["user:bob"])
    desk.retain("Cyd runs.", "c", ["team:eng"])

    answer = desk.call("POST", f"{BANK}/consolidate", {"observation_scopes": scopes})
    desk.consolidate()

    assert (answer.status, answer.json()["deduplicated"]) == (200, False)
    assert {text for beneath in desk.observations().values() for text in beneath} == done
    asked = [fact["text"] for call in desk.workshop.model.calls for fact in _facts(call)]
    assert sorted(asked) == sorted(done)
    (operation,) = desk.workshop.sql("SELECT status FROM operations WHERE kind = 'consolidation'")
    assert operation["status"] == "completed"


def test_consolidation_of_scopes_reads_the_scope_of_the_work_as_well_as_the_tags_of_the_fact(desk: Desk) -> None:
    desk.workshop.configure(enable_auto_consolidation=False)
    desk.retain("Ann rows.", "a", ["user:alice"], observation_scopes=[["company:acme"]])

    desk.call("POST", f"{BANK}/consolidate", {"observation_scopes": [["company:acme"]]})
    desk.consolidate()

    assert list(desk.observations()) == ["Seen: Ann rows."]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"null", b'{"observation_scopes": null}', b'{"observation_scopes": []}',
             b'{"observation_scopes": [[]]}', b'{"observation_scopes": [["user:alice"], []]}']
)  # fmt: skip
def test_a_body_that_narrows_nothing_down_asks_for_the_whole_bank(desk: Desk, body: bytes) -> None:
    desk.workshop.configure(enable_auto_consolidation=False)
    desk.retain("Ann rows.", "a", ["user:alice"])
    desk.retain("Bob swims.", "b")

    first = desk.call("POST", f"{BANK}/consolidate", raw=body)
    again = desk.call("POST", f"{BANK}/consolidate", raw=body)
    desk.consolidate()

    assert first.status == again.status == 200
    assert again.json() == {"operation_id": first.json()["operation_id"], "deduplicated": True}
    assert len(desk.observations()) == 2


def test_where_nothing_runs_by_itself_nobody_is_woken_until_somebody_asks(desk: Desk) -> None:
    desk.workshop.configure(enable_auto_consolidation=False)
    (ann,) = desk.retain("Ann rows.", "d")
    desk.call("PATCH", f"{BANK}/memories/{ann}", {"text": "Ann sails."})
    desk.call("DELETE", f"{BANK}/memories/{ann}/observations")
    desk.call("PATCH", f"{BANK}/documents/d", {"tags": ["user:a"]})
    assert desk.services.noted.scopes == []

    desk.call("POST", f"{BANK}/consolidate")
    desk.consolidate()

    assert desk.observations() == {"Seen: Ann sails.": {"Ann sails."}}


def test_the_server_decides_for_banks_that_do_not_say(workshop: Workshop, store: PostgresStore) -> None:
    quiet = make_services(store, workshop.tenant, hindsight_api_enable_auto_consolidation=False)
    call = make_caller(quiet)
    item = {"items": [{"content": "Ann rows.", "document_id": "d"}]}

    call("POST", f"{BANK}/memories", item)
    assert quiet.noted.scopes == []

    workshop.configure(enable_auto_consolidation=True)
    call("POST", f"{BANK}/memories", {"items": [{"content": "Bob swims.", "document_id": "e"}]})
    assert len(quiet.noted.scopes) == 1


def test_recovery_of_a_scope_leaves_others_failed_and_begins_every_count_anew(desk: Desk) -> None:
    desk.retain("Ann rows.", "a", ["user:alice", "team:eng"])
    desk.retain("Bob swims.", "b", ["user:bob"])
    desk.workshop.sql(
        "UPDATE consolidation_work SET state = 'failed', failed_at = now(), attempts = 3, revivals = 4, calls = 9"
    )
    desk.services.noted.scopes.clear()

    answer = desk.call("POST", f"{BANK}/consolidation/recover", {"observation_scopes": [["user:alice"]]})

    assert answer.json() == {"retried_count": 1}
    assert (desk.waiting(), desk.waiting("failed")) == ({"Ann rows."}, {"Bob swims."})
    (row,) = desk.workshop.sql(
        "SELECT attempts, revivals, calls, failed_at FROM consolidation_work WHERE state = 'pending'"
    )
    assert row == {"attempts": 0, "revivals": 0, "calls": 0, "failed_at": None}
    assert desk.services.noted.scopes == []
    assert desk.call("POST", f"{BANK}/consolidation/recover").json() == {"retried_count": 1}


def _seen_twice(desk: Desk) -> None:
    """Facts observed in a person's scope and in a wider and a narrower one."""
    desk.retain("Ann rows.", "a", ["user:a"])
    desk.retain("Bob swims.", "b", ["user:a", "team:x"])
    desk.retain("Cyd runs.", "c")
    desk.consolidate()


@pytest.mark.parametrize(
    ("query", "gone"),
    [
        ("scope=user:a", "Ann rows."),
        ("scope=team:x&scope=user:a", "Bob swims."),
        ("scope=user:a&scope=team:x&scope=user:a", "Bob swims."),
        ("scope=", "Cyd runs."),
    ],
)
def test_the_observations_of_one_exact_scope_are_cleared_and_no_others(desk: Desk, query: str, gone: str) -> None:
    _seen_twice(desk)
    before = desk.observations()
    desk.workshop.sql(
        "UPDATE consolidation_work SET state = 'failed', failed_at = now(), outcome = NULL "
        "WHERE fact_id = (SELECT id FROM memory_units WHERE text = %s)",
        gone,
    )

    answer = desk.call("DELETE", f"{BANK}/observations?{query}")

    assert answer.json() == {"success": True, "message": "Cleared 1 observations", "deleted_count": 1}
    assert desk.observations() == {text: under for text, under in before.items() if gone not in text}
    assert (desk.waiting(), desk.waiting("failed")) == ({gone}, set())
    assert gone not in desk.histories()
    assert desk.services.noted.scopes == []


def test_a_scope_that_is_not_there_has_nothing_to_clear(desk: Desk) -> None:
    _seen_twice(desk)

    answer = desk.call("DELETE", f"{BANK}/observations?scope=team:x")

    assert answer.json()["deleted_count"] == 0
    assert len(desk.observations()) == 3


def test_a_limited_key_clears_a_scope_in_its_sight_alone(desk: Desk, limited: Callable[..., Caller]) -> None:
    _seen_twice(desk)
    hers = limited(forced_tags={"tags": ["team:x"], "match": "all_strict"})
    reader = limited(permissions=frozenset({Permission.READ}))

    hidden = hers("DELETE", f"{BANK}/observations?scope=user:a")
    refused = hers("DELETE", f"{BANK}/observations")
    read_only = reader("DELETE", f"{BANK}/observations?scope=user:a")
    assert (hidden.status, hidden.json()["deleted_count"]) == (200, 0)
    assert (refused.status, read_only.status) == (403, 403)
    assert len(desk.observations()) == 3

    own = hers("DELETE", f"{BANK}/observations?scope=user:a&scope=team:x")

    assert own.json()["deleted_count"] == 1
    assert set(desk.observations()) == {"Seen: Ann rows.", "Seen: Cyd runs."}


def test_an_unknown_bank_has_no_scope_to_clear(desk: Desk) -> None:
    answer = desk.call("DELETE", f"/v1/default/banks/{uuid4()}/observations?scope=a")

    assert (answer.status, answer.json()["deleted_count"]) == (200, 0)


def _facts(call: ModelCall) -> list[Any]:
    facts: Any = block(call, "facts")
    return list(facts)
