"""What the sweep makes of a mark that is not as it was written: the database is asked, and the mark written anew."""

from __future__ import annotations

import json

import pytest

from hindsight_aws.aws.marks import _swept_of

GOOD = {"at": "2026-11-30T12:00:00+00:00", "next_due": "2026-11-30T15:00:00+00:00", "settings": "digest"}
_BODIES = {
    "empty": b"",
    "no text": b"\xff\xfe",
    "a list": b"[]",
    "deep": b"[" * 4_096,
    "a moment without a zone": json.dumps(GOOD | {"at": "2026-11-30T12:00:00"}).encode(),
    "a due moment without a zone": json.dumps(GOOD | {"next_due": "2026-11-30"}).encode(),
    "a number for a moment": json.dumps(GOOD | {"next_due": 7}).encode(),
    "cut short": json.dumps(GOOD).encode()[:-1],
}


@pytest.mark.parametrize("body", _BODIES.values(), ids=_BODIES.keys())
def test_a_mark_that_cannot_be_understood_is_none(body: bytes) -> None:
    assert _swept_of(body) is None


def test_one_that_can_be_is_what_it_says() -> None:
    found = _swept_of(json.dumps(GOOD).encode())

    assert found is not None
    assert found.next_due is not None
    assert (found.at.isoformat(), found.next_due.isoformat()) == (GOOD["at"], GOOD["next_due"])
