"""Prompts, the data blocks their input stands in, and the contract both sides of the model wire keep.

Called by the use cases and by `hindsight-aws model-contract`; calls nothing outside this package but the port's types.
"""

from hindsight_aws.prompts.blocks import data_block
from hindsight_aws.prompts.extraction import (
    ExtractionMode,
    extraction_blocks,
    extraction_prompt,
    owner_blocks,
    problem_block,
)
from hindsight_aws.prompts.registry import Prompt, prompt

__all__ = [
    "ExtractionMode",
    "Prompt",
    "data_block",
    "extraction_blocks",
    "extraction_prompt",
    "owner_blocks",
    "problem_block",
    "prompt",
]
