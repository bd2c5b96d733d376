"""The blocks of an extraction call."""

from __future__ import annotations

from datetime import UTC, datetime

import jsonschema
import pytest

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.prompts import extraction_blocks
from hindsight_aws.prompts.contract.retain import EXTRACT_FACTS
from infra.local.bedrock.blocks import Documents, read_blocks


def read(*blocks: str) -> Documents:
    return read_blocks(blocks)


def chunk_of(happened: datetime | None) -> JsonObject:
    (chunk,) = read(*extraction_blocks("x", position=0, total=1, happened=happened))["chunk"]
    assert isinstance(chunk, dict)
    return chunk


def test_the_date_keeps_the_writers_own_offset() -> None:
    chunk = chunk_of(datetime.fromisoformat("2026-06-01T19:00:00-05:00"))

    assert chunk["date"] == "Monday 2026-06-01T19:00:00-05:00"
    assert chunk["zone"] == "UTC-05:00"


def test_a_date_without_zone_is_utc() -> None:
    naive = datetime(2026, 6, 1, 19, tzinfo=UTC).replace(tzinfo=None)

    assert chunk_of(naive)["date"] == "Monday 2026-06-01T19:00:00+00:00"


def test_no_date_is_said_to_be_none() -> None:
    chunk = chunk_of(None)

    assert chunk["date"] is None
    assert chunk["zone"] is None


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_mission_and_context_are_left_out_when_they_say_nothing(nothing: str | None) -> None:
    blocks = read(*extraction_blocks("x", position=0, total=1, happened=None, mission=nothing, context=nothing))

    assert list(blocks) == ["chunk"]


def test_every_block_keeps_the_contracts_shape() -> None:
    blocks = read(
        *extraction_blocks(
            "x", position=1, total=3, happened=None, mission="m", context="c", metadata={"src": "mail <a@b>"}
        )
    )

    assert list(blocks) == [block.kind for block in EXTRACT_FACTS.blocks]
    for block in EXTRACT_FACTS.blocks:
        jsonschema.validate(blocks[block.kind][0], block.document)
