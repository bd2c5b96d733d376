"""A bank that was made out of another says in its own audit log who had it made."""

from __future__ import annotations

from typing import Any

from tests.integration.transfer.conftest import Ferry
from tests.support.seed import Seeded


def _log(ferry: Ferry, bank: str) -> list[tuple[str, str, Any]]:
    shown = ferry.call("GET", f"/v1/default/banks/{bank}/audit-logs").json()["items"]
    return [(item["action"], item["transport"], item["metadata"]) for item in shown]


def test_a_clone_and_a_restore_are_told_by_the_bank_that_came_to_be_if_it_is_audited(
    ferry: Ferry, seeded: Seeded
) -> None:
    updates = {"updates": {"audit_log_enabled": True}}
    assert ferry.call("PATCH", "/v1/default/banks/source/config", updates).status == 200
    archive = ferry.exported("source", include_data=False)

    clone = ferry.post("source", "/clone", target_bank_id="copy", include_data=False)
    restore = ferry.post("source", "/transfer/import", archive, target_bank_id="back")
    bare = ferry.post("source", "/clone", target_bank_id="bare", include_bank_config=False)
    ended = [ferry.done("source", answer)["status"] for answer in (clone, restore, bare)]

    def made(action: str, operation_id: str) -> list[tuple[str, str, Any]]:
        return [(action, "system", {"subject": "dev", "status": 200, "operation_id": operation_id})]

    assert ended == ["completed"] * 3
    assert _log(ferry, "copy") == made("clone_bank", clone.json()["operation_id"])
    assert _log(ferry, "back") == made("import_bank_transfer", restore.json()["operation_id"])
    assert _log(ferry, "bare") == []
    assert [action for action, _, _ in _log(ferry, "source")][:3] == [
        "clone_bank",
        "import_bank_transfer",
        "clone_bank",
    ]
