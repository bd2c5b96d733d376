"""What was believed at a past time: wordings and facts of then, and nothing that was deleted or sealed since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Principal
from hindsight_aws.model.recalled import RecallAnswer
from hindsight_aws.model.tags import TagFilter, TagLeaf, TagsMatch
from hindsight_aws.ports.clock import SystemClock
from hindsight_aws.ports.past import PastQuery
from hindsight_aws.ports.recall import TimeFilter
from hindsight_aws.recall import Budget, RecallQuery, recall
from hindsight_aws.recall import past as past_room
from hindsight_aws.store.postgres import PostgresStore
from tests.support.api import Caller
from tests.support.consolidation import Workshop, creates, updates
from tests.support.database import Database
from tests.support.rebuilding import DETAIL, TRENDS, drain_woken, listening, run_sweep

_BANK = "/v1/default/banks/bank"


class Diary:
    """A bank whose beliefs change, and moments in between."""

    def __init__(self, workshop: Workshop) -> None:
        self.shop = workshop

    def moment(self) -> datetime:
        """A moment that all writes so far came before, and all others come after."""
        return datetime.fromisoformat(str(self.shop.sql("SELECT clock_timestamp() AS at")[0]["at"]))

    def ask(self, text: str, at: datetime | None, principal: Principal | None = None, **asked: Any) -> RecallAnswer:
        query = RecallQuery(text, times=TimeFilter(as_of=at), **asked)
        asker = principal or Principal(self.shop.tenant, "me")
        return recall(
            self.shop.store, self.shop.embedder, self.shop.settings, asker, "bank", query, clock=SystemClock()
        )

    def texts(self, text: str, at: datetime | None, principal: Principal | None = None, **asked: Any) -> list[str]:
        """The texts, sorted: what is asked here is what was believed, not in what order."""
        return sorted(result.unit.text for result in self.ask(text, at, principal, **asked).results)


@pytest.fixture
def diary(database: Database, tenant: TenantId, store: PostgresStore) -> Diary:
    return Diary(Workshop(database, tenant, store))


_OBSERVED = ("observation",)


def _tea_then_coffee(diary: Diary, *tags: str) -> tuple[datetime, datetime, datetime]:
    """Before anything, while tea was believed, and since coffee is."""
    shop = diary.shop
    before = diary.moment()
    (first,) = shop.remember("Ana ordered a cup of tea.", tags=tags)
    shop.answers(creates(("Ana drinks tea every morning.", [first])))
    shop.drain(*tags)
    tea = diary.moment()
    (second,) = shop.remember("Ana switched to espresso.", tags=tags)
    (observation,) = shop.observations(*tags)
    shop.answers(updates(observation["id"], "Ana drinks coffee now.", [second]))
    shop.drain(*tags)
    return before, tea, diary.moment()


def test_an_observation_is_found_in_the_words_that_it_had(diary: Diary) -> None:
    before, tea, coffee = _tea_then_coffee(diary)

    answer = diary.ask("what tea does Ana drink", tea, fact_types=_OBSERVED, with_quotes=True, source_tokens=500)

    (result,) = answer.results
    assert result.unit.text == "Ana drinks tea every morning."
    assert result.unit.proof_count == 1
    assert result.scores.keyword is not None
    assert result.scores.semantic is not None
    assert answer.quotes_of is not None
    assert [quote.text for quote in answer.quotes_of[result.unit.id]] == ["Ana ordered a cup of tea."]
    assert answer.sources is not None
    assert [fact.text for fact in answer.sources.facts] == ["Ana ordered a cup of tea."]
    assert not answer.fresh_of
    assert answer.believed is not None
    assert answer.believed.is_complete
    assert diary.texts("tea or coffee", before) == []
    assert diary.texts("tea coffee", coffee, fact_types=_OBSERVED) == ["Ana drinks coffee now."]
    assert diary.texts("tea coffee", None, fact_types=_OBSERVED) == ["Ana drinks coffee now."]


def test_former_words_are_found_by_their_own_vector(diary: Diary) -> None:
    """With words left out of the search, and though the vector of today's wording is another."""
    _, tea, _ = _tea_then_coffee(diary)
    diary.shop.configure(enable_text_search=False)

    assert diary.texts("tea every morning", tea, fact_types=_OBSERVED) == ["Ana drinks tea every morning."]
    assert diary.texts("coffee now", tea, fact_types=_OBSERVED) == []


def test_facts_stored_later_are_left_out_before_any_cap(diary: Diary) -> None:
    """A hard filter in every arm: nearer facts of later leave room for those of then."""
    shop = diary.shop
    shop.configure(recall_budget_fixed_low=2)
    shop.remember("A kettle of long ago.")
    then = diary.moment()
    shop.remember(*(f"kettle kettle {number}" for number in range(4)))

    assert diary.texts("kettle", then, budget=Budget.LOW) == ["A kettle of long ago."]
    assert "A kettle of long ago." not in diary.texts("kettle", None, budget=Budget.LOW)


def test_an_observation_that_ended_is_believed_until_then_and_no_longer(diary: Diary) -> None:
    shop = diary.shop
    first, second = shop.remember("Ana likes tea.", "Ana likes green tea.")
    shop.answers(creates(("Ana likes tea a lot.", [first]), ("Ana prefers green tea.", [second])))
    shop.drain()
    both = diary.moment()
    kept, ended = shop.observations()
    shop.remember("Ana drinks green tea.")
    shop.answers({"deletes": [{"observation_id": str(ended["id"]), "merged_into": str(kept["id"])}]})
    shop.drain()
    assert len(shop.observations()) == 1
    merged = diary.moment()

    assert len(diary.texts("tea", both, fact_types=_OBSERVED)) == 2
    assert diary.texts("tea", merged, fact_types=_OBSERVED) == [kept["text"]]


def test_what_a_deleted_fact_supported_is_in_no_answer_about_the_past(diary: Diary) -> None:
    """Promise [G7]: with the text, the vector of the wording is gone."""
    _, tea, coffee = _tea_then_coffee(diary)
    fact = diary.shop.sql("SELECT id FROM memory_units WHERE text LIKE 'Ana ordered%%'")[0]["id"]

    with diary.shop.store.transaction(diary.shop.tenant) as tx:
        tx.memories.remove(diary.shop.bank_id, [fact])

    assert diary.texts("tea coffee Ana", tea) == []
    assert diary.texts("tea coffee Ana", coffee) == ["Ana switched to espresso."]
    assert diary.shop.sql("SELECT FROM observation_revisions WHERE embedding IS NOT NULL") == []


@pytest.mark.parametrize("sealed_days", [0, 3])
def test_a_generation_that_was_made_anew_is_never_believed_before_it_took_its_place(
    diary: Diary, sealed_days: int
) -> None:
    """Promise [G7]: neither the sealed words, nor those that were still in the making."""
    shop = listening(diary.shop)
    shop.settings = shop.settings.model_copy(update={"hindsight_api_sealed_retention_days": sealed_days})
    shop.configure(observations_mission=DETAIL)
    shop.remember("Acme Robotics leased a kettle.")
    shop.drain()
    detailed = diary.moment()
    assert diary.texts("kettle", detailed, fact_types=_OBSERVED) == ["Noted: Acme Robotics leased a kettle."]
    shop.configure(observations_mission=TRENDS)

    run_sweep(shop)
    drain_woken(shop)

    made = shop.sql("SELECT changed_at FROM observation_revisions")[0]["changed_at"]
    assert diary.texts("kettle", detailed, fact_types=_OBSERVED) == []
    assert diary.texts("kettle", made, fact_types=_OBSERVED) == []
    assert diary.texts("kettle", diary.moment(), fact_types=_OBSERVED) == ["A firm leased a kettle."]


def test_a_key_of_exact_scopes_sees_no_words_of_former_times_and_hears_how_many(diary: Diary) -> None:
    """DESIGN §5: the wording of an observation's history lies beneath it."""
    _, tea, _ = _tea_then_coffee(diary, "company")
    shop = diary.shop
    (fact,) = shop.remember("Acme leased a kettle.", tags=("company", "kitchen"))
    shop.answers(creates(("Acme has a kettle for tea.", [fact])))
    shop.drain("company", "kitchen")
    scopes = frozenset({frozenset({"company"}), frozenset({"company", "kitchen"})})
    company = replace(Principal(shop.tenant, "company"), exact_scopes=scopes)

    then, now = diary.ask("tea", tea, company), diary.ask("tea kettle", diary.moment(), company)

    assert then.results == ()
    assert then.withheld is not None
    assert then.withheld >= 1
    assert "Acme has a kettle for tea." in [result.unit.text for result in now.results]
    assert {result.unit.fact_type for result in now.results} == {"observation"}


def test_tags_that_a_key_forces_hide_former_words_of_others(diary: Diary) -> None:
    _, tea, _ = _tea_then_coffee(diary, "ana")
    own = replace(Principal(diary.shop.tenant, "bob"), forced_tags=TagLeaf(frozenset({"bob"})))
    hers = TagFilter.flat(["ana"], TagsMatch.ANY_STRICT)

    assert diary.texts("tea", tea, own) == []
    assert diary.texts("tea", tea, fact_types=_OBSERVED, tags=hers) == ["Ana drinks tea every morning."]
    assert diary.texts("tea", tea, tags=TagFilter.flat(["bob"], TagsMatch.ANY_STRICT)) == []


def test_an_answer_says_when_more_former_words_are_left_than_were_read(
    diary: Diary, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, tea, _ = _tea_then_coffee(diary)
    monkeypatch.setattr(past_room, "PastQuery", partial(PastQuery, at_most=1))

    answer = diary.ask("tea", tea)

    assert answer.believed is not None
    assert not answer.believed.is_complete


@pytest.fixture
def retained(call: Caller) -> Callable[[], str]:
    """The id of a fact that was retained through the API."""
    call("POST", f"{_BANK}/memories", {"items": [{"content": "The kettle is blue.", "document_id": "letter"}]})
    return lambda: str(call("GET", f"{_BANK}/memories/list").json()["items"][0]["id"])


def _then(call: Caller, at: datetime) -> list[str]:
    answer = call("POST", f"{_BANK}/memories/recall", {"query": "kettle", "as_of": at.isoformat()})
    assert answer.status == 200, answer.body
    assert answer.json()["as_of"] == {"at": at.isoformat(), "complete": True}
    return [result["text"] for result in answer.json()["results"]]


def test_a_fact_is_believed_when_it_was_in_use_and_in_the_words_it_has(
    call: Caller, retained: Callable[[], str]
) -> None:
    """Out of use and back again; edited, its former words being nowhere any more; and deleted with its document."""
    fact = f"{_BANK}/memories/{retained()}"
    stored = datetime.now(UTC)
    call("PATCH", fact, {"state": "invalidated"})
    gone = datetime.now(UTC)
    while_out = [_then(call, stored), _then(call, gone)]
    call("PATCH", fact, {"state": "valid"})
    back = datetime.now(UTC)
    while_back = [_then(call, at) for at in (stored, gone, back)]
    call("PATCH", fact, {"text": "The kettle is green."})
    edited = datetime.now(UTC)
    once_edited = [_then(call, at) for at in (stored, back, edited)]
    call("DELETE", f"{_BANK}/documents/letter")

    blue, green = ["The kettle is blue."], ["The kettle is green."]
    assert while_out == [blue, []]
    assert while_back == [blue, [], blue]
    assert once_edited == [[], [], green]
    assert [_then(call, at) for at in (stored, back, edited)] == [[], [], []]


@pytest.mark.usefixtures("retained")
def test_a_moment_that_has_no_past_is_refused_by_name(call: Caller) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    past = "2026-01-01T00:00:00Z"
    for asked in (
        {"as_of": later},
        {"as_of": "0001-01-01T00:00:00+14:00"},
        {"as_of": "yesterday"},
        {"as_of": past, "created_after": past},
    ):
        refused = call("POST", f"{_BANK}/memories/recall", {"query": "kettle", **asked})

        assert refused.status == 422
        assert "as_of" in refused.body.decode()


@pytest.mark.usefixtures("retained")
def test_the_past_cannot_be_asked_about_a_write(call: Caller) -> None:
    token = call("POST", f"{_BANK}/memories", {"items": [{"content": "Once more."}]}).json()["watermark"]

    refused = call("POST", f"{_BANK}/memories/recall", {"query": "x", "as_of": "2026-01-01T00:00:00Z", "after": token})

    assert refused.status == 422
    assert "as_of cannot be combined with `after`" in refused.body.decode()
