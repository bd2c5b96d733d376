"""What keys of different sight may do to one page, and what of it they are shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hindsight_aws.access import PageSight
from hindsight_aws.model.principal import Permission
from hindsight_aws.model.tags import TagFilter
from hindsight_aws.ports.model_gateway import QueryVector
from tests.support.api import Caller
from tests.support.reflect import done
from tests.support.refreshing import page, ready
from tests.support.served_models import BANK, MODELS, Served
from tests.support.units import Unit

GOLD = "Gold grows here."
WIDE = {"tag_groups": [{"not": {"tags": ["c"]}}]}
OWN_TAGS = {"tags": ["a"], "match": "any_strict"}


@pytest.fixture
def published(served: Served) -> Served:
    """A key that sees all has made a page from memories of `a` and `b`, for those who see `a`."""
    served.garden.rig.remember(Unit("Roses grow here.", tags=("a",)), Unit(GOLD, tags=("b",)))
    served.garden.say(ready(), page("Plants grow.", cites=("f1", "f2")))
    served.make(tags=["a"], trigger={**WIDE, "keep_trace": True})
    return served


@pytest.mark.parametrize(
    "change",
    [
        {"trigger": {"tag_groups": []}}, {"trigger": {"fact_types": ["world"]}}, {"tags": ["a", "b"]},
        {"source_query": "Where is gold?"},
    ],
    ids=["groups", "types", "tags", "question"],
)  # fmt: skip
def test_a_narrower_key_changes_nothing_that_a_page_is_written_from(
    published: Served, limited: Callable[..., Caller], change: dict[str, object]
) -> None:
    """[G5] The page is written with its creator's sight: whoever steers it reads with that."""
    key = limited(forced_tags=OWN_TAGS)

    refused = key("PATCH", f"{MODELS}/plants", change)
    renamed = key("PATCH", f"{MODELS}/plants", {"name": "Flora", "max_tokens": 512})
    wider = published.call("PATCH", f"{MODELS}/plants", change)

    assert (refused.status, renamed.status, wider.status) == (403, 200, 200)
    assert renamed.json()["name"] == "Flora"


def test_a_name_that_is_the_question_is_part_of_it(served: Served, limited: Callable[..., Caller]) -> None:
    served.garden.rig.workflows.runs = False
    served.make(tags=["a"], source_query=" ")
    key = limited(forced_tags=OWN_TAGS)

    assert key("PATCH", f"{MODELS}/plants", {"name": "Where is gold?"}).status == 403


def test_a_key_changes_what_one_of_equal_sight_made(served: Served, limited: Callable[..., Caller]) -> None:
    served.garden.rig.workflows.runs = False
    served.make(limited(forced_tags=OWN_TAGS), tags=["a"])

    assert limited(forced_tags=OWN_TAGS)("PATCH", f"{MODELS}/plants", {"source_query": "What else?"}).status == 200


def test_the_sources_of_a_page_are_shown_to_those_alone_who_may_see_them(
    published: Served, limited: Callable[..., Caller]
) -> None:
    """[G5] The text is published, what it rests on is not: counted, not told."""
    key = limited(forced_tags=OWN_TAGS)

    shown = key("GET", f"{MODELS}/plants")
    whole = published.call("GET", f"{MODELS}/plants").json()["reflect_response"]

    told = shown.json()["reflect_response"]
    assert shown.json()["content"] == whole["text"]
    assert [one["text"] for one in told["based_on"]["world"]] == ["Roses grow here."]
    assert (told["withheld"], whole["withheld"]) == (1, 0)
    assert GOLD not in shown.body.decode()
    assert ("trace" in told, "trace" in whole) == (False, True)
    assert len(whole["based_on"]["world"]) == 2


def test_former_texts_are_told_without_how_they_were_found(published: Served, limited: Callable[..., Caller]) -> None:
    published.call("POST", f"{MODELS}/plants/clear")
    key = limited(forced_tags=OWN_TAGS)

    entries = [
        caller("GET", f"{MODELS}/plants/history").json()[0]["previous_reflect_response"]
        for caller in (key, published.call)
    ]

    assert ["trace" in entry for entry in entries] == [False, True]


def test_a_preview_is_for_those_who_see_all_that_it_is_made_from(
    published: Served, limited: Callable[..., Caller]
) -> None:
    """[G5] It tells what every tool found."""
    published.garden.say(ready(), page("Plants grow.", cites=("f1", "f2")))

    answer = limited(forced_tags=OWN_TAGS)("POST", f"{MODELS}/plants/dry-run-refresh")

    assert answer.status == 403
    assert published.garden.tasks == []


def test_a_key_that_only_writes_is_told_no_text(published: Served, limited: Callable[..., Caller]) -> None:
    """[G5] Neither by a change that changes nothing, nor by a clearing, nor by a preview."""
    directive = published.call("POST", f"{BANK}/directives", {"name": "n", "content": "Say gold."}).json()
    key = limited(permissions=frozenset({Permission.WRITE}))
    published.garden.say(ready(), page("Plants grow.", cites=("f1", "f2")))

    preview = key("POST", f"{MODELS}/plants/dry-run-refresh")
    ruled = key("PATCH", f"{BANK}/directives/{directive['id']}", {})
    changed = [key("PATCH", f"{MODELS}/plants", {}), key("POST", f"{MODELS}/plants/clear")]

    assert (preview.status, preview.json()) == (403, {"detail": "This key does not have the read permission"})
    assert published.garden.tasks == []
    assert (ruled.status, ruled.json()) == (200, {**directive, "content": ""})
    for answer in changed:
        told = answer.json()
        assert (answer.status, told["content"], told["source_query"], told["reflect_response"]) == (
            200,
            None,
            None,
            None,
        )
    assert set(changed[0].json()) == set(published.call("GET", f"{MODELS}/plants").json())


def test_reflect_reads_no_page_that_is_written_from_other_types_than_asked_for(published: Served) -> None:
    """A page of facts would tell them to who asks for observations alone."""
    asked = {"query": "What grows here?"}
    published.garden.rig.remember(Unit("What grows here is tended.", fact_type="observation"))
    published.garden.say(ready(), page("All is tended.", cites=("o1",)))
    published.make(id="care", trigger={"fact_types": ["observation"]})
    published.garden.say(done("Plants.", "p1"))
    published.call("POST", f"{BANK}/reflect", asked)
    seen = str([(call.blocks, call.history) for call in published.garden.rig.model.calls])

    published.garden.say(done("All is tended.", "o1"))
    published.call("POST", f"{BANK}/reflect", {**asked, "fact_types": ["observation"]})
    unseen = str([(call.blocks, call.history) for call in published.garden.rig.model.calls])

    assert ["Plants grow." in seen, "All is tended." in seen] == [True, True]
    assert ["Plants grow." in unseen, "All is tended." in unseen] == [False, True]


def test_pages_that_another_model_embedded_are_not_compared(published: Served) -> None:
    garden = published.garden
    vector = garden.rig.embedder.embed(["What grows here?"], "query", lambda _usage: None)[0]
    with garden.rig.store.snapshot(garden.rig.tenant) as tx:
        found = [
            tx.mental_models.search(garden.rig.bank_id, QueryVector(model, vector), PageSight(TagFilter()), (), 5)
            for model in (garden.rig.embedder.model, "another")
        ]

    assert [len(pages) for pages in found] == [1, 0]
