"""Titan's body: inputs that fit, and vectors that are believed only when they are sound."""

from __future__ import annotations

import pytest

from hindsight_aws.aws.bedrock.titan import cut_to_limit, parse, read_vector
from hindsight_aws.errors import ModelReplyMalformed
from hindsight_aws.ports.model_gateway import JsonValue


@pytest.mark.parametrize("text", ["short", "x" * 5_000, "слово " * 900])
def test_a_text_within_the_limit_is_left_alone(text: str) -> None:
    assert cut_to_limit(text) == text


def test_scripts_with_dense_tokens_are_cut_sooner() -> None:
    latin, han = cut_to_limit("word " * 20_000), cut_to_limit("字" * 20_000)

    assert len(latin) == 20_000
    assert 5_000 < len(han) < 6_000


@pytest.mark.parametrize(
    "values",
    [
        [0.1] * 3, [0.1] * 5, "0.1", None, [0.1, "x", 0.1, 0.1], [0.1, None, 0.1, 0.1],
        [float("nan"), 0, 0, 0], [float("inf"), 0, 0, 0], [1e300, 0, 0, 0],
    ],
)  # fmt: skip
def test_an_unsound_vector_is_malformed(values: JsonValue) -> None:
    with pytest.raises(ModelReplyMalformed):
        read_vector({"embedding": values}, 4)


def test_a_sound_vector_keeps_its_values_and_zero_is_flagged() -> None:
    assert list(read_vector({"embedding": [0.5, -0.5, 0.25, 0]}, 4).values) == [0.5, -0.5, 0.25, 0.0]
    assert not read_vector({"embedding": [0, 0, 0, 1e-6]}, 4).is_zero
    assert read_vector({"embedding": [0, 0, 0, 0]}, 4).is_zero


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff"])
def test_an_answer_that_is_no_object_is_malformed(body: bytes) -> None:
    with pytest.raises(ModelReplyMalformed):
        parse(body)
