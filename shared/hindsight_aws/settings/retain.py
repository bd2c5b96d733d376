"""How text becomes facts: extraction, entities, links, operations.  Part of Settings."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class RetainSettings(BaseSettings):
    """How text becomes facts: extraction, entities, links, operations."""

    hindsight_api_retain_max_completion_tokens: int = Field(
        64_000,
        gt=0,
        description="Most output of one extraction call, in tokens; a call asks for less where its text is short, and "
        "never for more than its model can give.  Must be above the chunk size.",
    )
    hindsight_api_retain_llm_max_retries: int = Field(
        1,
        ge=0,
        le=5,
        description="How often an extraction whose reply cannot be read is asked for again, with what was wrong.",
    )
    hindsight_api_retain_optional_fact_dimensions: bool = Field(
        False,
        description="Whether extraction may write null for when, where, who and why; it may always leave them out.",
    )
    hindsight_api_llm_output_language: str | None = Field(
        None, description="Language that facts and answers are written in; unset: that of their text or question."
    )
    hindsight_api_retain_extract_causal_links: bool = Field(
        True, description="Whether extraction asks which fact caused which."
    )
    hindsight_api_retain_parallelism: int = Field(
        8, ge=1, le=64, description="Extraction calls of one retain in flight at once."
    )
    hindsight_content_guard: str = Field(
        "",
        pattern=r"^([A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*)?$",
        description="Class of a guard of one's own against injected instructions, as `module:Class`; made without "
        "arguments when a process starts (docs/howto/screening.md).",
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
        5, ge=1, description="Attempts of one retain operation, ever further apart, before it fails or waits long."
    )
    hindsight_retain_max_revivals: int = Field(
        3,
        ge=0,
        description="How often a retain whose attempts all met an unreachable model, or died, waits long and is tried "
        "again before it fails.",
    )
    hindsight_retain_revival_seconds: float = Field(
        300.0, gt=0, description="The first of those long waits; each further one is twice as long."
    )
    hindsight_api_retain_batch_tokens: int = Field(
        10_000, ge=1, description="Size, in tokens, of the operations that an async retain is divided into."
    )
    hindsight_api_operation_retention_days: int = Field(
        0, ge=0, description="Days after its end that the record of an operation is kept; 0: for ever."
    )
    hindsight_api_audit_log_retention_days: int = Field(
        -1, ge=-1, description="Days that an entry of the audit log is kept; -1: for ever."
    )
    hindsight_api_entity_trgm_similarity_threshold: float = Field(
        0.3, ge=0, le=1, description="Least trigram similarity of names that are looked at as one entity's."
    )
    hindsight_api_entity_merge_min_similarity: float = Field(
        0.3, ge=0, le=1, description="Least trigram similarity of names that may become one entity."
    )
    hindsight_api_semantic_link_min_similarity: float = Field(
        0.7, ge=0, le=1, description="Cosine from which two facts are linked."
    )
