"""Folders and pages: made, moved, renamed and deleted, each as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.admin import changing
from tests.support.golden import schema_errors
from tests.support.knowledge import BASE, Shelf
from tests.support.served_models import BANK, MODELS

AFTER = {"refresh_after_consolidation": True}
ROUTE = "/v1/default/banks/{bank_id}/knowledge-base"


def test_a_page_lies_in_its_folder_and_is_a_mental_model(shelf: Shelf) -> None:
    folder = shelf.folder("Plants")

    made = shelf.try_page("Roses", folder, tags=["garden"]).json()

    assert made["page_id"].startswith("kp-")
    (root,) = shelf.call("GET", f"{BASE}/tree").json()["roots"]
    assert schema_errors("GET", f"{ROUTE}/tree", 200, {"roots": [root]}) == []
    (page,) = root["children"]
    assert (root["kind"], page["kind"], page["parent_id"]) == ("folder", "page", folder)
    assert (page["mental_model_id"], page["description"]) == (made["mental_model_id"], "What of Roses?")
    assert (page["tags"], page["is_stale"]) == (["garden"], True)
    model = shelf.call("GET", f"{MODELS}/{made['mental_model_id']}").json()
    assert (model["name"], model["max_tokens"], model["is_knowledge_page"]) == ("Roses", 4096, True)
    operation = shelf.call("GET", f"{BANK}/operations/{made['operation_id']}").json()
    assert operation["operation_type"] == "refresh_mental_model"


def test_models_are_listed_with_pages_or_without(shelf: Shelf) -> None:
    shelf.make()
    shelf.page("Roses")

    both = shelf.call("GET", MODELS).json()
    without = shelf.call("GET", f"{MODELS}?exclude_knowledge_pages=true").json()
    exported = shelf.call("GET", f"{BANK}/export").json()

    assert {item["name"]: item["is_knowledge_page"] for item in both["items"]} == {"Plants": False, "Roses": True}
    assert ([item["id"] for item in without["items"]], without["total"]) == (["plants"], 1)
    assert [model["id"] for model in exported["mental_models"]] == ["plants"]


@pytest.mark.parametrize(
    ("default", "sent", "told"),
    [  # what pages have, what the bank says, what is sent
        (None, None, ("delta", True, None, "observation", True)),
        ({"mode": "full", "fact_types": None}, {"keep_trace": True}, ("full", True, None, "observation", True)),
        ({"refresh_cron": "5 * * * *"}, {"fact_types": ["world"]}, ("delta", False, "5 * * * *", "world", True)),
        ({"refresh_cron": "5 * * * *"}, AFTER, ("delta", True, None, "observation", True)),
    ],
    ids=["built-in", "bank-and-request", "schedule", "request-wins"],
)  # fmt: skip
def test_a_trigger_is_laid_over_the_banks_and_that_over_the_pages(
    shelf: Shelf, default: object, sent: object, told: object
) -> None:
    updates = {"updates": {"knowledge_page_default_trigger": default}}
    assert shelf.call("PATCH", f"{BANK}/config", updates).status == 200

    shelf.page("Roses", trigger=sent)

    trigger = shelf.call("GET", f"{BASE}/tree").json()["roots"][0]["trigger"]
    names = ("mode", "refresh_after_consolidation", "refresh_cron", "exclude_mental_models")
    mode, after, cron, excludes = (trigger[name] for name in names)
    assert (mode, after, cron, *trigger["fact_types"], excludes) == told


def test_of_the_pages_of_a_folder_no_two_have_one_name(shelf: Shelf) -> None:
    one, other = shelf.folder("One"), shelf.folder("Other")
    shelf.page("Roses", one)
    tulips = shelf.page("Tulips", one)
    apart = shelf.page("Roses", other)

    again = shelf.try_page("ROSES", one)
    renamed, moved = shelf.change(tulips, name="roses"), shelf.change(apart, parent_id=one)

    assert [answer.status for answer in (again, renamed, moved)] == [409] * 3
    assert again.json() == {"detail": "A page named 'ROSES' already exists in this folder"}
    assert shelf.tree() == {"One": {"Roses": None, "Tulips": None}, "Other": {"Roses": None}}
    assert shelf.call("GET", MODELS).json()["total"] == 3


def test_a_page_is_moved_and_renamed_at_once(shelf: Shelf) -> None:
    one, other = shelf.folder("One"), shelf.folder("Other")
    page = shelf.page("Roses", one)
    shelf.page("Roses", other)
    shelf.page("Tulips", one)

    changed = shelf.change(page, name="Lilies", parent_id=other)

    assert changed.status == 200
    assert schema_errors("PATCH", f"{ROUTE}/nodes/{{node_id}}", 200, changed.json()) == []
    assert shelf.tree() == {"One": {"Tulips": None}, "Other": {"Lilies": None, "Roses": None}}
    assert "Lilies" in {item["name"] for item in shelf.call("GET", MODELS).json()["items"]}


def test_a_mental_model_that_is_renamed_renames_its_page(shelf: Shelf) -> None:
    model = shelf.try_page("Roses").json()["mental_model_id"]
    shelf.page("Tulips")

    taken = shelf.call("PATCH", f"{MODELS}/{model}", {"name": "tulips"})
    renamed = shelf.call("PATCH", f"{MODELS}/{model}", {"name": "Lilies"})

    assert (taken.status, renamed.status) == (409, 200)
    assert shelf.tree() == {"Lilies": None, "Tulips": None}


@pytest.mark.parametrize("parent", ["kf-nothing", "", "page", "\x00"], ids=["nothing", "blank", "page", "nul"])
def test_what_is_no_folder_holds_nothing(shelf: Shelf, parent: str) -> None:
    parent = shelf.page("Roses") if parent == "page" else parent
    wanted = 201 if parent in {"", "\x00"} else 400

    folder = shelf.call("POST", f"{BASE}/folders", {"name": "f", "parent_id": parent})
    page = shelf.try_page("p", parent)

    assert (folder.status, page.status) == (wanted, wanted)
    if wanted == 400:
        assert folder.json() == {"detail": f"parent_id: there is no folder {parent!r}"}
        assert shelf.call("GET", MODELS).json()["total"] == (1 if "kp" in parent else 0)


def test_a_folder_goes_nowhere_below_itself(shelf: Shelf) -> None:
    top = shelf.folder("Top")
    middle = shelf.folder("Middle", top)
    low = shelf.folder("Low", middle)

    refused = [shelf.change(top, parent_id=place).status for place in (top, middle, low)]
    moved = shelf.change(low, parent_id=None)

    assert refused == [400] * 3
    assert (moved.status, moved.json()["parent_id"]) == (200, None)
    assert shelf.tree() == {"Low": {}, "Top": {"Middle": {}}}


def test_folders_lie_in_one_another_so_deep_and_no_deeper(shelf: Shelf) -> None:
    deep = shelf.folder("0")
    for depth in range(1, 16):
        deep = shelf.folder(str(depth), deep)
    tall = shelf.folder("tall")
    shelf.folder("inner", tall)

    assert shelf.call("POST", f"{BASE}/folders", {"name": "f", "parent_id": deep}).status == 400
    assert shelf.change(tall, parent_id=deep).status == 400
    assert shelf.try_page("p", deep).status == 201


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({}, 400), ({"name": None}, 400), ({"name": " "}, 422), ({"name": "x" * 257}, 422), ({"max_tokens": 1}, 422),
        ({"trigger": {"refresh_cron": "never"}}, 422), ({"tags": ["\ud800" * 3]}, 200), ({"parent_id": None}, 200),
        ({"max_tokens": 512}, 200),
    ],
    ids=["nothing", "null", "blank", "long", "tokens", "cron", "surrogates", "root", "fewer"],
)  # fmt: skip
def test_a_change_says_something_that_can_be_kept(shelf: Shelf, said: dict[str, Any], status: int) -> None:
    assert shelf.change(shelf.page("Roses"), **said).status == status


def test_a_folder_has_nothing_of_a_page(shelf: Shelf) -> None:
    folder = shelf.folder("Plants")

    assert shelf.change(folder, source_query="Who?").status == 400
    assert shelf.change(folder, name="Flora").json()["name"] == "Flora"
    assert shelf.call("GET", f"{BASE}/pages/{folder}").status == 404


def test_a_new_question_has_the_page_written_anew(shelf: Shelf) -> None:
    shelf.garden.rig.workflows.runs = True
    page = shelf.written_page()
    before = shelf.call("GET", f"{BANK}/operations?type=refresh_mental_model").json()["total"]

    shelf.change(page, name="Yard", source_query="What of Garden?")
    same = shelf.call("GET", f"{BANK}/operations?type=refresh_mental_model").json()["total"]
    shelf.change(page, source_query="Where are the roses?")
    after = shelf.call("GET", f"{BANK}/operations?type=refresh_mental_model").json()["total"]

    assert (same - before, after - before) == (0, 1)


def test_a_folder_is_deleted_with_all_that_is_in_it(shelf: Shelf) -> None:
    top = shelf.folder("Top")
    low = shelf.folder("Low", top)
    shelf.page("Roses", top)
    shelf.page("Tulips", low)
    shelf.page("Apart")

    deleted, again = shelf.delete(top), shelf.delete(top)

    assert (deleted.json(), again.status) == ({"status": "deleted"}, 404)
    assert shelf.tree() == {"Apart": None}
    assert [item["name"] for item in shelf.call("GET", MODELS).json()["items"]] == ["Apart"]
    assert shelf.call("GET", f"{BANK}/operations?status=cancelled").json()["total"] == 2


def test_a_mental_model_that_is_deleted_takes_its_page_with_it(shelf: Shelf) -> None:
    folder = shelf.folder("Plants")
    model = shelf.try_page("Roses", folder).json()["mental_model_id"]

    assert shelf.call("DELETE", f"{MODELS}/{model}").status == 200
    assert shelf.tree() == {"Plants": {}}


def test_a_bank_that_is_deleted_leaves_no_node(shelf: Shelf) -> None:
    shelf.page("Roses", shelf.folder("Low", shelf.folder("Top")))

    assert shelf.call("DELETE", BANK).status == 200
    with changing(shelf.garden.rig.database.admin_url) as connection:
        assert connection.execute("SELECT count(*) FROM knowledge_pages").fetchone() == (0,)


def test_tags_and_groups_ask_for_pages_and_leave_folders_alone(shelf: Shelf) -> None:
    shelf.folder("Empty")
    for name, tags in (("A", ["a"]), ("AB", ["a", "b"]), ("None", [])):
        shelf.page(name, tags=tags)
    groups = '&tag_groups=[{"tags":["b"]}]'.replace('"', "%22")

    assert shelf.tree(query="?tags=a") == {"Empty": {}, "A": None, "AB": None, "None": None}
    assert shelf.tree(query="?tags=a&tags_match=any_strict") == {"Empty": {}, "A": None, "AB": None}
    assert shelf.tree(query="?tags=a&tags_match=exact") == {"Empty": {}, "A": None}
    assert shelf.tree(query=f"?tags=a&tags_match=all{groups}") == {"Empty": {}, "AB": None}
    assert shelf.call("GET", f"{BASE}/tree?tag_groups=x").status == 400
