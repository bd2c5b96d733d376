"""How questions are answered: bounds of a run, and how long a caller waits.  Part of Settings."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class ReflectSettings(BaseSettings):
    """How questions are answered: bounds of a run, and how long a caller waits."""

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
    hindsight_reflect_directives_max_tokens: int = Field(
        4_000,
        ge=1,
        description="Size of all directives that one answer is bound by, in tokens; the most important stay.",
    )
    hindsight_api_reflect_sequential_search: bool = Field(
        False,
        description="Whether the model is made to ask each layer in turn, pages first, in place of one parallel first "
        "round without it; fresh pages that fit the question end that early.",
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
    hindsight_reflect_keep_days: int = Field(
        7, ge=1, description="Days a reflect that has ended, and what one without an answer has read, are kept."
    )
    hindsight_reflect_join_seconds: float = Field(
        60.0, ge=0, description="How long after its end a reflect that nobody was given is given to an equal request."
    )
    hindsight_api_enable_mental_model_history: bool = Field(
        True,
        description="Whether the former text of a mental model is kept when a refresh or a clear replaces it; what is "
        "kept already stays, and failures are kept in any case.",
    )
    hindsight_api_mental_model_history_max_entries: int = Field(
        50,
        ge=0,
        le=50,
        description="How many former texts, and as many failures, the history of a mental model shows, the latest; 50 "
        "of each are kept.",
    )
