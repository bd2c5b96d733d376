"""Finds commits in the bytes a Postgres client sends. Called by the wire proxy, once per chunk."""

from typing import Final

_HEADER: Final = 5
_PROTOCOL: Final = 3
_STATEMENT_KINDS: Final = (b"Q", b"P")
_KEEP: Final = 256


class FrontendMessages:
    """Follows one connection's frames across chunks; keeps only the start of each message."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._skip = 0
        self._is_started = False

    def commits(self, data: bytes) -> bool:
        """Whether a COMMIT begins in these bytes, as a simple query or as a parsed statement."""
        self._buffer += data
        found = False
        while True:
            if self._skip:
                skipped = min(self._skip, len(self._buffer))
                del self._buffer[:skipped]
                self._skip -= skipped
            if self._skip or not self._has_head():
                return found
            found |= self._take()

    def _has_head(self) -> bool:
        """Whether the next message's header, and as much of its text as decides, has arrived."""
        header = _HEADER if self._is_started else 8
        if len(self._buffer) < header:
            return False
        return len(self._buffer) >= min(self._length(), _KEEP)

    def _length(self) -> int:
        start = 1 if self._is_started else 0
        return start + int.from_bytes(self._buffer[start : start + 4], "big")

    def _take(self) -> bool:
        length = self._length()
        head = bytes(self._buffer[: min(length, _KEEP)])
        self._skip = max(length, 1)
        if not self._is_started:
            # Requests for encryption or cancellation come first or alone, under a protocol number of their own.
            self._is_started = int.from_bytes(head[4:6], "big") == _PROTOCOL
            return False
        if head[:1] not in _STATEMENT_KINDS:
            return False
        text = head[_HEADER:]
        if head[:1] == b"P":
            text = text.partition(b"\0")[2]
        return text.lstrip()[:6].upper() == b"COMMIT"
