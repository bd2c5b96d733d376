"""What an archive holds is erased with its bank, and with the tags in it: also while nobody has begun to read it."""

from __future__ import annotations

import pytest

from tests.integration.transfer.conftest import Ferry, forged, lines, members
from tests.support.erasing import tables_with
from tests.support.seed import Seeded

_BANK = "/v1/default/banks/b"


@pytest.mark.parametrize("what", ["bank", "tags"])
def test_an_import_that_waits_goes_with_its_archive(ferry: Ferry, seeded: Seeded, what: str) -> None:
    """Else it would bring back what was erased, and the bucket would keep what the receipt says is gone."""
    archive = ferry.exported("source")
    ferry.call("PUT", _BANK, {})
    accepted = ferry.post("b", "/transfer/import", archive, mode="merge").json()
    ferry.call("DELETE", "/v1/default/banks/source")
    kept = {key for key in ferry.services.stored.objects if f"/{_bank(ferry)}/" in key}

    if what == "bank":
        erased = ferry.call("DELETE", _BANK).headers["x-hindsight-erasure"]
    else:
        erased = ferry.call("POST", f"{_BANK}/erasures", {"tags": ["user:a"]}).json()["statement"]["receipt"]
    ferry.work()

    [row] = ferry.sql("SELECT object_keys, queues FROM hindsight.erasures WHERE erasure_id = %s", erased)
    assert (set(row["object_keys"]), len(kept), row["queues"]) == (kept, 1, {"operations": 1})
    assert tables_with(ferry.database, ferry.tenant, "keeps bees") == set()
    assert ferry.call("GET", f"{_BANK}/operations/{accepted['operation_id']}").json()["status"] == "not_found"


def test_what_an_archive_dates_after_now_is_within_reach_of_an_erasure(ferry: Ferry, seeded: Seeded) -> None:
    """An erasure takes what was there before it; nothing that was restored is younger."""
    archive = ferry.exported("source")
    held = members(archive)
    for row in (row for rows in held.values() for row in rows):
        row.update({name: "2099-01-01T00:00:00+00:00" for name in ("created_at", "changed_at") if name in row})
    late = forged(archive, {f"{kind}.jsonl": lines(rows) for kind, rows in held.items()})
    ended = ferry.done("source", ferry.post("source", "/transfer/import", late, target_bank_id="b"))
    ferry.call("DELETE", "/v1/default/banks/source")

    ferry.call("POST", f"{_BANK}/erasures", {"tags": ["user:a"]})

    assert ended["status"] == "completed", ended["error_message"]
    assert tables_with(ferry.database, ferry.tenant, "keeps bees") == set()


def _bank(ferry: Ferry) -> str:
    [row] = ferry.sql("SELECT bank_id FROM hindsight.banks WHERE external_id = 'b'")
    return str(row["bank_id"])
