"""What each family of models can do, so that one call fits them all.

Called by `converse`; calls nothing. From the Converse and structured-output pages of the Bedrock user guide (2026-11).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hindsight_aws.usage.prices import base_model


@dataclass(frozen=True, slots=True)
class Capability:
    """`max_output` is in tokens. Without `forced_tool` a call falls back to `any_tool`, then to a reminder."""

    forced_tool: bool = False
    any_tool: bool = False
    strict_schema: bool = False
    cache_point: bool = False
    sampling: bool = True
    max_output: int = 4096


_UNKNOWN = Capability()

_FAMILIES: tuple[tuple[re.Pattern[str], Capability], ...] = tuple(
    (re.compile(pattern), capability)
    for pattern, capability in (
        (r"hindsight-local-qwen", Capability(forced_tool=True, any_tool=True, max_output=2_048)),
        (r"hindsight-local-", Capability(forced_tool=True, any_tool=True, max_output=64_000)),
        (r"anthropic\.claude-3-haiku|anthropic\.claude-3-sonnet|anthropic\.claude-3-opus",
         Capability(forced_tool=True, any_tool=True)),
        (r"anthropic\.claude-3-5", Capability(forced_tool=True, any_tool=True, cache_point=True, max_output=8192)),
        (r"anthropic\.claude-(opus-4-2|opus-4-1|sonnet-4-2)",
         Capability(forced_tool=True, any_tool=True, cache_point=True, max_output=32_000)),
        (r"anthropic\.claude-(3-7|haiku-4-5|sonnet-4-[56]|opus-4-[56])",
         Capability(forced_tool=True, any_tool=True, strict_schema=True, cache_point=True, max_output=64_000)),
        (r"anthropic\.claude-opus-4-",
         Capability(forced_tool=True, any_tool=True, strict_schema=True, cache_point=True, sampling=False,
                    max_output=64_000)),
        # From Sonnet 5.5 on a forced tool is an error, so models that are not listed are asked for it in words.
        (r"anthropic\.claude", Capability(strict_schema=True, cache_point=True, sampling=False, max_output=64_000)),
        (r"amazon\.nova-2", Capability(forced_tool=True, any_tool=True, cache_point=True, max_output=64_000)),
        (r"amazon\.nova", Capability(forced_tool=True, any_tool=True, cache_point=True, max_output=10_000)),
        (r"mistral\.mistral-large", Capability(any_tool=True, max_output=8192)),
        (r"(openai|qwen|deepseek|moonshot|minimax|zai)\.", Capability(max_output=16_384)),
        (r"meta\.llama", Capability(max_output=8192)),
    )
)  # fmt: skip


def capability_of(model: str) -> Capability:
    """The first family whose pattern opens the model id; the most careful answer for a model nobody has listed."""
    name = base_model(model)
    return next((capability for pattern, capability in _FAMILIES if pattern.match(name)), _UNKNOWN)
