"""Every setting of a function process: typed, with its default, read and validated once.

`HINDSIGHT_API_…` names are those of the product whose clients we serve; `HINDSIGHT_…` names are ours.  docs/settings.md lists
them from here.  A wrong value stops the process at start with a sentence that names the variable.
"""

from __future__ import annotations

from typing import Literal, Self
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from hindsight_aws.errors import HindsightError


class WrongSetting(HindsightError):
    """A setting is missing or wrong; the message names the variable and says what is wanted."""


class Settings(BaseSettings):
    """The process's settings; field names are the variables' names in lower case."""

    model_config = SettingsConfigDict(case_sensitive=False, extra="ignore", frozen=True, env_ignore_empty=True)

    hindsight_environment: Literal["local", "cloud"] = Field("cloud", description="Where this process runs: `local` or `cloud`.")
    hindsight_database_url: str = Field("", description="Connection string of this function's own database role.")
    hindsight_database_connect_seconds: float = Field(
        20.0, gt=0, description="How long to retry a connection before answering 503; a paused database takes 15 to 30 s to resume."
    )
    hindsight_statement_timeout_ms: int = Field(25_000, gt=0, description="Longest time one SQL statement may take, in milliseconds.")
    hindsight_dev_tenant: UUID | None = Field(
        None, description="Tenant that calls without a key belong to.  Only on a local stack whose database is on this machine."
    )
    hindsight_queue_ingest_url: str = Field("", description="URL of the SQS queue whose messages wake retain operations.")
    hindsight_queue_consolidate_url: str = Field("", description="URL of the SQS queue whose messages wake the consolidation of a scope.")
    hindsight_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least level of log lines written.")

    hindsight_api_llm_provider: Literal["bedrock", "none"] = Field(
        "bedrock", description="`bedrock`, or `none`: no text model at all, retain then stores chunks as they are."
    )
    hindsight_api_llm_model: str = Field(
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0", description="Model or inference profile of every text task without one of its own."
    )
    hindsight_api_retain_llm_model: str | None = Field(None, description="Model of fact extraction; unset: `HINDSIGHT_API_LLM_MODEL`.")
    hindsight_api_consolidation_llm_model: str | None = Field(None, description="Model of consolidation; unset: `HINDSIGHT_API_LLM_MODEL`.")
    hindsight_api_reflect_llm_model: str | None = Field(None, description="Model of reflect; unset: `HINDSIGHT_API_LLM_MODEL`.")
    hindsight_api_embeddings_model: str = Field("amazon.titan-embed-text-v2:0", description="Embedding model of new banks.")
    hindsight_api_embeddings_parallelism: int = Field(8, ge=1, le=64, description="Embedding calls in flight at once.")
    hindsight_api_reranker_model: str | None = Field(None, description="Rerank model; unset: fused order is final.")
    hindsight_api_llm_timeout: float = Field(120.0, gt=0, description="Longest time one text model call may take, in seconds.")

    hindsight_api_enable_auto_consolidation: bool = Field(True, description="Whether retained facts wake consolidation by themselves.")
    hindsight_api_enable_observations: bool = Field(True, description="Whether facts are consolidated into observations at all.")
    hindsight_api_retain_max_completion_tokens: int = Field(8_192, gt=0, description="Output limit of one extraction call, in tokens.")
    hindsight_api_retain_extract_causal_links: bool = Field(True, description="Whether extraction asks which fact caused which.")
    hindsight_api_retain_max_attempts: int = Field(5, ge=1, description="Attempts of one retain operation before it fails.")
    hindsight_api_semantic_link_min_similarity: float = Field(0.7, ge=0, le=1, description="Cosine from which two facts are linked.")
    hindsight_api_semantic_min_similarity: float = Field(0.3, ge=-1, le=1, description="Least cosine of a semantic recall candidate.")
    hindsight_api_recall_max_query_tokens: int = Field(500, ge=0, description="Longer recall queries are cut to this many tokens; 0: never.")
    hindsight_api_recall_exact_scan_limit: int = Field(
        10_000, ge=0, description="Banks with at most this many facts of a type are searched exactly, larger ones through the vector index."
    )
    hindsight_api_bm25_max_query_terms: int = Field(16, ge=1, description="Most terms of a recall query that the keyword arm looks up.")
    hindsight_api_enable_bank_config_api: bool = Field(True, description="Whether PATCH and DELETE of a bank's config are served.")
    hindsight_api_gzip_min_size: int = Field(1024, ge=0, description="Answers of at least this many bytes are compressed on request.")

    @model_validator(mode="after")
    def _dev_tenant_only_on_this_machine(self) -> Self:
        if self.hindsight_dev_tenant is None:
            return self
        if self.hindsight_environment != "local" or not _is_on_this_machine(self.hindsight_database_url):
            raise ValueError(
                "HINDSIGHT_DEV_TENANT serves calls without a key, so it needs HINDSIGHT_ENVIRONMENT=local and a database on this machine"
            )
        return self


def load_settings() -> Settings:
    """The settings of this process.  Raises WrongSetting, with one sentence per wrong variable."""
    try:
        return Settings()
    except ValidationError as wrong:
        sentences = [
            f"{'.'.join(str(part) for part in error['loc']).upper() or 'settings'}: {error['msg'].removeprefix('Value error, ')}"
            for error in wrong.errors()
        ]
        raise WrongSetting("; ".join(sentences)) from None


def _is_on_this_machine(database_url: str) -> bool:
    parts = urlsplit(database_url)
    host = parts.hostname or (parse_qs(parts.query).get("host") or [""])[0]
    return host in ("localhost", "127.0.0.1", "::1") or host.startswith("/") or host.startswith("%2F")
