"""Request metadata: any text fits Bedrock's characters, no two texts collide, and short ones come back."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.aws.bedrock.metadata import encode_value

_ALLOWED = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,\-.]{0,256}")
_ENCODED = re.compile(r"(?:=[0-9A-F]{2})+")


def decode_value(encoded: str) -> str:
    """The text that was encoded, as whoever reads an invocation log gets it back."""
    return _ENCODED.sub(
        lambda match: bytes.fromhex(match[0].replace("=", "")).decode("utf-8", "surrogateescape"), encoded
    )


@given(st.text(max_size=400))
def test_every_text_is_written_in_allowed_characters(text: str) -> None:
    assert _ALLOWED.fullmatch(encode_value(text))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_a_short_text_comes_back(text: str) -> None:
    assert decode_value(encode_value(text)) == text


@given(st.text("aé=#%", max_size=12), st.text("aé=#%", max_size=12))
def test_two_texts_never_share_an_encoding(one: str, other: str) -> None:
    assert (encode_value(one) == encode_value(other)) == (one == other)


def test_long_texts_with_one_beginning_stay_apart() -> None:
    one, other = encode_value("é" * 300 + "1"), encode_value("é" * 300 + "2")

    assert one != other
    assert len(one) <= 256
    assert decode_value(one).startswith("é" * 30)


def test_plain_ids_stay_readable() -> None:
    assert encode_value("team:alpha/user_1@acme.io") == "team:alpha/user_1@acme.io"
