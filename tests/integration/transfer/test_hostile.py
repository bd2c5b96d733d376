"""An archive is a stranger's: what is wrong with it is said, and nothing of it stays."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

import pytest

from tests.integration.transfer.conftest import Ferry, Rows, forged, lines, members
from tests.support.archives import empty_archive
from tests.support.seed import Seeded


def test_what_can_be_seen_at_once_is_refused_at_once(ferry: Ferry, seeded: Seeded) -> None:
    """By every way in, and before a byte of it is kept; what else is refused so: tests/unit/transfer."""
    answers = [
        ferry.post("source", "/transfer/import", b"no zip", target_bank_id="copy"),
        ferry.post("source", "/transfer/import", b"no zip", mode="merge"),
        ferry.post("source", "/document-transfer", b"no zip"),
    ]

    assert [answer.status for answer in answers] == [400, 400, 400]
    assert all("not a zip" in answer.json()["detail"] for answer in answers), answers[0].body
    assert ferry.services.stored.objects == {}


def test_a_member_that_was_changed_is_refused(ferry: Ferry, seeded: Seeded) -> None:
    """Its digest is another; so is that of one whose rows are another number."""
    archive = ferry.exported("source")
    rows = members(archive)["memories"]
    changed = forged(archive, {"memories.jsonl": lines(rows[1:])})
    with zipfile.ZipFile(io.BytesIO(archive)) as first:
        told = json.loads(first.read("manifest.json"))
    told["members"]["memories.jsonl"]["bytes"] = len(lines(rows[1:]))
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(changed)) as source, zipfile.ZipFile(made, "w") as target:
        for entry in source.namelist():
            target.writestr(entry, json.dumps(told) if entry == "manifest.json" else source.read(entry))

    answer = ferry.post("source", "/transfer/import", made.getvalue(), target_bank_id="copy")

    assert (answer.status, "memories.jsonl is not as" in answer.json()["detail"]) == (400, True)


@pytest.mark.parametrize("name", ["a/b", "..", "_own", "a\x1f", "source"])
def test_no_bank_is_made_under_a_name_that_no_path_can_say(ferry: Ferry, seeded: Seeded, name: str) -> None:
    archive = empty_archive()

    answers = [
        ferry.post("source", "/transfer/import", archive, target_bank_id=name),
        ferry.post("source", "/transfer/import", empty_archive(name)),
        ferry.post("source", "/clone", target_bank_id=name),
    ]

    assert [answer.status for answer in answers] == [400, 400, 400]
    assert ferry.services.noted.transfers == []


Change = Callable[[dict[str, Rows]], None]


def _first(kind: str, /, **columns: object) -> Change:
    return lambda held: held[kind][0].update(columns)


def _named(name: str) -> Change:
    return _first("documents", external_id=name)


def _ring(pages: Rows) -> Rows:
    folder = next(row for row in pages if row["kind"] == "folder")
    return [folder | {"node_id": one, "parent_id": other} for one, other in (("kf-1", "kf-2"), ("kf-2", "kf-1"))]


def _of(fact_type: str, /, **columns: object) -> Change:
    return lambda held: next(row for row in held["memories"] if row["fact_type"] == fact_type).update(columns)


_WRONG: dict[str, tuple[Change, str]] = {
    "a fact of no document": (lambda held: held["documents"].clear(), "refers to one that"),
    "evidence of no fact": (_first("evidence", fact_id="00000000-0000-4000-8000-000000000000"), "refers to one that"),
    "an id that is none": (_first("mentions", unit_id="'; DROP TABLE banks"), "no id"),
    "NUL": (_first("documents", original_text="a\x00b"), "cannot be stored"),
    "a lone surrogate": (_first("documents", original_text="a\ud800"), "cannot be stored"),
    "a number for a text": (_first("chunks", chunk_index="first"), "wrong type"),
    "a vector of letters": (_first("memories", vector="nothing"), "vector"),
    "a short vector": (_first("memories", vector="AAEAADwA"), "vector"),
    "postings of texts": (_first("memories", postings={"bee": "many"}), "postings"),
    "tags that are none": (_first("memories", tags=[{"a": 1}]), "tags"),
    "a fact of another type": (_first("memories", fact_type="shadow"), "fact_type"),
    "a fact twice": (lambda held: held["memories"].append(held["memories"][0]), "there twice"),
    "a scope under a false key": (_first("scopes", scope_key="0" * 64), "not that of its row"),
    "a page of nobody": (_first("mental_models", creator={}), "is none"),
    "a predicate that is none": (_first("mental_models", scope_predicate="((("), "wrong type"),
    "a hook into the machine": (_first("webhooks", url="https://169.254.169.254/x"), "url"),
    "settings of no bank": (_first("bank", config='{"nonsense": 1}'), "config"),
    "settings that are none": (_first("bank", config="[]"), "config"),
    "a revision of no kind": (_first("revisions", kind="invented"), "rule of the schema"),
    "work of no state": (_first("work", state="invented"), "rule of the schema"),
    "folders in a ring": (lambda held: held["knowledge_pages"].extend(_ring(held["knowledge_pages"])), "no tree"),
    "parts of no document": (_first("documents", retain_params={"parts": [{}]}), "parts of a document"),
    "a name that no index takes": (_named("".join(map(chr, range(0x4E00, 0x7E00)))), "cannot be stored"),
    "a time without end": (_first("documents", updated_at="infinity"), "is not a time"),
    "a time of no year": (_first("memories", occurred_start="0001-01-01T00:00:00+14:00"), "is not a time"),
    "tags in tags": (_first("directives", tags=[["a", "b"]]), "list of texts"),
    "scopes that nobody can ask for": (_first("invalidated", observation_scopes=5), "must be a mode"),
    "an answer that is none": (_first("mental_models", response=["x"]), "must be an object"),
    "a former answer that is none": (_first("mental_model_revisions", response="x"), "must be an object"),
    "a number that leaves no room": (_first("work", calls=2_147_483_647), "out of every range"),
    "a former quote of nothing": (_first("revisions", evidence=[1]), "holds a row that is none"),
    "an observation that rests on nothing": (lambda held: held["evidence"].clear(), "rests on no fact"),
    "a quote that nobody said": (_first("evidence", quote="all invented"), "not in its fact"),
    "an observation under other tags": (_of("observation", tags=["user:z"]), "other tags than its scope"),
}


def test_what_is_found_later_fails_the_operation_and_leaves_nothing(ferry: Ferry, seeded: Seeded) -> None:
    archive = ferry.exported("source")
    told: dict[str, str] = {}

    for name, (change, _) in _WRONG.items():
        held = members(archive)
        change(held)
        wrong = forged(archive, {f"{kind}.jsonl": lines(rows) for kind, rows in held.items()})
        ended = ferry.done("source", ferry.post("source", "/transfer/import", wrong, target_bank_id="copy"))
        told[name] = ended["error_message"] if ended["status"] == "failed" else "went well"

    assert [(name, told[name]) for name, (_, reason) in _WRONG.items() if reason not in told[name]] == []
    assert ferry.banks() == ["source"]


def test_a_huge_line_is_refused_before_it_is_kept(
    ferry: Ferry, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = ferry.exported("source")
    monkeypatch.setattr("hindsight_aws.transfer.reader.LONGEST_LINE", 1024)
    monkeypatch.setattr("hindsight_aws.transfer.reader._PIECE", 512)

    ended = ferry.done("source", ferry.post("source", "/transfer/import", archive, target_bank_id="copy"))

    assert "has a line of more than" in ended["error_message"]
    assert ferry.banks() == ["source"]
