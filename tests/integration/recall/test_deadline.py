"""A recall with a deadline answers what it has in time and names what it cut, whichever part was slow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import psycopg
import pytest

from hindsight_aws.errors import DatabaseTooSlow
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.recalled import RecallAnswer
from hindsight_aws.model.tags import TagLeaf
from hindsight_aws.ports.model_gateway import Embedding, EmbeddingPurpose, UsageSink
from hindsight_aws.recall import RecallQuery
from hindsight_aws.store.postgres import PostgresStore, PostgresTransaction
from tests.support.api import Caller
from tests.support.database import Database
from tests.support.recalling import NORTH, Asking, ToldEmbedder
from tests.support.units import Unit, insert_units

_IN_TIME = RecallQuery("where is the kettle?")
_ARMS = {"keyword", "semantic", "graph"}


@contextmanager
def _locked(database: Database, table: str) -> Iterator[None]:
    """Makes every reading of a table wait, as a slow one would."""
    with psycopg.connect(database.admin_url) as other:
        other.execute(f"LOCK TABLE hindsight.{table} IN ACCESS EXCLUSIVE MODE".encode())
        yield
        other.rollback()


def _short_of(part: str | set[str], ask: Callable[[int], RecallAnswer]) -> RecallAnswer:
    """The answer to the shortest deadline that cuts this alone: a machine that stalls is given more time."""
    parts = {part} if isinstance(part, str) else part
    answer = ask(600)
    for milliseconds in (3_000, 18_000):
        if set(answer.cut or ()) != parts:
            answer = ask(milliseconds)
    return answer


@dataclass
class _SlowEmbedder(ToldEmbedder):
    """Answers when it is let."""

    let: threading.Event = field(default_factory=threading.Event)

    def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose, usage: UsageSink) -> list[Embedding]:
        self.let.wait(60)
        return super().embed(texts, purpose, usage)


@dataclass
class _SlowReranker:
    """A rerank model that likes the last best, and says so when it is let."""

    ranks_only: bool = False
    let: threading.Event = field(default_factory=threading.Event)

    def rerank(self, query: str, texts: Sequence[str], top: int, usage: UsageSink) -> list[tuple[int, float]]:
        self.let.wait(60)
        return [(index, (index + 1) / len(texts)) for index in range(len(texts))]


@pytest.fixture
def kettle(database: Database, tenant: TenantId, bank: BankId) -> None:
    source = Unit("Mara put it there", vector=NORTH, tags=("own",))
    insert_units(
        database.admin_url, tenant, bank,
        [
            source,
            Unit("The kettle is in the kitchen", vector=NORTH, tags=("own",)),
            Unit("A kettle boils water", "observation", tags=("own",), sources=(source.id,)),
        ],
    )  # fmt: skip


def _ledger(database: Database) -> list[tuple[object, ...]]:
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute("SELECT task, status, input_tokens FROM hindsight.usage_ledger").fetchall()


@pytest.mark.usefixtures("kettle")
def test_an_answer_in_time_is_whole_and_says_so(asking: Asking) -> None:
    answer = asking.ask(replace(_IN_TIME, deadline_ms=20_000, with_trace=True))

    assert answer.cut == ()
    assert [result.unit.id for result in answer.results] == [
        result.unit.id for result in asking.ask(_IN_TIME.query).results
    ]
    assert answer.trace is not None
    assert answer.trace["cut"] == []


@pytest.mark.usefixtures("kettle")
def test_an_arm_that_is_slow_is_cut_and_named_and_the_rest_is_answered(database: Database, asking: Asking) -> None:
    with _locked(database, "unit_terms"):
        answer = _short_of("keyword", lambda ms: asking.ask(replace(_IN_TIME, deadline_ms=ms, with_trace=True)))

    assert answer.cut == ("keyword",)
    assert answer.trace is not None
    assert answer.trace["cut"] == ["keyword"]
    found = {result.unit.text: result.scores for result in answer.results}
    assert found.keys() == {"Mara put it there", "The kettle is in the kitchen"}
    assert all(scores.keyword is None and scores.semantic is not None for scores in found.values())


@pytest.mark.usefixtures("kettle")
def test_the_graph_arm_is_cut_where_links_are_slow(database: Database, asking: Asking) -> None:
    with _locked(database, "memory_links"):
        answer = _short_of("graph", lambda ms: asking.ask(replace(_IN_TIME, deadline_ms=ms)))

    assert answer.cut == ("graph",)
    assert len(answer.results) == 3


@pytest.mark.usefixtures("kettle")
def test_a_vector_that_comes_too_late_leaves_the_words_and_a_line_in_the_ledger(
    database: Database, asking: Asking
) -> None:
    slow = _SlowEmbedder()

    try:
        hurried = replace(asking, embedder=slow)
        answer = _short_of({"semantic", "graph"}, lambda ms: hurried.ask(replace(_IN_TIME, deadline_ms=ms)))
    finally:
        slow.let.set()

    assert set(answer.cut or ()) == {"semantic", "graph"}
    assert {result.unit.text for result in answer.results} == {"The kettle is in the kitchen", "A kettle boils water"}
    assert set(_ledger(database)) == {("embed_query", "abandoned", 0)}


@pytest.mark.usefixtures("kettle")
def test_a_rerank_model_that_answers_too_late_leaves_the_fused_order(database: Database, asking: Asking) -> None:
    slow = _SlowReranker()
    fused = asking.texts(_IN_TIME.query)

    try:
        answer = _short_of("rerank", lambda ms: asking.ask(replace(_IN_TIME, deadline_ms=ms), reranker=slow))
    finally:
        slow.let.set()

    assert answer.cut == ("rerank",)
    assert [result.unit.text for result in answer.results] == fused
    assert ("rerank", "abandoned", 0) in _ledger(database)


@pytest.mark.parametrize("table", ["memory_units", "bank_counters"])
@pytest.mark.usefixtures("kettle")
def test_where_nothing_can_be_read_in_time_the_answer_is_empty_and_names_every_arm(
    database: Database, asking: Asking, table: str
) -> None:
    with _locked(database, table):
        answer = asking.ask(replace(_IN_TIME, deadline_ms=60))

    assert answer.results == ()
    assert set(answer.cut or ()) >= _ARMS


@pytest.mark.usefixtures("kettle")
def test_the_temporal_arm_is_named_where_the_question_means_a_time(database: Database, asking: Asking) -> None:
    with _locked(database, "bank_counters"):
        answer = asking.ask(RecallQuery("what happened yesterday?", deadline_ms=60))

    assert set(answer.cut or ()) == {*_ARMS, "temporal"}


@pytest.mark.usefixtures("kettle")
def test_what_lies_beneath_is_left_out_and_not_said_to_be_nothing(database: Database, asking: Asking) -> None:
    own = asking.limited(forced_tags=TagLeaf(frozenset({"own"})))

    with _locked(database, "consolidation_work"):
        asked = replace(_IN_TIME, with_quotes=True, source_tokens=100)
        answer = _short_of("beneath", lambda ms: own.ask(replace(asked, deadline_ms=ms)))

    assert answer.cut == ("beneath",)
    assert len(answer.results) == 3
    assert answer.withheld is None
    assert answer.sources is None
    assert answer.quotes_of is None


@pytest.mark.usefixtures("kettle")
def test_the_wire_tells_of_cuts_only_who_set_a_deadline(call: Caller) -> None:
    path = "/v1/default/banks/bank/memories/recall"

    plain = call("POST", path, {"query": "kettle"}).json()
    bounded = call("POST", path, {"query": "kettle", "deadline_ms": 20_000}).json()
    refused = call("POST", path, {"query": "kettle", "deadline_ms": 9})

    unknown = call("POST", "/v1/default/banks/none/memories/recall", {"query": "kettle", "deadline_ms": 10})

    assert unknown.status == 404
    assert "cut_arms" not in plain
    assert bounded["cut_arms"] == []
    assert refused.status == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "deadline_ms"]


def test_a_part_that_runs_out_of_time_leaves_the_transaction_as_it_was(store: PostgresStore, tenant: TenantId) -> None:
    def timeout(tx: PostgresTransaction) -> object:
        return tx.session.connection.execute("SELECT current_setting('statement_timeout')").fetchone()

    with store.transaction(tenant) as tx:
        before = timeout(tx)
        with tx.recall.within(40):
            inside = timeout(tx)
        between = timeout(tx)
        with pytest.raises(DatabaseTooSlow), tx.recall.within(40):
            tx.session.connection.execute("SELECT pg_sleep(5)")
        after = timeout(tx)

    assert before == between == after
    assert inside != before


def test_what_was_sent_behind_a_statement_that_was_cut_is_not_taken_for_prepared(
    store: PostgresStore, tenant: TenantId
) -> None:
    asked = b"SELECT 7"  # often enough to be prepared, at the very time that it is not even looked at
    with store.transaction(tenant) as tx:
        connection = tx.session.connection
        for _ in range(2):
            with tx.recall.within(60_000):
                connection.execute(asked)
        connection.execute(asked)

        with pytest.raises(DatabaseTooSlow):
            _send_behind_a_slow_one(tx, asked)
        meanwhile = connection.execute(asked).fetchone()
    with store.transaction(tenant) as tx:
        is_prepared = tx.session.connection.prepare_threshold is not None
        afterwards = tx.session.connection.execute(asked).fetchone()

    assert (meanwhile, afterwards, is_prepared) == ((7,), (7,), True)


def _send_behind_a_slow_one(tx: PostgresTransaction, asked: bytes) -> None:
    with tx.recall.within(20), tx.session.pipeline():
        tx.session.connection.execute("SELECT pg_sleep(5)")
        tx.session.connection.execute(asked)
