"""Prices: known models cost what the table says, unknown ones are not free."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hindsight_aws.ports.model_gateway import TokenUsage
from hindsight_aws.usage.prices import usd_for

MILLION = TokenUsage(input=1_000_000, output=1_000_000)
GLOBAL_HAIKU = "global.anthropic.claude-haiku-4-5-20251001-v1:0"


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        (GLOBAL_HAIKU, "6"),
        ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", "6.6"),
        (
            "arn:aws:bedrock:us-east-1:111122223333:inference-profile/global.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "18",
        ),
        ("arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0", "0.30"),
        ("us.amazon.nova-lite-v1:0", "0.30"),
        ("anthropic.claude-sonnet-4-20250514-v1:0", "18"),
        ("amazon.titan-embed-text-v2:0", "0.02"),
    ],
)
def test_a_known_model_is_priced_however_it_is_addressed(model: str, usd: str) -> None:
    assert usd_for(model, MILLION) == Decimal(usd)


@pytest.mark.parametrize(
    "model",
    [
        "acme.model-1",
        "",
        "anthropic.claude-sonnet-4-99",
        "arn:aws:bedrock:us-east-1:1:application-inference-profile/ab",
    ],
)
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert usd_for(model, MILLION) is None


def test_cached_tokens_have_prices_of_their_own() -> None:
    assert usd_for(GLOBAL_HAIKU, TokenUsage(cache_read=1_000_000)) == Decimal("0.1")
    assert usd_for(GLOBAL_HAIKU, TokenUsage(cache_write=1_000_000)) == Decimal("1.25")


def test_the_local_text_model_is_priced_as_its_reference() -> None:
    assert usd_for("hindsight-local-rules", MILLION) == usd_for(GLOBAL_HAIKU, MILLION)


def test_reranking_is_priced_per_call() -> None:
    assert usd_for("cohere.rerank-v3-5:0", TokenUsage(), calls=3) == Decimal("0.006")
