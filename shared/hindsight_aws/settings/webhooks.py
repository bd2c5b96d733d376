"""How banks' events are told to others.  Part of Settings."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode


def _json_in_text(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_json_in_text)]
"""A JSON list, decoded here: a wrong one is a sentence that names its variable, and the deployment reads it alike."""


class WebhookSettings(BaseSettings):
    """How banks' events are told to others."""

    hindsight_api_webhook_url: str | None = Field(
        None,
        description="A receiver of the whole server, told of every tenant's banks; its deliveries are unsigned.",
    )
    hindsight_api_webhook_event_types: _Names = Field(
        ("consolidation.completed",), description="What the server's own receiver is told of, as a JSON list."
    )
    hindsight_api_webhook_allowed_hosts: _Names = Field(
        (),
        description="Hosts that may be called wherever they lead, by http too, as a JSON list.  Local stacks only.",
    )
    hindsight_webhook_allow_http: bool = Field(
        False, description="Whether receivers on the public internet may be called by plain http."
    )
    hindsight_webhook_lease_seconds: float = Field(
        300.0, ge=120, description="An attempt at a delivery of which nothing was heard is made again after this time."
    )
