"""What turns a file into text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A file as its sender described it: name and content type are claims."""

    name: str
    content_type: str
    body: bytes


class Converter(Protocol):
    """Turns files into text, whatever they hold, within limits of time and memory."""

    def convert(self, file: FileToRead, seconds: float) -> str:
        """The file's text, in Markdown where the file has structure; it may be blank, and is not cleaned.

        Raises: FileUnreadable, which names the file and says why: unknown kind, damaged, protected by a password, or
        past a limit; WorkDeferred, when `seconds` are too few to try.
        """
        ...
