"""The most that a model call may cost, before it is made: what it sends, estimated, and all it may answer.  Pure.

Called by usage/allowance.py; calls the price table and the token estimate.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from hindsight_aws.ports.model_gateway import ModelCall, TokenUsage, Turn
from hindsight_aws.text.tokens import count_tokens
from hindsight_aws.usage.prices import DEAREST, usd_for

INPUT_FACTOR: Final = 2
"""The token estimate is off by a third at most, and tokenizers of other models split somewhat finer."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The most that calls of one model may cost; `usd` None: the price table does not know the model."""

    model: str
    tokens: int
    usd: Decimal | None

    def times(self, calls: int) -> Estimate:
        """The same for so many calls."""
        return Estimate(self.model, self.tokens * calls, None if self.usd is None else self.usd * calls)


def estimate(call: ModelCall) -> Estimate:
    """The most that the call may cost, whether a cache takes its input in or not."""
    texts = (call.system, *call.blocks, *(json.dumps(tool.schema) + tool.description for tool in call.tools))
    said = (text for turn in call.history for text in _texts(turn))
    tokens = INPUT_FACTOR * sum(count_tokens(text) for text in (*texts, *said))
    read = usd_for(call.model, TokenUsage(input=tokens, output=call.max_tokens))
    cached = usd_for(call.model, TokenUsage(cache_write=tokens, output=call.max_tokens))
    usd = None if read is None or cached is None else max(read, cached)
    return Estimate(call.model, tokens + call.max_tokens, usd)


def unpriced_usd(tokens_in: int, tokens_out: int) -> Decimal:
    """What tokens of models without a price count for: the dearest price there is, for unknown is never free."""
    return (tokens_in * DEAREST.input + tokens_out * DEAREST.output) / 1_000_000


def _texts(turn: Turn) -> tuple[str, ...]:
    used = tuple(json.dumps(use.input) for use in turn.uses)
    answered = tuple(json.dumps(result.document) for result in turn.results)
    return (turn.said, *used, *answered, *turn.closing)
