"""Body of a dry run: a text, and settings to try it under."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, model_validator

from hindsight_aws.api.schemas.retain import Content, Timestamp, text_of
from hindsight_aws.api.schemas.text import without_surrogates
from hindsight_aws.retain import DryRunRequest, RetainItem
from hindsight_aws.retain.intake.timestamps import read_timestamp

_SETTINGS: Final = (
    "retain_mission",
    "retain_extraction_mode",
    "retain_custom_instructions",
    "retain_chunk_size",
    "entity_labels",
    "entities_allow_free_form",
)
"""The bank settings that one call may try; an explicit null is none of them."""


class DryRunBody(BaseModel):
    """The text, and the settings that differ from the bank's.  `agent_name` is known, and has no effect."""

    content: Content
    context: str = ""
    timestamp: Timestamp = None
    agent_name: str | None = None
    strategy: str | None = None
    retain_mission: str | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_extract_causal_links: bool | None = None
    retain_chunk_size: int | None = None
    entity_labels: list[dict[str, Any]] | None = None  # its shape is the setting's, checked where settings are
    entities_allow_free_form: bool | None = None
    llm_output_language: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    def as_request(self) -> DryRunRequest:
        """The request as retain takes it."""
        return DryRunRequest(
            item=RetainItem(
                content=text_of(self.content),
                timestamp=read_timestamp(self.timestamp, "timestamp"),
                context=self.context or None,
                strategy=self.strategy,
            ),
            overrides={name: value for name in _SETTINGS if (value := getattr(self, name)) is not None},
            asks_causes=self.retain_extract_causal_links,
            language=self.llm_output_language,
        )
