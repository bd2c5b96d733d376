"""A watermark: the opaque token that a write is answered with, and that a read may later be asked to wait for.

Made by retain, sent back to recall; what it stands for is looked up under the caller's own tenant.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from hindsight_aws.errors import InvalidField
from hindsight_aws.model.ids import OperationId

WatermarkState = Literal["pending", "stored", "consolidated"]
"""`pending`: work of the write is open; `stored`: it has ended, facts of it are not consolidated in every scope yet."""


@dataclass(frozen=True, slots=True)
class WriteState:
    """What became of a write: where it stands, and whether part of it, or of its consolidation, failed.

    What was cancelled has failed too.  `is_visible`: all of it is stored, so that a recall which begins now looks
    through it.
    """

    state: WatermarkState
    has_failed: bool = False
    has_failed_consolidation: bool = False

    @property
    def is_visible(self) -> bool:
        """Whether all of the write is stored."""
        return self.state != "pending" and not self.has_failed

    @property
    def is_consolidated(self) -> bool:
        """Whether all of the write is stored and consolidated in every scope of it."""
        return self.state == "consolidated" and not self.has_failed


_FORM: Final = 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_POSITION: Final = slice(1, 9)
_MOST_OPERATIONS: Final = 32


@dataclass(frozen=True, slots=True)
class Watermark:
    """A write: its operations, and its `position` in the bank's order of writes, which is when it was accepted.

    Holds nothing of the tenant: whoever sends another's token names operations that are not there for them.
    """

    position: datetime
    operation_ids: tuple[OperationId, ...]

    def encode(self) -> str:
        """The token: URL-safe, without padding, the same for the same write."""
        moment = (self.position - _EPOCH) // timedelta(microseconds=1)
        packed = bytes([_FORM]) + moment.to_bytes(8, "big") + b"".join(each.bytes for each in self.operation_ids)
        return urlsafe_b64encode(packed).rstrip(b"=").decode()


def watermark(position: datetime, operation_ids: Sequence[OperationId]) -> Watermark:
    """The watermark of a write that these operations carry out."""
    return Watermark(position, tuple(operation_ids))


def read_watermark(token: str) -> Watermark:
    """What `Watermark.encode` made.  Raises InvalidField for anything else."""
    try:
        packed = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
        position = _EPOCH + timedelta(microseconds=int.from_bytes(packed[_POSITION], "big"))
    except (ValueError, OverflowError):
        raise InvalidField("after", "is not a watermark") from None
    ids = [packed[at : at + 16] for at in range(_POSITION.stop, len(packed), 16)]
    if packed[:1] != bytes([_FORM]) or not 1 <= len(ids) <= _MOST_OPERATIONS or len(ids[-1]) != 16:
        raise InvalidField("after", "is not a watermark")
    return Watermark(position, tuple(OperationId(UUID(bytes=each)) for each in ids))
