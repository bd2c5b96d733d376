"""What model calls came to."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class TokenUsage(TypedDict):
    """Tokens of the model calls behind an answer."""

    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    total_tokens: NotRequired[int]
    cached_tokens: NotRequired[int]
    thoughts_tokens: NotRequired[int]


class UsageCounts(TypedDict):
    """Model calls, their tokens, and their price; null where no call has a known price."""

    calls: int
    failed_calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    usd: float | None
    unpriced_calls: int


class UsageLine(UsageCounts):
    """What one task came to with one model."""

    task: str
    model: str


class BankUsageResponse(TypedDict):
    """What a bank's model calls came to."""

    bank_id: str
    start_date: str | None
    end_date: str | None
    total: UsageCounts
    parked_until: NotRequired[str]
    parked_because: NotRequired[str]
    items: list[UsageLine]
