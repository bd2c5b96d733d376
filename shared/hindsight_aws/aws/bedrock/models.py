"""The models that the settings name, over clients that they share; each call is measured and traced.

Made by `runtime`; puts `usage.metered` around the adapters beside it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from hindsight_aws.aws.bedrock.clients import BedrockClients, BedrockLimits
from hindsight_aws.aws.bedrock.embedder import BedrockEmbedder
from hindsight_aws.aws.bedrock.reranker import BedrockReranker
from hindsight_aws.aws.bedrock.text_model import BedrockTextModel
from hindsight_aws.usage.metered import MeteredEmbedder, MeteredReranker, MeteredTextModel

if TYPE_CHECKING:
    from hindsight_aws.ports.model_gateway import Embedder, Reranker, TextModel
    from hindsight_aws.settings import Settings


class BedrockModels:
    """Hands out models; opens no connection until one is called."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def embedder(self) -> Embedder:
        """The embedding model."""
        embedder = BedrockEmbedder(
            self._clients,
            self._settings.hindsight_api_embeddings_model,
            in_flight=self._settings.hindsight_api_embeddings_parallelism,
            served=self._settings.served_embeddings_models,
        )
        return MeteredEmbedder(embedder)

    def text_model(self) -> TextModel:
        """The text model."""
        return MeteredTextModel(BedrockTextModel(self._clients))

    def impatient_text_model(self, read_timeout_s: float) -> TextModel:
        """The text model for a caller who waits for an answer no longer than this."""
        limits = BedrockLimits(read_timeout_s=read_timeout_s)
        clients = BedrockClients(self._settings.aws_region, limits, self._settings.inference_profiles)
        return MeteredTextModel(BedrockTextModel(clients))

    def reranker(self, model: str) -> Reranker:
        """The rerank model of that id, in the region that the settings name for it."""
        region = self._settings.hindsight_rerank_region
        return MeteredReranker(BedrockReranker(self._clients if region is None else self._in(region), model), model)

    @cached_property
    def _clients(self) -> BedrockClients:
        return self._in(self._settings.aws_region)

    def _in(self, region: str) -> BedrockClients:
        limits = BedrockLimits(
            read_timeout_s=self._settings.hindsight_api_llm_timeout,
            connections=self._settings.hindsight_api_embeddings_parallelism + 2,
        )
        return BedrockClients(region, limits, self._settings.inference_profiles)
