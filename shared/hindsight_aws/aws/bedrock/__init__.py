"""Bedrock behind `ports.model_gateway`: text with tools, vectors, and reranking.

Joined to the use cases by `runtime` and `cli` alone; calls boto3. botocore retries nothing; a text call is made once.
"""

from hindsight_aws.aws.bedrock.clients import BedrockClients, BedrockLimits
from hindsight_aws.aws.bedrock.embedder import BedrockEmbedder
from hindsight_aws.aws.bedrock.reranker import BedrockReranker
from hindsight_aws.aws.bedrock.text_model import BedrockTextModel

__all__ = ["BedrockClients", "BedrockEmbedder", "BedrockLimits", "BedrockReranker", "BedrockTextModel"]
