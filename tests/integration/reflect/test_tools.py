"""The search tools on Postgres: what they find, show and keep back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest

from hindsight_aws.configuration.config import resolve
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.tags import TagFilter, TagLeaf, TagsMatch
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.request import ReflectJob, ReflectRequest
from hindsight_aws.reflect.tools import toolbox
from hindsight_aws.reflect.tools.toolbox import ToolContext
from hindsight_aws.store.postgres import PostgresStore
from tests.support.database import Database
from tests.support.pages import put_page
from tests.support.reflect import Rig, done, make_rig
from tests.support.units import Unit

ASKED = ReflectRequest("Where does Bea live?")
OF_A = TagFilter.flat(["a"], TagsMatch.ANY_STRICT)
UNTAGGED = TagFilter.flat(None, TagsMatch.EXACT)
MOVED = Unit("Bea moved to Rome.", document="letter", chunk_index=0)


@pytest.fixture
def database(module_database: Database) -> Database:
    """One database for the module: each test has a tenant of its own."""
    return module_database


@pytest.fixture
def rig(database: Database, store: PostgresStore, tenant: TenantId) -> Rig:
    """An empty bank, and a model that is not asked."""
    return make_rig(database, store, tenant, done())


def context(
    rig: Rig,
    request: ReflectRequest = ASKED,
    principal: Principal | None = None,
    room: int = 16_000,
    **overrides: object,
) -> ToolContext:
    job = ReflectJob(principal or rig.principal, rig.bank, request)
    return ToolContext(rig.ports, job, rig.bank_id, resolve(rig.settings, overrides), room)


def run(of: ToolContext, name: str, said: JsonObject, **ids: object) -> JsonObject:
    return toolbox.run(of, name, {"reason": "r", **said}, {alias: str(real) for alias, real in ids.items()})


def records(result: JsonObject, name: str) -> list[JsonObject]:
    value = result[name]
    assert isinstance(value, list)
    return [one for one in value if isinstance(one, dict)]


def texts(result: JsonObject, name: str) -> list[JsonValue]:
    return [one.get("text", one.get("content")) for one in records(result, name)]


def of_document(rig: Rig, name: str, text: str, tags: Sequence[str] = (), parts: Sequence[Sequence[str]] = ()) -> None:
    """Gives a document its text and tags, and the tags of the items it was made of."""
    params = psycopg.types.json.Jsonb({"parts": [{"tags": [*part]} for part in parts]})
    with psycopg.connect(rig.database.admin_url) as admin:
        admin.execute(
            "UPDATE hindsight.documents SET original_text = %s, tags = %s, retain_params = %s "
            "WHERE tenant_id = %s AND external_id = %s",
            (text, list(tags), params, rig.tenant, name),
        )


@pytest.mark.parametrize(
    ("fact_types", "names"),
    [
        pytest.param(None, ["search_observations", "recall", "expand"], id="X003-all"),
        pytest.param({"world"}, ["recall", "expand"], id="X003-facts"),
        pytest.param({"observation"}, ["search_observations"], id="X003-observations"),
    ],
)
def test_the_types_asked_for_decide_on_the_tools(rig: Rig, fact_types: set[str] | None, names: list[str]) -> None:
    request = replace(ASKED, fact_types=None if fact_types is None else frozenset(fact_types))
    job = ReflectJob(rig.principal, rig.bank, request)
    config = resolve(rig.settings, {})

    with_pages = toolbox.enabled(job, config, has_pages=True)

    assert list(toolbox.enabled(job, config)) == names
    assert list(with_pages) == ["search_mental_models", "read_mental_models", *names]


def test_a_bank_that_keeps_no_documents_has_nothing_to_expand(rig: Rig) -> None:
    job = ReflectJob(rig.principal, rig.bank, ASKED)

    assert "expand" not in toolbox.enabled(job, resolve(rig.settings, {"store_document_text": False}))


def test_the_best_page_comes_whole_and_others_begin(rig: Rig) -> None:
    long = "Bea lives in Rome. " * 40
    put_page(rig, "bea", long, about="Where does Bea live?")
    put_page(rig, "rome", long, about="Bea guitar Rome", is_fresh=False)
    rig.remember(MOVED)

    found = records(run(context(rig), "search_mental_models", {"query": "Where does Bea live?"}), "mental_models")

    assert [page["id"] for page in found] == ["bea", "rome"]
    assert (found[0]["content"], found[0]["relevance"]) == (long, 1.0)
    assert (found[1]["snippet"], found[1]["content_chars"]) == (long[:280], len(long))
    assert found[1]["is_stale"] is True
    assert found[1]["staleness_reason"] == "new_memories"


def test_pages_are_read_as_far_as_the_budget_goes_and_the_first_in_any_case(rig: Rig) -> None:
    for name in ("one", "two", "three"):
        put_page(rig, name, f"{name} " * (1_500 if name != "three" else 10))
    said: JsonObject = {"mental_model_ids": ["p1", "two", "three", "gone"], "max_tokens": 1_000}

    read = run(context(rig), "read_mental_models", said, p1="one")

    assert [page["id"] for page in records(read, "mental_models")] == ["one"]
    assert read["not_read"] == ["two", "three", "gone"]


def test_a_single_page_may_be_named_without_a_list(rig: Rig) -> None:
    put_page(rig, "one", "text")

    assert texts(run(context(rig), "read_mental_models", {"mental_model_ids": "p1"}, p1="one"), "mental_models") == [
        "text"
    ]


def test_a_page_outside_the_tags_is_neither_found_nor_read(rig: Rig) -> None:
    """Case [X048]."""
    put_page(rig, "mine", "Bea lives in Rome.", ["a"])
    put_page(rig, "theirs", "Bea lives in Oslo.", ["b"])
    seen = context(rig, replace(ASKED, tags=OF_A))
    forced = context(rig, principal=Principal(rig.tenant, "key", forced_tags=TagLeaf(frozenset({"a"}))))

    for of in (seen, forced):
        found = run(of, "search_mental_models", {"query": "Bea lives"})
        read = run(of, "read_mental_models", {"mental_model_ids": ["mine", "theirs"]})

        assert texts(found, "mental_models") == ["Bea lives in Rome."]
        assert texts(read, "mental_models") == ["Bea lives in Rome."]
        assert read["not_read"] == ["theirs"]


def test_an_excluded_page_is_neither_found_nor_read(rig: Rig) -> None:
    """Case [X050]: and with all pages excluded there is no tool for them."""
    put_page(rig, "mine", "Bea lives in Rome.")
    put_page(rig, "other", "Bea lives in Oslo.")
    without = context(rig, replace(ASKED, excluded_pages=frozenset({"other"})))
    all_but = replace(without.job, request=replace(ASKED, excluded_pages=frozenset({"mine", "other"})))
    none = replace(without.job, request=replace(ASKED, with_pages=False))

    found = run(without, "search_mental_models", {"query": "Bea lives"})
    read = run(without, "read_mental_models", {"mental_model_ids": ["mine", "other"]})
    with rig.store.transaction(rig.tenant) as tx:
        has_pages = [toolbox.has_pages(tx, job, rig.bank_id) for job in (without.job, all_but, none)]

    assert texts(found, "mental_models") == ["Bea lives in Rome."]
    assert read["not_read"] == ["other"]
    assert has_pages == [True, False, False]


def test_exactly_no_tags_is_the_untagged_in_every_tool(rig: Rig) -> None:
    """Case [X047]."""
    for name, tags in (("plain", ()), ("tagged", ("a",))):
        put_page(rig, name, f"Bea lives in {name}.", tags)
    plain, tagged = (
        Unit(f"Bea moved to {name}.", tags=tags, document=name, chunk_index=0)
        for name, tags in (("Rome", ()), ("Oslo", ("a",)))
    )
    beliefs = [Unit("Bea lives in Rome.", "observation"), Unit("Bea lives in Oslo.", "observation", tags=("a",))]
    rig.remember(plain, tagged, *beliefs)
    seen = context(rig, replace(ASKED, tags=UNTAGGED))

    assert texts(run(seen, "search_mental_models", {"query": "Bea lives"}), "mental_models") == ["Bea lives in plain."]
    assert run(seen, "read_mental_models", {"mental_model_ids": ["tagged"]})["not_read"] == ["tagged"]
    assert texts(run(seen, "search_observations", {"query": "Bea lives"}), "observations") == ["Bea lives in Rome."]
    recalled = run(seen, "recall", {"query": "Bea moved"})
    assert texts(recalled, "memories") == ["Bea moved to Rome."]
    assert "Oslo" not in str(recalled)
    opened = run(seen, "expand", {"memory_ids": [str(plain.id), str(tagged.id)], "depth": "chunk"})
    assert [sorted(one) for one in records(opened, "results")] == [
        ["chunk", "memory", "memory_id"],
        ["error", "memory_id"],
    ]


def test_expand_hides_memories_and_documents_outside_the_tags(rig: Rig) -> None:
    """Case [X049]."""
    mine = Unit("Bea moved to Rome.", tags=("a",), document="letter", chunk_index=0)
    theirs = Unit("Bea moved to Oslo.", tags=("b",), document="note", chunk_index=0)
    rig.remember(mine, theirs)
    of_document(rig, "letter", "secret", ["b"])
    seen = context(rig, replace(ASKED, tags=OF_A))
    wanted: JsonObject = {"memory_ids": ["f1", "f2"]}

    for depth in ("chunk", "document"):
        opened = run(seen, "expand", {**wanted, "depth": depth}, f1=mine.id, f2=theirs.id)

        first, second = records(opened, "results")
        assert first["source_withheld"] is True
        assert "secret" not in str(opened)
        assert second == {"memory_id": str(theirs.id), "error": "There is no such memory here."}


def test_a_document_that_holds_somebody_elses_items_is_withheld_from_a_limited_key(rig: Rig) -> None:
    mine = Unit("Bea moved to Rome.", tags=("a",), document="shared", chunk_index=0)
    rig.remember(mine)
    of_document(rig, "shared", "mine and theirs", ["a", "b"], [["a"], ["b"]])
    limited = context(rig, principal=Principal(rig.tenant, "key", forced_tags=TagLeaf(frozenset({"a"}))))
    said: JsonObject = {"memory_ids": "f1", "depth": "document"}

    (whole,), (hidden,) = (records(run(of, "expand", said, f1=mine.id), "results") for of in (context(rig), limited))

    assert whole["document"] == {"id": "shared", "full_text": "mine and theirs"}
    assert hidden["source_withheld"] is True
    assert "document" not in hidden


def test_expand_pairs_each_id_with_what_it_gave_and_fails_where_all_are_wrong(rig: Rig) -> None:
    bare = Unit("Bea speaks Thai.")
    rig.remember(MOVED, bare)
    ids = {"f1": MOVED.id, "f2": bare.id}

    mixed = run(context(rig), "expand", {"memory_ids": ["f9", "f1", str(uuid4()), "f2"], "depth": "chunk"}, **ids)
    wrong = run(context(rig), "expand", {"memory_ids": ["f9", "nonsense"], "depth": "chunk"}, **ids)

    found = records(mixed, "results")
    assert [("error" in one, "chunk" in one) for one in found] == [
        (True, False),
        (False, True),
        (True, False),
        (True, False),
    ]
    assert found[1]["chunk"] == {"id": "bank_letter_0", "text": "Chunk 0 of letter: Bea moved to Rome."}
    assert found[3]["error"] == "The source of this fact was not kept."
    assert "error" in wrong
    assert [one["memory_id"] for one in records(wrong, "results")] == ["f9", "nonsense"]


def test_a_long_document_is_cut_to_the_room_of_the_call(rig: Rig) -> None:
    rig.remember(MOVED)
    of_document(rig, "letter", "word " * 5_000)

    (opened,) = records(
        run(context(rig, room=1_000), "expand", {"memory_ids": "f1", "depth": "document"}, f1=MOVED.id), "results"
    )

    document = opened["document"]
    assert isinstance(document, dict)
    assert document["truncated"] is True
    assert 900 < len(str(document["full_text"]).split()) <= 1_002


def test_an_observation_opens_to_the_facts_that_may_be_seen(rig: Rig) -> None:
    fact, hidden = Unit("Bea moved to Rome.", tags=("a",)), Unit("Bea is hiding.", tags=("b",))
    belief = Unit("Bea lives in Rome.", "observation", tags=("a",), sources=(fact.id, hidden.id))
    rig.remember(fact, hidden, belief)
    limited = Principal(rig.tenant, "key", forced_tags=TagLeaf(frozenset({"a"})))

    (opened,) = records(
        run(context(rig, principal=limited), "expand", {"memory_ids": "o1", "depth": "chunk"}, o1=belief.id), "results"
    )

    assert opened["evidence"] == [{"id": str(fact.id), "text": "Bea moved to Rome."}]
    assert opened["withheld"] == 1


def test_a_window_of_changes_holds_for_every_tool(rig: Rig) -> None:
    rig.remember(MOVED, Unit("Bea lives in Rome.", "observation"))
    early = datetime(2020, 1, 1, tzinfo=UTC)
    windows = [replace(ASKED, updated_before=early), replace(ASKED, updated_after=early), ASKED]

    found = [
        (
            len(records(run(context(rig, request), "recall", {"query": "Bea"}), "memories")),
            len(records(run(context(rig, request), "search_observations", {"query": "Bea"}), "observations")),
            "error" in run(context(rig, request), "expand", {"memory_ids": "f1", "depth": "chunk"}, f1=MOVED.id),
        )
        for request in windows
    ]

    assert found == [(0, 0, True), (1, 1, False), (1, 1, False)]


def test_recall_brings_chunks_where_the_bank_wants_them(rig: Rig) -> None:
    rig.remember(MOVED, Unit("Bea speaks Thai."))
    said: JsonObject = {"query": "Bea", "max_chunk_tokens": None}

    usual = run(context(rig), "recall", said)
    none = run(context(rig, recall_include_chunks=False), "recall", {**said, "max_chunk_tokens": 5_000})

    (chunk,) = records(usual, "chunks")
    assert chunk == {"id": "bank_letter_0", "text": "Chunk 0 of letter: Bea moved to Rome.", "of": [str(MOVED.id)]}
    assert "chunks" not in none


def test_a_chunk_that_is_the_fact_itself_is_not_shown_twice(rig: Rig) -> None:
    rig.remember(MOVED)
    with psycopg.connect(rig.database.admin_url) as admin:
        admin.execute(
            "UPDATE hindsight.chunks SET chunk_text = 'Bea moved to Rome.' WHERE tenant_id = %s", (rig.tenant,)
        )

    assert "chunks" not in run(context(rig), "recall", {"query": "Bea"})


def test_observations_bring_their_sources_where_the_bank_wants_them(rig: Rig) -> None:
    fact = Unit("Bea moved to Rome.")
    belief = Unit("Bea lives in Rome.", "observation", sources=(fact.id,))
    rig.remember(fact, belief)
    said: JsonObject = {"query": "Bea lives"}

    usual = run(context(rig), "search_observations", said)
    with_sources = run(context(rig, reflect_source_facts_max_tokens=0), "search_observations", said)

    assert "source_facts" not in usual
    assert texts(with_sources, "source_facts") == ["Bea moved to Rome."]
    assert records(with_sources, "observations")[0]["rests_on"] == [str(fact.id)]


def test_contexts_are_cut_and_what_says_nothing_is_left_out(rig: Rig) -> None:
    moment = datetime(2026, 3, 1, 9, 30, 59, tzinfo=UTC)
    rig.remember(Unit("Bea moved.", context="c" * 900, occurred_start=moment, occurred_end=moment, tags=("a",)))

    (found,) = records(run(context(rig), "recall", {"query": "Bea moved"}), "memories")

    assert {name: value for name, value in found.items() if name != "id"} == {
        "text": "Bea moved.", "context": "c" * 200, "occurred_start": "2026-03-01T09:30+00:00", "tags": ["a"],
        "type": "world",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("state", "facts", "word"),
    [
        pytest.param("pending", 0, "up_to_date", id="X052-none"),
        pytest.param("pending", 3, "slightly_stale", id="X052-three"),
        pytest.param("pending", 12, "stale", id="X052-twelve"),
        pytest.param("failed", 1, "incomplete", id="X052-failed"),
    ],
)
def test_freshness_is_that_of_the_scopes_found_and_not_of_the_bank(rig: Rig, state: str, facts: int, word: str) -> None:
    behind = [Unit(f"Bea note {place}.", tags=("b",)) for place in range(facts)]
    rig.remember(
        Unit("Bea lives in Rome.", "observation", tags=("a",)),
        Unit("Bea lives in Oslo.", "observation", tags=("b",)),
        *behind,
    )
    with psycopg.connect(rig.database.admin_url) as admin:
        for fact in behind:
            admin.execute(
                "INSERT INTO hindsight.consolidation_work "
                "(tenant_id, bank_id, work_id, fact_id, scope_id, state, failed_at) "
                "SELECT tenant_id, bank_id, gen_random_uuid(), %s, scope_id, %s, "
                "CASE WHEN %s = 'failed' THEN now() END FROM hindsight.scopes WHERE tags = '{b}' AND tenant_id = %s",
                (fact.id, state, state, rig.tenant),
            )

    both = run(context(rig), "search_observations", {"query": "Bea lives"})
    fresh = run(context(rig, replace(ASKED, tags=OF_A)), "search_observations", {"query": "Bea lives"})

    assert (both["freshness"], both["is_stale"]) == (word, word != "up_to_date")
    assert (fresh["freshness"], fresh["is_stale"]) == ("up_to_date", False)
