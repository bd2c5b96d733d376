"""Uploaded files in memory, a converter that does as it is told, and requests with files in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import IO, TYPE_CHECKING
from uuid import uuid4

import httpx

from hindsight_aws.errors import FilesUnavailable
from hindsight_aws.ports.converter import FileToRead
from hindsight_aws.ports.files import UploadTicket

if TYPE_CHECKING:
    from tests.support.api import Answer, Caller


@dataclass
class MemoryFiles:
    """FileStore in memory; while `is_down` it does nothing, as one that cannot be reached."""

    objects: dict[str, bytes] = field(default_factory=dict)
    is_down: bool = False

    def put(self, key: str, body: bytes, content_type: str) -> None:
        self._reach()
        self.objects[key] = body

    def size(self, key: str) -> int | None:
        self._reach()
        return len(self.objects[key]) if key in self.objects else None

    def get(self, key: str, at_most: int) -> bytes | None:
        self._reach()
        body = self.objects.get(key)
        return None if body is None or len(body) > at_most else body

    def put_file(self, key: str, file: IO[bytes], content_type: str) -> None:
        self._reach()
        file.seek(0)
        self.objects[key] = file.read()

    def fetch(self, key: str, file: IO[bytes], at_most: int) -> bool:
        body = self.get(key, at_most)
        return body is not None and file.write(body) > 0

    def address(self, key: str, filename: str, seconds: int) -> str:
        return f"https://bucket.example/{key}?name={filename}"

    def delete(self, key: str) -> None:
        self._reach()
        self.objects.pop(key, None)

    def ticket(self, key: str, size: int, content_type: str, seconds: int) -> UploadTicket:
        bound = {"content-type": content_type, "content-length": str(size)}
        return UploadTicket(f"https://bucket.example/{key}", bound, datetime.now(UTC) + timedelta(seconds=seconds))

    def _reach(self) -> None:
        if self.is_down:
            raise FilesUnavailable("the file could not be reached")


@dataclass
class PlainConverter:
    """Takes bytes for text and trims it, unless there is something to raise; remembers the files."""

    raises: Exception | None = None
    seen: list[FileToRead] = field(default_factory=list)

    def convert(self, file: FileToRead, seconds: float) -> str:
        self.seen.append(file)
        if self.raises is not None:
            raise self.raises
        return file.body.decode().strip()


def send_files(
    call: Caller,
    bank: str,
    files: Sequence[tuple[str, bytes]] = (),
    request: Mapping[str, object] | str | None = None,
    content_type: str = "application/octet-stream",
) -> Answer:
    """POST files/retain with these files and this `request` part."""
    part = request if isinstance(request, str) else json.dumps(request or {})
    parts = [("files", (name, body, content_type)) for name, body in files]
    # A form without files is sent as multipart too: a part of no name makes it so.
    built = httpx.Request(
        "POST",
        "https://api.example",
        data={"request": part},
        files=parts or {"none": (None, b"")},
    )
    path = f"/v1/default/banks/{bank}/files/retain"
    return call("POST", path, raw=built.read(), headers={"content-type": built.headers["content-type"]})


def upload(call: Caller, files: MemoryFiles, bank: str, name: str, body: bytes) -> str:
    """Announces a file, brings it to the store as its sender would, and returns the upload's id."""
    wanted = {"filename": name, "size": len(body), "content_type": "text/plain"}
    announced = call("POST", f"/v1/default/banks/{bank}/files/uploads", wanted).json()
    files.objects[announced["url"].removeprefix("https://bucket.example/")] = body
    return str(announced["upload_id"])


def no_upload() -> str:
    """The id of no upload."""
    return str(uuid4())
