"""Objects as files in a folder, one each: a line of JSON that describes it, then its bytes. Called by the endpoint."""

import hashlib
import json
import os
import time
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Final

_DAY: Final = 24 * 3600
_LONGEST_HEAD: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class StoredObject:
    """What is known of an object; `body` is empty where only that was asked for."""

    content_type: str
    size: int
    etag: str
    modified: str
    body: bytes = b""


class ObjectFolder:
    """The objects of the buckets that were made. They survive a restart, and appear whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._buckets: set[str] = set()

    def create_bucket(self, name: str) -> None:
        """Makes the bucket; it is no error when it is there."""
        (self._folder / name).mkdir(parents=True, exist_ok=True)
        self._buckets.add(name)

    def expire(self, bucket: str, days: int, lasting: str) -> None:
        """Removes what was stored more than so many days ago, as a bucket's lifecycle rule does.

        Objects under the prefix `lasting` stay.
        """
        for file in (self._folder / bucket).iterdir():
            is_old = file.stat().st_mtime < time.time() - days * _DAY
            if is_old and not (file.suffix == ".object" and _key(file).startswith(lasting)):
                file.unlink(missing_ok=True)

    def has_bucket(self, name: str) -> bool:
        """Whether the bucket was made."""
        return name in self._buckets

    def keys(self, bucket: str) -> list[str]:
        """The keys of all objects, for whoever looks after a test; the endpoint lists none."""
        return sorted(map(_key, (self._folder / bucket).glob("*.object")))

    def put(self, bucket: str, key: str, body: bytes, content_type: str) -> str:
        """Stores the object in place of what was there; the answer is its ETag."""
        etag = f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
        head = {"key": key, "content_type": content_type, "etag": etag, "modified": formatdate(usegmt=True)}
        file = self._file(bucket, key)
        unfinished = file.with_suffix(f".{os.getpid()}-{id(body)}")
        unfinished.write_bytes(json.dumps(head).encode() + b"\n" + body)
        unfinished.replace(file)
        return etag

    def get(self, bucket: str, key: str) -> StoredObject | None:
        """The object, or None."""
        try:
            content = self._file(bucket, key).read_bytes()
        except FileNotFoundError:
            return None
        head, start = _head(content)
        body = content[start:]
        return StoredObject(head["content_type"], len(body), head["etag"], head["modified"], body)

    def delete(self, bucket: str, key: str) -> None:
        """Removes the object; it is no error when there is none."""
        self._file(bucket, key).unlink(missing_ok=True)

    def _file(self, bucket: str, key: str) -> Path:
        """A name that no key can lead out of the folder."""
        return self._folder / bucket / f"{hashlib.sha256(key.encode()).hexdigest()}.object"


def _key(file: Path) -> str:
    with file.open("rb") as stored:
        return str(_head(stored.read(_LONGEST_HEAD))[0]["key"])


def _head(content: bytes) -> tuple[dict[str, str], int]:
    end = content.index(b"\n")
    head: dict[str, str] = json.loads(content[:end])
    return head, end + 1
