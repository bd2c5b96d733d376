"""Bodies of PUT and PATCH of a bank and of its config."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, model_validator

from hindsight_aws.api.schemas.text import without_surrogates

Trait = Annotated[int, Field(ge=1, le=5)]


class DispositionTraits(BaseModel):
    """Three traits at once."""

    skepticism: Trait
    literalism: Trait
    empathy: Trait


class CreateBankRequest(BaseModel):
    """What a bank may be given when it is made or changed; null leaves a thing as it is."""

    name: str | None = None
    disposition: DispositionTraits | None = None
    disposition_skepticism: Trait | None = None
    disposition_literalism: Trait | None = None
    disposition_empathy: Trait | None = None
    mission: str | None = None
    background: str | None = None
    reflect_mission: str | None = None
    retain_mission: str | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_chunk_size: int | None = None
    retain_structured_chunk_size: int | None = None
    retain_max_attachments_per_chunk: int | None = None
    enable_observations: bool | None = None
    observations_mission: str | None = None
    enable_text_search: bool | None = None
    enable_temporal_retrieval: bool | None = None
    enable_graph_retrieval: bool | None = None
    enable_reranking: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return without_surrogates(body)

    def updates(self) -> dict[str, object]:
        """The settings that were given, in the names of the config; of several missions the most specific one."""
        given = self.model_dump(exclude={"name", "disposition", "mission", "background"}, exclude_none=True)
        if "reflect_mission" not in given:
            mission = self.background if self.mission is None else self.mission
            if mission is not None:
                given["reflect_mission"] = mission
        if self.disposition is not None:
            for trait, value in self.disposition.model_dump().items():
                given.setdefault(f"disposition_{trait}", value)
        return given


class BankConfigUpdate(BaseModel):
    """Settings to lay over the bank's own; a null takes one away."""

    updates: dict[str, object]


class UpdateDispositionRequest(BaseModel):
    """The traits to set."""

    disposition: DispositionTraits


class AddBackgroundRequest(BaseModel):
    """Text to add to the mission; traits are never guessed from it, whatever `update_disposition` says."""

    content: str
    update_disposition: bool = True
