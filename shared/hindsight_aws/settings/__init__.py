"""Every setting of a function process: typed, with its default, read and validated once.

`HINDSIGHT_API_…` names are those of the product whose clients we serve; `HINDSIGHT_…` names are ours.
docs/settings.md lists them from here.  A wrong value stops the process at start with a sentence naming the variable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Self
from urllib.parse import parse_qs, urlsplit

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import SettingsConfigDict, SettingsError

from hindsight_aws.errors import HindsightError
from hindsight_aws.settings.consolidation import ConsolidationSettings
from hindsight_aws.settings.erasure import ErasureSettings
from hindsight_aws.settings.files import FileSettings
from hindsight_aws.settings.models import ModelSettings
from hindsight_aws.settings.observability import ObservabilitySettings
from hindsight_aws.settings.process import ProcessSettings
from hindsight_aws.settings.recall import RecallSettings
from hindsight_aws.settings.reembedding import ReembeddingSettings
from hindsight_aws.settings.reflect import ReflectSettings
from hindsight_aws.settings.retain import RetainSettings
from hindsight_aws.settings.tenancy import TenancySettings
from hindsight_aws.settings.transfer import TransferSettings
from hindsight_aws.settings.webhooks import WebhookSettings


class WrongSetting(HindsightError):
    """A setting is missing or wrong; the message names the variable and says what is wanted."""


class Settings(
    ReembeddingSettings,
    TransferSettings,
    TenancySettings,
    ErasureSettings,
    WebhookSettings,
    ReflectSettings,
    ConsolidationSettings,
    RecallSettings,
    FileSettings,
    RetainSettings,
    ModelSettings,
    ObservabilitySettings,
    ProcessSettings,
):
    """The process's settings; field names are the variables' names in lower case."""

    model_config = SettingsConfigDict(case_sensitive=False, extra="ignore", frozen=True, env_ignore_empty=True)

    bank_defaults: tuple[tuple[str, str], ...] = Field(
        (),
        description="Bank settings of the whole server as in `HINDSIGHT_API_<FIELD>`, which configuration/ parses.",
    )

    @model_validator(mode="before")
    @classmethod
    def _gather_bank_defaults(cls, values: dict[str, object]) -> dict[str, object]:
        return {"bank_defaults": bank_defaults_in(os.environ), **values}

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

    @model_validator(mode="after")
    def _private_receivers_only_on_this_machine(self) -> Self:
        if self.hindsight_api_webhook_allowed_hosts and self.hindsight_environment != "local":
            raise ValueError(
                "HINDSIGHT_API_WEBHOOK_ALLOWED_HOSTS lets webhooks reach a private network, so it needs "
                "HINDSIGHT_ENVIRONMENT=local"
            )
        return self


def load_settings() -> Settings:
    """The settings of this process.  Raises WrongSetting, with one sentence per wrong variable."""
    try:
        return Settings()
    except SettingsError as unread:
        raise WrongSetting(not_json(unread)) from None
    except ValidationError as wrong:
        sentences = [
            f"{_variable(error['loc'])}: {error['msg'].removeprefix('Value error, ')}" for error in wrong.errors()
        ]
        raise WrongSetting("; ".join(sentences)) from None


def not_json(unread: SettingsError) -> str:
    """The sentence for a variable that must hold JSON and does not: the library names its field among its own words."""
    named = next((name for name in Settings.model_fields if f'"{name}"' in str(unread)), "settings")
    return f"{named.upper()}: must be JSON"


def _is_on_this_machine(database_url: str) -> bool:
    parts = urlsplit(database_url)
    host = parts.hostname or (parse_qs(parts.query).get("host") or [""])[0]
    return host in ("localhost", "127.0.0.1", "::1") or host.startswith(("/", "%2F"))


def bank_defaults_in(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Every HINDSIGHT_API_ variable as written; which of them name a bank setting is for configuration/ to know."""
    prefix = "HINDSIGHT_API_"
    named = [(name.upper(), text) for name, text in environment.items() if text]
    return tuple(sorted((name.removeprefix(prefix).lower(), text) for name, text in named if name.startswith(prefix)))


def _variable(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location).upper() or "settings"
