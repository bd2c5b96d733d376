"""The settings that an operator hands to every function: which may be set, and what a function will read of them.

Called by config.py. What a deployment has made of itself (queues, database, keys) is nobody's to set beside it.
"""

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsError

from hindsight_aws.configuration.config import server_defaults
from hindsight_aws.configuration.fields import FIELDS
from hindsight_aws.settings import Settings, WrongSetting, bank_defaults_in, not_json
from infra.topology import MARKS_READ_SETTING, MARKS_SET_SETTING, RECEIPT_KEY_SETTING, TOPOLOGY, workflow_setting

SET_HERE: Final = frozenset(
    {
        "HINDSIGHT_API_JWT_ISSUER",
        "HINDSIGHT_BUCKET",
        "HINDSIGHT_DATABASE_SECRET_ARN",
        "HINDSIGHT_DATABASE_URL",
        "HINDSIGHT_DEV_TENANT",
        "HINDSIGHT_ENVIRONMENT",
        "HINDSIGHT_INFERENCE_PROFILES",
        MARKS_READ_SETTING,
        MARKS_SET_SETTING,
        RECEIPT_KEY_SETTING,
        *(queue.url_setting for queue in TOPOLOGY.queues),
        *(workflow_setting(workflow) for workflow in TOPOLOGY.workflows),
    }
)
"""Settings that follow from what is deployed or from an option, and that nobody else may set."""


def check_settings(given: Mapping[str, str]) -> None:
    """Raises: ValueError with a sentence, unless functions read each of these and start with them."""
    if foreign := sorted(name for name in given if not name.startswith("HINDSIGHT_")):
        raise ValueError(f"only HINDSIGHT_ names may be set, not {', '.join(foreign)}")
    if small := sorted(name for name in given if name != name.upper()):
        # Functions would read them all the same, in place of what is in capitals.
        raise ValueError(f"names are written in capitals, not {', '.join(small)}")
    if taken := sorted(SET_HERE & set(given)):
        raise ValueError(f"the deployment itself sets {', '.join(taken)}")
    of_banks = {f"HINDSIGHT_API_{name.upper()}" for name in FIELDS}
    unknown = sorted(name for name in given if name.lower() not in Settings.model_fields and name not in of_banks)
    if unknown:
        raise ValueError(f"no function reads {', '.join(unknown)}")
    try:
        server_defaults(function_settings(given))
    except WrongSetting as wrong:
        raise ValueError(str(wrong)) from None


def function_settings(given: Mapping[str, str]) -> Settings:
    """The settings as a function will read them, whatever is set here. Raises: ValueError, naming the variable."""
    source = EnvSettingsSource(Settings)
    source.env_vars = {name.lower(): value for name, value in given.items() if value}
    try:
        return _Given(**{**source(), "bank_defaults": bank_defaults_in(given)})
    except SettingsError as wrong:
        raise ValueError(not_json(wrong)) from None
    except ValidationError as wrong:
        # What a rule over several settings says names them itself.
        sentences = [": ".join([*(str(at).upper() for at in each["loc"][:1]), each["msg"]]) for each in wrong.errors()]
        raise ValueError("; ".join(sentences)) from None


class _Given(Settings):
    """Settings of what they are made with, and of no environment."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)
