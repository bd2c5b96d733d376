"""Every setting of a function process: typed, with its default, read and validated once.

`HINDSIGHT_API_…` names are those of the product whose clients we serve; `HINDSIGHT_…` names are ours.
docs/settings.md lists them from here.  A wrong value stops the process at start with a sentence naming the variable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
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

    hindsight_environment: Literal["local", "cloud"] = Field(
        "cloud", description="Where this process runs: `local` or `cloud`."
    )
    hindsight_database_url: str = Field("", description="Connection string of this function's own database role.")
    hindsight_database_secret_arn: str = Field(
        "", description="Secret with the administrator's user and password; only the `migrate` function has it."
    )
    hindsight_database_connect_seconds: float = Field(
        20.0,
        gt=0,
        description="How long to retry a connection before answering 503; a paused database takes 15 to 30 s.",
    )
    hindsight_statement_timeout_ms: int = Field(
        25_000, gt=0, description="Longest time one SQL statement may take, in milliseconds (deleting a bank: 55 s)."
    )
    hindsight_dev_tenant: UUID | None = Field(
        None,
        description="Tenant of calls without a key.  Only on a local stack whose database is on this machine.",
    )
    hindsight_queue_ingest_url: str = Field(
        "", description="URL of the SQS queue whose messages wake retain operations."
    )
    hindsight_queue_consolidate_url: str = Field(
        "", description="URL of the SQS queue whose messages wake the consolidation of a scope."
    )
    aws_region: str = Field("us-east-1", description="Region of the queues and models; Lambda sets it.")
    hindsight_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Least level of log lines written."
    )

    hindsight_api_llm_provider: Literal["bedrock", "none"] = Field(
        "bedrock", description="`bedrock`, or `none`: no text model at all, retain then stores chunks as they are."
    )
    hindsight_api_llm_model: str = Field(
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
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
    hindsight_api_embeddings_parallelism: int = Field(8, ge=1, le=64, description="Embedding calls in flight at once.")
    hindsight_api_reranker_model: str | None = Field(None, description="Rerank model; unset: fused order is final.")
    hindsight_api_llm_timeout: float = Field(
        120.0, gt=0, description="Longest time one text model call may take, in seconds."
    )

    hindsight_workflow_reflect_arn: str = Field("", description="ARN of the workflow that runs a reflect.")
    hindsight_api_reflect_max_iterations: int = Field(
        10, ge=1, description="Model calls of a reflect of budget `mid`; `low` has half as many, `high` twice."
    )
    hindsight_api_reflect_max_context_tokens: int = Field(
        100_000, ge=1, description="Size of a reflect's conversation from which it must answer, in tokens."
    )
    hindsight_api_reflect_max_completion_tokens: int = Field(
        8_192, gt=0, description="Output limit of one model call of reflect, in tokens."
    )
    hindsight_api_reflect_wall_timeout: float = Field(
        300.0, gt=0, le=300, description="Longest time a reflect may take, in seconds; the workflow's own limit is 300."
    )
    hindsight_reflect_wait_seconds: float = Field(
        25.0, ge=0, le=28, description="How long a reflect call waits for its run before it answers 503; seconds."
    )
    hindsight_reflect_url_wait_seconds: float = Field(
        285.0, ge=0, le=290, description="The same for calls through the Function URL, which knows no 30 s limit."
    )
    hindsight_reflect_retry_after_seconds: int = Field(
        1, ge=1, description="`Retry-After` of a reflect that is still going; the client then joins its run."
    )
    hindsight_reflect_join_seconds: float = Field(
        60.0, ge=0, description="How long after its end a reflect that nobody was given is given to an equal request."
    )

    hindsight_api_enable_auto_consolidation: bool = Field(
        True, description="Whether retained facts wake consolidation by themselves."
    )
    hindsight_api_enable_observations: bool = Field(
        True, description="Whether facts are consolidated into observations at all."
    )
    hindsight_api_retain_max_completion_tokens: int = Field(
        8_192, gt=0, description="Output limit of one extraction call, in tokens."
    )
    hindsight_api_retain_extract_causal_links: bool = Field(
        True, description="Whether extraction asks which fact caused which."
    )
    hindsight_api_retain_parallelism: int = Field(
        8, ge=1, le=64, description="Extraction calls of one retain in flight at once."
    )
    hindsight_retain_sync_seconds: float = Field(
        20.0,
        gt=0,
        description="A sync retain that is not done by then goes on as an operation and answers `async: true`.",
    )
    hindsight_retain_lease_seconds: float = Field(
        180.0,
        gt=0,
        description="A retain whose worker died is taken over after this time; longer than any one model call.",
    )
    hindsight_volatile_tags: tuple[str, ...] = Field(
        ("session:*",),
        description="Tags (globs) that never make a scope by themselves when all of a fact's asked globs miss.",
    )
    hindsight_link_exact_limit: int = Field(
        2_000, ge=0, description="Facts of a bank up to which a new one is compared with all of them for links."
    )
    hindsight_api_retain_max_attempts: int = Field(
        5, ge=1, description="Attempts of one retain operation before it fails."
    )
    hindsight_api_consolidation_dedup_threshold: float = Field(
        0.97, ge=0, description="Cosine from which two observations of a scope are compared as duplicates; 1.0: never."
    )
    hindsight_api_consolidation_max_tokens: int = Field(
        512, gt=0, description="Tokens of related observations shown for each new fact."
    )
    hindsight_api_consolidation_lease_seconds: float = Field(
        180.0,
        gt=0,
        description="How long a worker holds a scope between two renewals; longer than one model call takes.",
    )
    hindsight_api_consolidation_max_deferrals: int = Field(
        8,
        ge=1,
        description="How often a fact waits, ever longer, for an unreachable model until it fails in its scope.",
    )
    hindsight_api_semantic_link_min_similarity: float = Field(
        0.7, ge=0, le=1, description="Cosine from which two facts are linked."
    )
    hindsight_api_semantic_min_similarity: float = Field(
        0.3, ge=-1, le=1, description="Least cosine of a semantic recall candidate."
    )
    hindsight_api_recall_max_query_tokens: int = Field(
        500, ge=0, description="Longer recall queries are cut to this many tokens; 0: never."
    )
    hindsight_api_recall_exact_scan_limit: int = Field(
        10_000,
        ge=0,
        description="Most facts of a type that a bank is searched through exactly; larger ones use the vector index.",
    )
    hindsight_api_bm25_max_query_terms: int = Field(
        16, ge=1, description="Most terms of a recall query that the keyword arm looks up."
    )
    hindsight_api_enable_bank_config_api: bool = Field(
        True, description="Whether PATCH and DELETE of a bank's config are served."
    )
    hindsight_api_gzip_min_size: int = Field(
        1024, ge=0, description="Answers of at least this many bytes are compressed on request."
    )

    bank_defaults: tuple[tuple[str, str], ...] = Field(
        (),
        description="Bank settings of the whole server as in `HINDSIGHT_API_<FIELD>`, parsed by banks/config.py.",
    )

    @model_validator(mode="before")
    @classmethod
    def _gather_bank_defaults(cls, values: dict[str, object]) -> dict[str, object]:
        return {"bank_defaults": _bank_defaults_in(os.environ), **values}

    @model_validator(mode="after")
    def _dev_tenant_only_on_this_machine(self) -> Self:
        if self.hindsight_dev_tenant is None:
            return self
        if self.hindsight_environment != "local" or not _is_on_this_machine(self.hindsight_database_url):
            raise ValueError(
                "HINDSIGHT_DEV_TENANT serves calls without a key, so it needs HINDSIGHT_ENVIRONMENT=local "
                "and a database on this machine"
            )
        return self


def load_settings() -> Settings:
    """The settings of this process.  Raises WrongSetting, with one sentence per wrong variable."""
    try:
        return Settings()
    except ValidationError as wrong:
        sentences = [
            f"{_variable(error['loc'])}: {error['msg'].removeprefix('Value error, ')}" for error in wrong.errors()
        ]
        raise WrongSetting("; ".join(sentences)) from None


def _is_on_this_machine(database_url: str) -> bool:
    parts = urlsplit(database_url)
    host = parts.hostname or (parse_qs(parts.query).get("host") or [""])[0]
    return host in ("localhost", "127.0.0.1", "::1") or host.startswith(("/", "%2F"))


def _bank_defaults_in(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Every HINDSIGHT_API_ variable as written; which of them name a bank setting is for banks/ to know."""
    prefix = "HINDSIGHT_API_"
    named = [(name.upper(), text) for name, text in environment.items() if text]
    return tuple(sorted((name.removeprefix(prefix).lower(), text) for name, text in named if name.startswith(prefix)))


def _variable(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location).upper() or "settings"
