"""Bodies of calls on webhooks, as clients send them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, model_validator

from hindsight_aws.api.schemas.text import fit_to_store
from hindsight_aws.model.webhook import CONSOLIDATION_COMPLETED, HttpConfig
from hindsight_aws.ports.webhooks import NewWebhook, WebhookChange

_Seconds = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class HttpConfigBody(BaseModel):
    """How a receiver is called."""

    method: str = "POST"
    timeout_seconds: _Seconds = 30
    headers: dict[str, str] = {}
    params: dict[str, str] = {}

    def as_config(self) -> HttpConfig:
        """The way of calling as the use case takes it."""
        return HttpConfig(self.method, self.timeout_seconds, self.headers, self.params)


class CreateWebhookRequest(BaseModel):
    """A new hook."""

    url: str
    secret: str | None = None
    event_types: list[str] = [CONSOLIDATION_COMPLETED]
    enabled: bool = True
    http_config: HttpConfigBody = HttpConfigBody()

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return _but_for_its_secret(body)

    def as_hook(self) -> NewWebhook:
        """The hook as the use case takes it."""
        return NewWebhook(self.url, self.secret, tuple(self.event_types), self.enabled, self.http_config.as_config())


class UpdateWebhookRequest(BaseModel):
    """What to change: only fields that are sent count; a null takes the secret away, and leaves what else there is."""

    url: str | None = None
    secret: str | None = None
    event_types: list[str] | None = None
    enabled: bool | None = None
    http_config: HttpConfigBody | None = None

    @model_validator(mode="before")
    @classmethod
    def _made_whole(cls, body: object) -> object:
        return _but_for_its_secret(body)

    def as_change(self) -> WebhookChange | None:
        """The change as the use case takes it; None when no field was sent."""
        if not self.model_fields_set:
            return None
        return WebhookChange(
            url=self.url,
            secret=self.secret,
            sets_secret="secret" in self.model_fields_set,
            event_types=None if self.event_types is None else tuple(self.event_types),
            is_enabled=self.enabled,
            http=None if self.http_config is None else self.http_config.as_config(),
        )


def _but_for_its_secret(body: object) -> object:
    """The body made whole.  A secret stays as it was sent, to be refused: made whole it would be another."""
    whole = fit_to_store(body)
    if isinstance(whole, dict) and isinstance(body, dict) and "secret" in body:
        whole["secret"] = body["secret"]
    return whole
