"""The blocks of an extraction call."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import get_args

import jsonschema
import pytest

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.prompts import ExtractionMode, extraction_blocks, extraction_prompt, owner_blocks, problem_block
from hindsight_aws.prompts.contract.retain import EXTRACT_FACTS, FIELDS
from hindsight_aws.retain.extraction.request import Extractor
from hindsight_aws.retain.extraction.vocabulary import LabelField, LabelGroup, Vocabulary
from infra.local.bedrock.blocks import Documents, read_blocks

_LABEL = LabelGroup("use", LabelField("value", values={"001": ""}))


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
def test_what_says_nothing_has_no_block(nothing: str | None) -> None:
    owner = owner_blocks(nothing, nothing, nothing, [])
    blocks = extraction_blocks(
        "x", position=0, total=1, happened=None, context=nothing, before=nothing or "", after=nothing or ""
    )

    assert list(read(*owner, *blocks)) == ["chunk"]


def test_every_block_keeps_the_contracts_shape() -> None:
    labels: list[JsonValue] = [{"key": "use", "type": "value", "values": [{"value": "001", "description": "d"}]}]
    owner = owner_blocks("m", "i", "German", labels)
    chunk = extraction_blocks(
        "x", position=1, total=3, happened=None, context="c", metadata={"src": "mail <a@b>"}, before="b", after="a"
    )

    blocks = read(*owner, *chunk, problem_block("wrong", ["what"]))

    assert list(blocks) == [block.kind for block in EXTRACT_FACTS.blocks]
    for block in EXTRACT_FACTS.blocks:
        jsonschema.validate(blocks[block.kind][0], block.document)


@pytest.mark.parametrize("mode", get_args(ExtractionMode))
@pytest.mark.parametrize("without", [set(), {"labels"}, {"caused_by", "entities"}], ids=["all", "labels", "two"])
def test_a_prompt_speaks_of_the_fields_its_tool_has_and_of_no_other(mode: ExtractionMode, without: set[str]) -> None:
    extractor = Extractor(
        "m",
        mode,
        vocabulary=Vocabulary(() if "labels" in without else (_LABEL,), free_form="entities" not in without),
        asks_causes="caused_by" not in without,
    )

    text, asked = extractor.prompt.text, set(FIELDS) - extractor.without

    assert without <= extractor.without
    assert [field for field in asked if f"`{field}`" not in text] == []
    assert [field for field in extractor.without if f"- `{field}`" in text or f'"{field}":' in text] == []


@pytest.mark.parametrize("mode", get_args(ExtractionMode))
@pytest.mark.parametrize("vocabulary", [Vocabulary(), Vocabulary(free_form=False)], ids=["free", "closed"])
@pytest.mark.parametrize("causes", [True, False])
def test_the_example_in_a_prompt_keeps_the_schema(mode: ExtractionMode, vocabulary: Vocabulary, causes: bool) -> None:
    extractor = Extractor("m", mode, vocabulary=vocabulary, asks_causes=causes)

    (shown,) = re.findall(r'`(\{"facts": .*\})`', extractor.prompt.text)

    jsonschema.validate(json.loads(shown), extractor.tool.schema)
    assert ('"caused_by": [0]' in shown) is (causes and mode != "verbatim")


def test_the_ways_of_extraction_differ_only_in_what_they_record() -> None:
    texts = {mode: extraction_prompt(mode, frozenset()).text for mode in get_args(ExtractionMode)}

    def part(mode: str, opening: str, closing: str) -> str:
        return texts[mode].split(opening)[1].split(closing)[0]

    for mode in ("verbose", "custom"):
        assert part(mode, "# The fields", "\0") == part("concise", "# The fields", "\0")
        given = part(mode, "# What you are given", "# What to record").splitlines()
        assert [line for line in given if not line.startswith("- `instructions`")] == part(
            "concise", "# What you are given", "# What to record"
        ).splitlines()
