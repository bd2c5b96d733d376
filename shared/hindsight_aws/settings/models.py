"""Which models are asked, and how long and how often.  Part of Settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings

_PROFILE: Final = re.compile(r"arn:aws[a-z-]*:bedrock:[a-z0-9-]+:\d{12}:application-inference-profile/[A-Za-z0-9.:-]+")


class ModelSettings(BaseSettings):
    """Which models are asked, and how long and how often."""

    hindsight_api_llm_provider: Literal["bedrock", "none"] = Field(
        "bedrock", description="`bedrock`, or `none`: no text model at all, retain then stores chunks as they are."
    )
    hindsight_api_llm_model: str = Field(
        "us.anthropic.claude-sonnet-4-6",
        description="Model or inference profile of every text task without one of its own.",
    )
    hindsight_api_retain_llm_model: str | None = Field(
        None, description="Model of fact extraction; unset: `HINDSIGHT_API_LLM_MODEL`."
    )
    hindsight_api_consolidation_llm_model: str | None = Field(
        None, description="Model of consolidation; unset: `HINDSIGHT_API_LLM_MODEL`."
    )
    hindsight_api_reflect_llm_model: str | None = Field(
        None, description="Model of reflect; unset: `HINDSIGHT_API_LLM_MODEL`."
    )
    hindsight_api_embeddings_model: str = Field(
        "amazon.titan-embed-text-v2:0", description="Embedding model of new banks."
    )
    hindsight_api_embeddings_models_served: str = Field(
        "",
        description="Embedding models that banks may be of besides, separated by commas: a bank keeps the model of its "
        "first fact until it is embedded anew (docs/howto/change-embeddings.md).",
    )
    hindsight_api_embeddings_parallelism: int = Field(8, ge=1, le=64, description="Embedding calls in flight at once.")
    hindsight_api_reranker_model: str | None = Field(None, description="Rerank model; unset: fused order is final.")
    hindsight_rerank_region: str | None = Field(
        None,
        description="Region of the rerank model, which few regions have; unset: that of the other models. "
        "From a network without a way out only its own region is reached.",
    )
    hindsight_inference_profiles: str = Field(
        "",
        description="Application inference profiles through which models are called, as `model=ARN`, separated by "
        "commas: AWS bills by the profile's tags, and everything else goes by the model's own id.",
    )
    hindsight_api_llm_timeout: float = Field(
        120.0, gt=0, description="Longest time one text model call may take, in seconds."
    )

    @property
    def served_embeddings_models(self) -> tuple[str, ...]:
        """Every embedding model that banks may be of, that of new banks first."""
        others = (name.strip() for name in self.hindsight_api_embeddings_models_served.split(","))
        return tuple(dict.fromkeys((self.hindsight_api_embeddings_model, *(name for name in others if name))))

    @property
    def inference_profiles(self) -> Mapping[str, str]:
        """The ARN through which a model is called, by the id under which settings name it."""
        pairs = (pair.partition("=") for pair in self.hindsight_inference_profiles.split(",") if pair.strip())
        return {model.strip(): arn.strip() for model, _, arn in pairs}

    @model_validator(mode="after")
    def _profiles_are_profiles(self) -> Self:
        for model, arn in self.inference_profiles.items():
            if not model or not _PROFILE.fullmatch(arn):
                raise ValueError(
                    "HINDSIGHT_INFERENCE_PROFILES must be model=ARN, each ARN of an application inference profile, "
                    f"not {model}={arn}"
                )
        return self

    hindsight_api_enable_bank_llm_health: bool = Field(
        False,
        description="Whether `POST …/health/llm` is served, which asks each text model a question of a few tokens.",
    )
