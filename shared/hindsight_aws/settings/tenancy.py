"""Who a token's bearer is: which claims of a JWT say what.  Part of Settings."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode


def _json_in_text(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_json_in_text)]
"""A JSON list, decoded here: a wrong one is a sentence that names its variable."""


class TenancySettings(BaseSettings):
    """Who a token's bearer is: which claims of a JWT say what."""

    hindsight_api_jwt_issuer: str | None = Field(
        None,
        description="Issuer whose tokens are believed once the gateway's authorizer has verified them; unset: none is.",
    )
    hindsight_api_jwt_tenant_claim: str = Field(
        "hindsight_tenant", min_length=1, description="Claim that holds the tenant's id; a token without it is refused."
    )
    hindsight_api_jwt_subject_claim: str = Field(
        "sub",
        min_length=1,
        description="Claim that names the caller, under whom operations and costs are kept; without it, `client_id`.",
    )
    hindsight_api_jwt_permissions_claim: str = Field(
        "hindsight_permissions",
        min_length=1,
        description="Claim that lists what the caller may do: read, write, admin.  Without it: nothing.",
    )
    hindsight_api_jwt_banks_claim: str = Field(
        "hindsight_banks",
        min_length=1,
        description="Claim that lists patterns of the caller's bank ids, `*` for all.  Without it: no bank.",
    )
    hindsight_api_jwt_tags_claim: str = Field(
        "hindsight_tags",
        min_length=1,
        description="Claim with the tags, or the tag group as JSON, that every read and write of the caller must pass.",
    )
    hindsight_api_jwt_fact_types_claim: str = Field(
        "hindsight_fact_types", min_length=1, description="Claim that lists the types of facts that the caller may see."
    )
    hindsight_api_jwt_scopes_claim: str = Field(
        "hindsight_scopes",
        min_length=1,
        description="Claim that lists the exact scopes that the caller may see observations of, each as tags joined by "
        "commas, or all as a JSON list of lists.",
    )
    hindsight_api_jwt_required_claims: _Names = Field(
        (),
        description="Claims, as a JSON list, without which a token is refused: those by which callers must be limited.",
    )
