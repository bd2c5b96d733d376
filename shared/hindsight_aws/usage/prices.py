"""What a call costs: USD per million tokens by model, and per call for reranking. Pure.

Called by the adapters for each usage record; calls nothing. Figures: on-demand list prices of Amazon Bedrock, us-east-1
(aws.amazon.com/bedrock/pricing), taken on 2026-11-29 from published tables that agree; regions and contracts differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from hindsight_aws.ports.model_gateway import TokenUsage

_MILLION = Decimal(1_000_000)
_REGIONAL_PREMIUM = Decimal("1.1")
_PROFILE = re.compile(r"^(global|us-gov|us|eu|apac|jp|au|ca|sa|me)\.")
_FOUNDATION_ARN = re.compile(r"^arn:aws[a-z-]*:bedrock:[a-z0-9-]*:\d*:(?:foundation-model|inference-profile)/")

LOCAL_TEXT_MODEL = "hindsight-local-rules"
REFERENCE_MODEL = "anthropic.claude-haiku-4-5"
"""What the local text model is priced as, so that a laptop shows the order of cost that an account would see."""


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens; `per_call` is USD for one call. `regional` marks the premium of non-global profiles."""

    input: Decimal
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write: Decimal = Decimal(0)
    per_call: Decimal = Decimal(0)
    regional: bool = False


def _claude(input_usd: str, output_usd: str, *, regional: bool = True) -> Price:
    """Anthropic's models: reading the cache costs a tenth of input, writing it a quarter more."""
    base = Decimal(input_usd)
    return Price(base, Decimal(output_usd), base / 10, base * Decimal("1.25"), regional=regional)


def _nova(input_usd: str, output_usd: str) -> Price:
    """Amazon's models: reading the cache costs a quarter of input, writing it nothing."""
    base = Decimal(input_usd)
    return Price(base, Decimal(output_usd), base / 4)


_PRICES: dict[str, Price] = {
    "anthropic.claude-3-haiku": _claude("0.25", "1.25", regional=False),
    "anthropic.claude-3-5-haiku": _claude("0.80", "4", regional=False),
    "anthropic.claude-3-7-sonnet": _claude("3", "15", regional=False),
    "anthropic.claude-sonnet-4-20250514": _claude("3", "15", regional=False),
    "anthropic.claude-opus-4-1": _claude("15", "75", regional=False),
    "anthropic.claude-haiku-4-5": _claude("1", "5"),
    "anthropic.claude-sonnet-4-5": _claude("3", "15"),
    "anthropic.claude-sonnet-4-6": _claude("3", "15"),
    "anthropic.claude-opus-4-5": _claude("5", "25"),
    "anthropic.claude-opus-4-6": _claude("5", "25"),
    "anthropic.claude-opus-4-7": _claude("5", "25"),
    "amazon.nova-micro": _nova("0.035", "0.14"),
    "amazon.nova-lite": _nova("0.06", "0.24"),
    "amazon.nova-pro": _nova("0.80", "3.20"),
    "amazon.nova-2-lite": _nova("0.30", "2.50"),
    "amazon.titan-embed-text-v2": Price(Decimal("0.02")),
    "amazon.rerank-v1": Price(Decimal(0), per_call=Decimal("0.001")),
    "cohere.rerank-v3-5": Price(Decimal(0), per_call=Decimal("0.002")),
}

DEAREST: Final = max(_PRICES.values(), key=lambda price: price.output)
"""What calls of models that the table does not know count for against a limit."""


def base_model(model: str) -> str:
    """The model id without the ARN around it and without the geography of an inference profile."""
    return _PROFILE.sub("", _FOUNDATION_ARN.sub("", model))


def usd_for(model: str, tokens: TokenUsage, calls: int = 1) -> Decimal | None:
    """USD for those tokens in that many calls; None when the table does not know the model: unknown is never free."""
    name = REFERENCE_MODEL if model == LOCAL_TEXT_MODEL else base_model(model)
    price = _PRICES.get(_longest_opening(name))
    if price is None:
        return None
    usd = (
        tokens.input * price.input
        + tokens.output * price.output
        + tokens.cache_read * price.cache_read
        + tokens.cache_write * price.cache_write
    ) / _MILLION
    is_global = model == LOCAL_TEXT_MODEL or _FOUNDATION_ARN.sub("", model).startswith("global.")
    if price.regional and not is_global:
        usd *= _REGIONAL_PREMIUM
    return usd + price.per_call * calls


def _longest_opening(name: str) -> str:
    """The longest listed id that opens `name` and ends where a part of it ends; empty when there is none."""
    fitting = [known for known in _PRICES if name == known or name.startswith((known + "-", known + ":"))]
    return max(fitting, key=len, default="")
