"""Sends records to a bank over the public API: async retains in batches that are the same each time.

Called by cli/importing.py, which knows how to reach the API.  A batch's operation id follows from what is in it, and a
document's id from the export, so that importing again, or going on after a break, changes nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote
from uuid import UUID, uuid5

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.importing.records import Record

MOST_ITEMS: Final = 100
MOST_BYTES: Final = 1_000_000
_NAMESPACE: Final = UUID("6a1c7d2e-5b0f-4f0a-9a55-1f8c3e0b7d10")
_TRIES: Final = 8
_LONGEST_WAIT_S: Final = 60.0
_COMES_AGAIN: Final = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Posted:
    """What the API answered; status 0: it was not reached."""

    status: int
    body: bytes = b""
    retry_after_s: float | None = None


Post = Callable[[str, bytes], Posted]
"""Sends a JSON body to a path of the API."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of one retain, and the operation id that they always have."""

    operation_id: UUID
    items: tuple[dict[str, object], ...]


@dataclass(slots=True)
class Sending:
    """What became of an import: operations that were accepted, and the items in them."""

    operations: list[str] = field(default_factory=list)
    items: int = 0


def batches_of(bank: str, records: Sequence[Record]) -> Iterator[Batch]:
    """The records in their order, as many at once as fit."""
    items: list[dict[str, object]] = []
    size = 0
    for record in records:
        item = record.as_item()
        length = len(json.dumps(item, ensure_ascii=False).encode())
        if items and (len(items) >= MOST_ITEMS or size + length > MOST_BYTES):
            yield _batch(bank, items)
            items, size = [], 0
        items.append(item)
        size += length
    if items:
        yield _batch(bank, items)


def send(
    post: Post, bank: str, records: Sequence[Record], sleep: Callable[[float], None] = time.sleep
) -> Iterator[Sending]:
    """Sends batch by batch and tells after each how far it is; what may pass is tried again, as the API asks.

    Raises: InvalidRequest with the API's own words where it refuses, or does not answer for long.
    """
    told = Sending()
    path = f"/v1/default/banks/{quote(bank, safe='')}/memories"
    for batch in batches_of(bank, records):
        body = {"items": list(batch.items), "async": True, "operation_id": str(batch.operation_id)}
        _posted(post, path, json.dumps(body, ensure_ascii=False).encode(), sleep)
        told.operations.append(str(batch.operation_id))
        told.items += len(batch.items)
        yield told


def _batch(bank: str, items: Sequence[dict[str, object]]) -> Batch:
    said = json.dumps([bank, list(items)], sort_keys=True, ensure_ascii=True)
    return Batch(uuid5(_NAMESPACE, said), tuple(items))


def _posted(post: Post, path: str, body: bytes, sleep: Callable[[float], None]) -> None:
    wait_s = 1.0
    answer = Posted(0)
    for attempt in range(_TRIES):
        answer = post(path, body)
        if 200 <= answer.status < 300:
            return
        if answer.status and answer.status not in _COMES_AGAIN:
            break
        if attempt + 1 < _TRIES:
            sleep(min(answer.retry_after_s or wait_s, _LONGEST_WAIT_S))
            wait_s *= 2
    said = answer.body.decode("utf-8", "replace")[:500]
    reason = f"answered {answer.status}: {said}" if answer.status else "was not reached"
    raise InvalidRequest(f"the API {reason}; what was sent before stays, and the same command goes on from here")
