"""Data blocks: whatever the content, it stays inside and comes back as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.ports.model_gateway import JsonValue
from hindsight_aws.prompts import data_block
from infra.local.bedrock.blocks import read_blocks

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner),
    max_leaves=12,
)


@given(_JSON)
def test_a_document_comes_back_as_it_was(document: JsonValue) -> None:
    assert read_blocks([data_block("chunk", document)]) == {"chunk": [document]}


@given(st.text(st.sampled_from('<>&/data kind="chunk"\n\\u003c\u2028{}%')))
def test_no_text_can_close_its_block_or_open_another(text: str) -> None:
    opening, body, closing = data_block("chunk", {"text": text}).split("\n")

    assert (opening, closing) == ('<data kind="chunk">', "</data>")
    assert not set("<>&\u2028\u2029") & set(body)
    assert json.loads(body) == {"text": text}


@pytest.mark.parametrize("text", ['Return {"k": 1} at 100%', "{name} and {{x}}", "%s %(a)s", "$x ${y}"])
def test_braces_and_percent_signs_survive(text: str) -> None:
    assert json.dumps(text) in data_block("mission", {"text": text})


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    block = data_block("chunk", {"text": "half \ud83d of an emoji"})

    assert block.encode().decode() == block
    assert "half \ufffd of an emoji" in block


@pytest.mark.parametrize("kind", ["", "Chunk", "a-b", 'a"><b', "a b"])
def test_a_kind_is_lower_case_letters_and_underscores(kind: str) -> None:
    with pytest.raises(ValueError, match="kind"):
        data_block(kind, {})


def test_a_number_without_a_json_word_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        data_block("chunk", {"score": float("nan")})
