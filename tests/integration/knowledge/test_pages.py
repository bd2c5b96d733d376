"""Pages as they are read, found and exported."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.golden import schema_errors
from tests.support.knowledge import BASE, Shelf
from tests.support.served_models import BANK

ROUTE = "/v1/default/banks/{bank_id}/knowledge-base"
HOSTILE = 'a": b\n---\nid: forged\u2028# x\u0085[y](z) "q" \\ \U0001f33b {{x}} & <b>'


def front_matter(markdown: str) -> dict[str, Any]:
    """What YAML reads in front of a page."""
    assert markdown.startswith("---\n")
    found: dict[str, Any] = yaml.safe_load(markdown.split("\n---\n", 1)[0].removeprefix("---\n"))
    return found


def test_a_written_page_is_read_plain_and_as_markdown(shelf: Shelf) -> None:
    page = shelf.written_page("Garden", "Roses grow here.", tags=["type:how-to", "x"])

    answer = shelf.call("GET", f"{BASE}/pages/{page}").json()

    assert schema_errors("GET", f"{ROUTE}/pages/{{page_id}}", 200, answer) == []
    assert (answer["type"], answer["body"]) == ("how-to", "# Garden\n\nRoses grow here.\n")
    assert answer["markdown"].endswith("\n---\n\n# Garden\n\nRoses grow here.\n")
    told = front_matter(answer["markdown"])
    assert list(told) == ["id", "type", "title", "description", "timestamp", "tags"]
    assert (told["id"], told["title"], told["tags"]) == (page, "Garden", ["type:how-to", "x"])
    assert told["timestamp"] == answer["timestamp"]


def test_a_page_without_text_says_so(shelf: Shelf) -> None:
    page = shelf.page("Roses")

    answer = shelf.call("GET", f"{BASE}/pages/{page}").json()

    assert (answer["body"], answer["type"]) == (None, "knowledge-page")
    assert answer["markdown"].endswith("\n---\n\n_This page has not been written yet._\n")


def test_a_page_that_rests_on_what_is_gone_is_withheld_everywhere(shelf: Shelf) -> None:
    """[G7] Page, search, and export."""
    page = shelf.written_page("Garden", "Roses grow here.")
    memory = shelf.call("GET", f"{BANK}/memories/list").json()["items"][0]["id"]
    assert [one["snippet"] for one in shelf.search("roses")] == ["# Garden Roses grow here."]

    shelf.garden.delete(memory)

    shown = shelf.call("GET", f"{BASE}/pages/{page}").json()
    assert shown["body"] is None
    assert shown["markdown"].endswith("_This page is being corrected: something that it rests on was deleted._\n")
    assert shelf.search("roses") == []
    assert b"Roses" not in shelf.call("GET", f"{BASE}/export").body


def test_hostile_names_stay_text(shelf: Shelf) -> None:
    """No name adds a key to the front matter, a line to the index, or a link."""
    page = shelf.page(HOSTILE, shelf.folder(HOSTILE), source_query=HOSTILE, tags=["t\n---\nx"])

    exported = shelf.call("GET", f"{BASE}/export").json()

    assert schema_errors("GET", f"{ROUTE}/export", 200, exported) == []
    files = {file["path"]: file["content"] for file in exported["files"]}
    told = front_matter(files[f"{page}.md"])
    assert (told["id"], told["title"], told["description"], told["tags"]) == (page, HOSTILE, HOSTILE, ["t\n---\nx"])
    assert front_matter(files[f"{page}.log.md"]) == {"type": "log", "title": f"{HOSTILE} — history"}
    index = files["index.md"].split("\n---\n", 1)[1].strip().splitlines()
    assert len(index) == 4
    assert index[2].startswith('- **a": b --- id: forged \\# x \\[y\\]\\(z\\)')
    assert index[3].endswith("\\<b\\>")
    assert f"]({page}.md): " in index[3]


def test_an_export_holds_every_page_with_its_former_texts(shelf: Shelf) -> None:
    page = shelf.written_page("Garden", "Roses grow here.")

    files = {file["path"]: file["content"] for file in shelf.call("GET", f"{BASE}/export").json()["files"]}

    assert list(files) == ["index.md", f"{page}.md", f"{page}.log.md"]
    assert f"- [Garden]({page}.md): What of Garden?" in files["index.md"]
    assert "Roses grow here." in files[f"{page}.md"]
    log = files[f"{page}.log.md"].split("\n---\n", 1)[1].strip()
    assert log.startswith("# Garden — history\n\n## 20")
    assert log.endswith("\n\n_(empty)_")


def test_an_export_gives_up_former_texts_before_pages(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    page = shelf.written_page("Garden", "Roses grow here.")
    whole = shelf.call("GET", f"{BASE}/export").json()["files"]
    pages = sum(len(file["content"].encode()) for file in whole if not file["path"].endswith(".log.md"))

    monkeypatch.setattr("hindsight_aws.knowledge.read.LARGEST_EXPORT", pages + 1)
    cut = {file["path"]: file["content"] for file in shelf.call("GET", f"{BASE}/export").json()["files"]}
    monkeypatch.setattr("hindsight_aws.knowledge.read.LARGEST_EXPORT", pages - 1)
    refused = shelf.call("GET", f"{BASE}/export")

    assert cut[f"{page}.log.md"].endswith("# Garden — history\n\n_Older texts are not part of this export._\n")
    assert refused.status == 413


def test_a_page_that_words_and_meaning_find_first_scores_one(shelf: Shelf) -> None:
    page = shelf.written_page("Garden", "Roses grow here beside the old oak.")
    other = shelf.page("Bicycles")

    answer = shelf.call("GET", f"{BASE}/search?q=garden+roses+grow+here+beside+the+old+oak").json()
    (by_name,) = shelf.search("bicycle")

    assert schema_errors("GET", f"{ROUTE}/search", 200, answer) == []
    (first,) = answer["results"]
    assert (first["id"], first["score"], answer["total"]) == (page, 1.0, 1)
    assert "old oak" in first["snippet"]
    assert (by_name["id"], by_name["score"], by_name["snippet"]) == (other, 0.5, "What of Bicycles?")


def test_without_keyword_search_meaning_alone_finds(shelf: Shelf) -> None:
    shelf.written_page("Garden", "Roses grow here.")
    shelf.page("Roses")
    shelf.call("PATCH", f"{BANK}/config", {"updates": {"enable_text_search": False}})

    (found,) = shelf.search("garden+roses+grow+here")

    assert (found["name"], found["score"]) == ("Garden", 1.0)


@pytest.mark.parametrize(
    ("query", "status"),
    [("q=", 422), ("", 422), ("q=a&limit=0", 422), ("q=a&limit=51", 422), ("q=%20", 200), ("q=a&limit=50", 200)],
)
def test_a_search_asks_for_something_and_within_bounds(shelf: Shelf, query: str, status: int) -> None:
    shelf.folder("Plants")

    assert shelf.call("GET", f"{BASE}/search?{query}").status == status


def test_pages_are_found_by_their_tags(shelf: Shelf) -> None:
    for name, tags in (("Roses", ["a"]), ("Red roses", ["b"]), ("Rose wine", [])):
        shelf.page(name, tags=tags)

    names = {one["name"] for one in shelf.search("rose", query="&tags=a")}
    limited = shelf.call("GET", f"{BASE}/search?q=rose&limit=1").json()

    assert names == {"Roses", "Rose wine"}
    assert (len(limited["results"]), limited["total"]) == (1, 3)
