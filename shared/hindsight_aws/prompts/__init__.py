"""Prompts, the data blocks their input stands in, and the contract both sides of the model wire keep.

Called by the use cases and by `hindsight-aws model-contract`; calls nothing outside this package but the port's types.
"""

from hindsight_aws.prompts.blocks import data_block
from hindsight_aws.prompts.extraction import extraction_blocks
from hindsight_aws.prompts.registry import Prompt, prompt, prompt_ids

__all__ = ["Prompt", "data_block", "extraction_blocks", "prompt", "prompt_ids"]
