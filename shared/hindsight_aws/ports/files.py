"""The store of uploaded files: bytes under a key, and tickets with which a caller brings them there himself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Protocol


@dataclass(frozen=True, slots=True)
class UploadTicket:
    """Where and how to PUT one file: `headers` must be sent as they are, and the body be of the size that was agreed.

    Good until `expires_at`; whoever holds it needs no key.
    """

    url: str
    headers: Mapping[str, str]
    expires_at: datetime


class FileStore(Protocol):
    """Bytes under keys.  Every method may raise FilesUnavailable: what failed may pass."""

    def put(self, key: str, body: bytes, content_type: str) -> None:
        """Stores the bytes under the key, in place of what was there."""
        ...

    def size(self, key: str) -> int | None:
        """How many bytes are stored under the key, or None when there are none."""
        ...

    def get(self, key: str, at_most: int) -> bytes | None:
        """The bytes, or None when there are none, or when they are more than `at_most`."""
        ...

    def put_file(self, key: str, file: IO[bytes], content_type: str) -> None:
        """Stores what the file holds from its beginning, piece by piece, in place of what was there."""
        ...

    def fetch(self, key: str, file: IO[bytes], at_most: int) -> bool:
        """Writes the bytes into the file, piece by piece; False when there are none, or more than `at_most`."""
        ...

    def address(self, key: str, filename: str, seconds: int) -> str:
        """An address from which anybody can download the bytes, as a file of this name, for so long; asks nobody."""
        ...

    def delete(self, key: str) -> None:
        """Removes the bytes; it is no error when they are gone."""
        ...

    def ticket(self, key: str, size: int, content_type: str, seconds: int) -> UploadTicket:
        """A ticket to bring exactly `size` bytes of this type under the key; asks nobody."""
        ...
