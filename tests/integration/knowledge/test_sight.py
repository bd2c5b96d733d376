"""What keys that see part of a bank meet of its knowledge base: neither a page of others, nor what a folder hides."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hindsight_aws.model.principal import Permission
from tests.support.api import Caller
from tests.support.knowledge import BASE, Shelf
from tests.support.served_models import MODELS

OWN = {"tags": ["a"], "match": "any_strict"}


@pytest.fixture
def kept(shelf: Shelf) -> dict[str, str]:
    """Folders of the owner: with a page of `a`, with one of `b`, with neither, and with both."""
    ids = {name: shelf.folder(name) for name in ("Shared", "Secret", "Empty")}
    ids["Both"] = shelf.folder("Both", ids["Shared"])
    for name, folder, tags in (("Mine", "Shared", ["a"]), ("Theirs", "Secret", ["b"]), ("Deep", "Both", ["a"])):
        ids[name] = shelf.page(name, ids[folder], tags=tags)
    ids["Hidden"] = shelf.page("Hidden", ids["Both"], tags=["b"])
    return ids


@pytest.fixture
def key(limited: Callable[..., Caller]) -> Caller:
    return limited(forced_tags=OWN)


def test_a_folder_is_shown_for_a_page_in_sight_and_hides_the_others(
    shelf: Shelf, kept: dict[str, str], key: Caller
) -> None:
    """[G5] Neither the name of a page nor that of a folder that only hides something."""
    assert shelf.tree(key) == {"Shared": {"Both": {"Deep": None}, "Mine": None}}
    for hidden in ("Theirs", "Hidden"):
        assert key("GET", f"{BASE}/pages/{kept[hidden]}").status == 404
    exported = key("GET", f"{BASE}/export")
    assert {file["path"] for file in exported.json()["files"]} == {
        "index.md", *(f"{kept[name]}{ending}" for name in ("Mine", "Deep") for ending in (".md", ".log.md")),
    }  # fmt: skip
    assert not {word for word in ("Theirs", "Hidden", "Secret", "Empty") if word in exported.body.decode()}


@pytest.mark.parametrize("limits", [{"exact_scopes": (("a",),)}, {"fact_types": frozenset({"observation"})}])
def test_a_key_of_fewer_types_or_scopes_sees_no_page_of_more(
    shelf: Shelf, kept: dict[str, str], limited: Callable[..., Caller], limits: dict[str, object]
) -> None:
    key = limited(**limits)

    own = shelf.page("Own", shelf.folder("Place", caller=key), key, tags=["a"])

    assert shelf.tree(key) == {"Place": {"Own": None}}
    assert key("GET", f"{BASE}/pages/{own}").status == 200
    assert "Own" in str(shelf.tree())
    assert len(kept) == 8


@pytest.mark.parametrize("hidden", ["Secret", "Empty", "Theirs", "kf-nothing"])
def test_what_is_hidden_is_as_if_it_were_not_there(
    shelf: Shelf, kept: dict[str, str], key: Caller, hidden: str
) -> None:
    node = kept.get(hidden, hidden)

    answers = [
        key("POST", f"{BASE}/folders", {"name": "f", "parent_id": node}),
        shelf.try_page("p", node, key, tags=["a"]),
        shelf.change(kept["Mine"], key, parent_id=node),
        shelf.change(node, key, name="n"),
        shelf.delete(node, key),
    ]

    assert [answer.status for answer in answers] == [400, 400, 400, 404, 404]
    assert {answer.body.decode().replace(node, "?") for answer in answers[:3]} == {
        '{"detail":"parent_id: there is no folder \'?\'"}'
    }
    assert {answer.body.decode().replace(node, "?") for answer in answers[3:]} == {
        '{"detail":"Knowledge node \'?\' not found"}'
    }


def test_a_limited_key_changes_folders_of_its_like_alone(
    shelf: Shelf, kept: dict[str, str], key: Caller, limited: Callable[..., Caller]
) -> None:
    own = shelf.folder("Own", kept["Shared"], key)
    alike = limited(forced_tags=OWN)

    refused = [
        shelf.change(kept["Shared"], key, name="n").status,
        shelf.change(kept["Both"], key, parent_id=None).status,
        shelf.delete(kept["Both"], key).status,
        shelf.delete(kept["Shared"], key).status,
    ]

    assert refused == [403] * 4
    assert shelf.change(own, alike, name="Ours").status == 200
    assert "Ours" in str(shelf.tree(key))
    assert "Ours" not in str(shelf.tree(limited(forced_tags={"tags": ["b"], "match": "any_strict"})))
    assert shelf.change(own, name="Renamed by the owner").status == 200
    assert "Renamed" not in str(shelf.tree(key))


def test_nothing_hidden_is_deleted_with_ones_own_folder(shelf: Shelf, key: Caller) -> None:
    own = shelf.folder("Own", caller=key)
    page = shelf.page("Mine", own, key, tags=["a"])
    hidden = shelf.page("Hidden", own, tags=["b"])

    refused = shelf.delete(own, key)

    assert refused.status == 403
    assert "Hidden" not in refused.body.decode()
    assert (shelf.delete(page, key).status, shelf.delete(hidden).status, shelf.delete(own, key).status) == (200,) * 3


def test_a_narrower_key_moves_a_page_and_does_not_steer_it(shelf: Shelf, kept: dict[str, str], key: Caller) -> None:
    """[G5] The page is written with its creator's sight."""
    question, moved = shelf.change(kept["Mine"], key, source_query="Gold?"), shelf.change(kept["Mine"], key, name="Our")

    assert (question.status, moved.status) == (403, 200)
    assert shelf.change(kept["Mine"], key, tags=["c"]).status == 403


def test_a_search_finds_and_counts_what_is_in_sight(shelf: Shelf, kept: dict[str, str], key: Caller) -> None:
    found = key("GET", f"{BASE}/search?q=deep+hidden").json()

    assert [one["id"] for one in found["results"]] == [kept["Deep"]]
    assert found["total"] == 1
    assert len(shelf.search("deep+hidden")) == 2


def test_a_key_that_only_writes_is_told_nothing_of_a_page(shelf: Shelf, limited: Callable[..., Caller]) -> None:
    page = shelf.page("Roses")
    writer = limited(permissions=frozenset({Permission.WRITE}))

    changed = shelf.change(page, writer, name="Tulips").json()

    assert (changed["description"], changed["trigger"]) == (None, None)
    assert writer("GET", f"{BASE}/tree").status == 403
    assert writer("GET", f"{MODELS}").status == 403
