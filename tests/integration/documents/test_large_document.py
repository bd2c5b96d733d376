"""A document of megabytes: every line a fact, in order, the body as it came, in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conftest import Dose
from tests.integration.documents.conftest import Shelf, item

_LINES: Final[dict[Dose, int]] = {"small": 600, "deep": 30_000}
_MOST_MB: Final[dict[Dose, int]] = {"small": 220, "deep": 400}
_REPOSITORY: Final = Path(__file__).parents[3]


@pytest.mark.timeout(900)
def test_every_line_of_a_large_document_is_a_fact_in_its_place(
    shelf: Shelf, dose: Dose, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the deep dose 3 MB in 30,000 lines; prints the worker's peak memory and seconds."""
    shelf.configure_bank(retain_extraction_mode="chunks", retain_chunk_size=120)
    lines = [
        f"Line {n:05}: the gauge at station {n % 97} stood at {n * 7 % 1000} that day, and rose. {'No wind.' * 4}"
        for n in range(_LINES[dose])
    ]
    shelf.submit(item("\n".join(lines), "big"))
    (operation,) = shelf.rows("SELECT operation_id FROM operations WHERE kind = 'retain'")

    first = _work(shelf, operation["operation_id"])

    assert shelf.operation(operation["operation_id"])["status"] == "completed"
    assert shelf.document("big")["original_text"] == "\n".join(lines)
    assert shelf.fact_texts("big") == lines
    assert first["peak_mb"] < _MOST_MB[dose]

    del lines[len(lines) // 2]
    lines.insert(0, "Line X: something else was measured by hand at the old gauge, a day before all of the others.")
    shelf.submit(item("\n".join(lines), "big"))
    (operation,) = shelf.rows("SELECT operation_id FROM operations WHERE kind = 'retain' AND status = 'pending'")
    again = _work(shelf, operation["operation_id"])

    assert shelf.fact_texts("big") == lines
    assert shelf.operation(operation["operation_id"])["result"]["unit_ids_count"] == 1
    assert again["peak_mb"] < _MOST_MB[dose]
    with capsys.disabled():
        sys.stdout.write(f"\n{len(lines)} lines: {json.dumps(first)}; one line changed: {json.dumps(again)}\n")


def test_more_facts_than_a_commit_may_link_are_left_to_link_maintenance(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["hindsight_aws.retain.commit"], "MOST_LINKED_AT_ONCE", 2)

    shelf.retain(item("Ada rows.\nAda rows today.\nAda rows on."))

    assert len(shelf.wakeups.links) == 1
    queued = shelf.rows("SELECT item_id FROM link_maintenance WHERE kind = 'fact'")
    assert {row["item_id"] for row in queued} == {fact["id"] for fact in shelf.facts("d")}
    assert shelf.rows("SELECT from_unit FROM memory_links") == []


def _work(shelf: Shelf, operation_id: object) -> dict[str, Any]:
    """What a worker in a process of its own says of itself."""
    command = [sys.executable, "-m", "tests.support.lone_worker", shelf.database.write_url, str(shelf.tenant)]
    environment = {**os.environ, "PYTHONPATH": f"{_REPOSITORY}{os.pathsep}{_REPOSITORY / 'shared'}"}
    done = subprocess.run(
        [*command, str(operation_id)], cwd=_REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report
