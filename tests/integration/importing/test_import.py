"""Imports over the real API: what is sent once is sent once, whatever breaks in between."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

import pytest

from hindsight_aws.cli import main
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.importing import Posted, Record, batches_of, read_mem0, send
from tests.support.api import Caller, FakeRuntime

EXPORT = [
    {"id": f"m-{n}", "memory": f"Odile planted tree {n}", "user_id": "odile", "categories": ["plants"]}
    for n in range(120)
]


class Api:
    """The API as the command line reaches it; answers `faults` first, and counts what it was sent."""

    def __init__(self, call: Caller, faults: list[Posted]) -> None:
        self._call = call
        self._faults = faults
        self.sent = 0

    def __call__(self, path: str, body: bytes) -> Posted:
        self.sent += 1
        if self._faults:
            return self._faults.pop(0)
        answer = self._call("POST", path, raw=body)
        return Posted(answer.status, answer.body)


def test_an_import_that_broke_goes_on_and_a_second_one_changes_nothing(call: Caller) -> None:
    records = read_mem0([EXPORT]).records
    waited: list[float] = []
    broken = Api(call, [Posted(503, retry_after_s=3.0), Posted(0)])

    first = next(send(broken, "trees", records, waited.append))
    *_, second = send(Api(call, []), "trees", records, waited.append)
    *_, third = send(Api(call, []), "trees", records, waited.append)

    listed = call("GET", "/v1/default/banks/trees/operations?exclude_parents=false&limit=100").json()
    assert waited == [3.0, 2.0]
    assert first.items == 100
    assert (second.items, second.operations) == (120, third.operations)
    assert sorted(each["id"] for each in listed["operations"] if each["task_type"] == "batch_retain") == sorted(
        second.operations
    )


def test_what_the_api_refuses_is_told_in_its_words(call: Caller) -> None:
    wrong = Record("zep:x", "text", tags=("a\x00b",), timestamp="never")

    with pytest.raises(InvalidRequest, match="timestamp"):
        list(send(Api(call, []), "trees", [wrong], lambda _: None))


def test_batches_are_bounded_by_items_and_by_bytes() -> None:
    small = [Record(str(n), "x") for n in range(250)]
    large = [Record(str(n), "x" * 600_000) for n in range(3)]

    assert [len(batch.items) for batch in batches_of("b", small)] == [100, 100, 50]
    assert [len(batch.items) for batch in batches_of("b", large)] == [1, 1, 1]


def test_a_dry_run_tells_and_sends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"results": [{**EXPORT[0], "shoe_size": 1}, {"id": "y"}]}))

    code = main(["import", "mem0", str(file), "--bank", "trees", "--dry-run", "--json"])

    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert (told["documents"], told["sent"], told["operations"]) == (1, 0, 1)
    assert told["unknown_fields"] == {"shoe_size": 1}
    assert told["left_out"] == ["results[1] has no text in memory, text, data, content: left out"]


def test_a_file_that_is_no_export_and_an_api_that_is_away_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "export.json"
    file.write_text("words")

    codes = [main(["import", kind, str(file), "--bank", "b"]) for kind in ("mem0", "zep")]

    assert codes == [1, 1]
    assert "neither JSON nor JSON lines" in capsys.readouterr().err


def test_an_archive_is_handed_to_the_route_that_takes_it(
    call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call("PUT", "/v1/default/banks/trees", {"name": "n"})

    def posts(_chosen: Namespace, path: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        answer = call("POST", path, raw=body, headers=headers)
        return Posted(answer.status, answer.body)

    monkeypatch.setattr("hindsight_aws.cli.importing._post", posts)
    file = tmp_path / "bank.zip"
    file.write_bytes(b"no archive")

    code = main(["import", "archive", str(file), "--bank", "trees"])

    assert code == 1
    assert "archive" in capsys.readouterr().err


def test_an_archive_that_no_request_carries_is_brought_to_the_bucket_first(
    call: Caller,
    services: FakeRuntime,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    call("PUT", "/v1/default/banks/trees", {"name": "n"})

    def posts(_chosen: Namespace, path: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        answer = call("POST", path, raw=body, headers=headers)
        return Posted(answer.status, answer.body)

    def puts(_method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        services.stored.objects[url.removeprefix("https://bucket.example/")] = body
        return Posted(200 if headers["content-length"] == "12" else 400)

    monkeypatch.setattr("hindsight_aws.cli.importing._post", posts)
    monkeypatch.setattr("hindsight_aws.cli.importing.ask", puts)
    monkeypatch.setattr("hindsight_aws.cli.importing.MOST_SENT", 10)
    file = tmp_path / "bank.zip"
    file.write_bytes(b"a whole bank")

    code = main(["import", "archive", str(file), "--bank", "trees"])

    assert (code, capsys.readouterr().out.split(":")[0]) == (0, "accepted")
    assert b"a whole bank" in services.stored.objects.values()
