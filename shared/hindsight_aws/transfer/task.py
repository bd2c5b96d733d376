"""What a transfer is to do, and its form as JSON: written down by the API, read by the job.

`parts` says what is carried (kinds.py); of an import None: all that the archive holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args
from uuid import UUID

from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.transfer.kinds import Part

OnConflict = Literal["skip", "replace", "new-id"]
CONFLICTS: Final[tuple[str, ...]] = get_args(OnConflict)


@dataclass(frozen=True, slots=True)
class TransferTask:
    """`target` is the bank to be made, by a restore or a clone.

    `documents` limits an export to some.  `on_conflict`: what becomes of an imported document whose id is taken.
    """

    archive_key: str
    parts: frozenset[Part]
    target: str | None = None
    documents: tuple[str, ...] | None = None
    on_conflict: OnConflict = "skip"


def archive_key_of(tenant_id: TenantId, bank_id: BankId, archive_id: UUID) -> str:
    """Where an archive is kept: inside its tenant's and its bank's prefix, with nothing in it that a caller chose."""
    return f"tenants/{tenant_id}/banks/{bank_id}/transfers/{archive_id}.zip"


def to_json(task: TransferTask) -> JsonObject:
    """The task as the operation's row keeps it."""
    return {
        "archive_key": task.archive_key,
        "parts": [*sorted(task.parts)],
        "target": task.target,
        "documents": None if task.documents is None else list(task.documents),
        "on_conflict": task.on_conflict,
    }


def from_json(payload: Mapping[str, object]) -> TransferTask:
    """What `to_json` wrote.  Raises KeyError or TypeError for anything else."""
    documents = cast("list[str] | None", payload["documents"])
    return TransferTask(
        archive_key=str(payload["archive_key"]),
        parts=frozenset(cast("list[Part]", payload["parts"])),
        target=cast("str | None", payload["target"]),
        documents=None if documents is None else tuple(documents),
        on_conflict=cast(OnConflict, payload["on_conflict"]),
    )
