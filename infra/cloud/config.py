"""What an operator may choose about a deployment: typed, with a default per profile, checked before anything is made.

Values come from the CDK context (`-c profile=prod`, or cdk.json) and may be strings. Read by infra/app.py.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator

from hindsight_aws.banks.config import server_defaults
from hindsight_aws.banks.fields import FIELDS
from hindsight_aws.settings import Settings, WrongSetting, bank_defaults_in
from infra.cloud.errors import ConfigError
from infra.cloud.inference import Geography, geography_of, hides_its_models
from infra.cloud.option_groups import (
    DatabaseOptions,
    EntranceOptions,
    NetworkOptions,
    Several,
    WatchOptions,
    json_in_text,
)
from infra.topology import ModelUse


class Profile(StrEnum):
    """The two sets of defaults: cheap when idle, or ready and guarded."""

    DEV = "dev"
    PROD = "prod"


class Assets(StrEnum):
    """Whether layers and task roots are built, or stood in for by an empty file where only the template matters."""

    BUILT = "built"
    STUB = "stub"


class CloudConfig(NetworkOptions, DatabaseOptions, EntranceOptions, WatchOptions):
    """One deployment; the defaults are those of `dev`."""

    profile: Profile = Field(Profile.DEV, description="Which set of defaults: cheap when idle, or ready and guarded.")
    stack_prefix: str = Field("Hindsight", pattern=r"^[A-Za-z][A-Za-z0-9-]{0,40}$", description="Name of the stacks.")
    region: str | None = Field(
        None, pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", description="Checked against the models; the CDK's own if not given."
    )
    assets: Assets = Field(Assets.BUILT, description="Build the archives, or stand empty ones in for them.")

    workflow_type: Literal["STANDARD", "EXPRESS"] = Field(
        "STANDARD",
        description="EXPRESS costs a tenth and keeps no history but its log; its steps may run twice, which they bear.",
    )
    reserve_concurrency: bool = Field(False, description="A new account's quota is too small to reserve from.")
    snap_start: bool = Field(
        False, description="API functions start from a snapshot, kept for about 4 USD a month for each GB of memory."
    )
    schedule_stretch: int = Field(
        1,
        ge=1,
        le=288,
        description="Schedules run this many times more rarely, as for a database of yours that pauses.",
    )
    settings: Annotated[Mapping[str, str], BeforeValidator(json_in_text)] = Field(
        {}, description="HINDSIGHT_API_ variables of every function."
    )
    model_regions: Several = Field((), description="Regions an inference profile may reach, if not its usual.")
    allowed_models: Several = Field(
        (), description="Models or profiles that settings may name and functions call (patterns with *); all if empty."
    )

    @field_validator("settings")
    @classmethod
    def _settings_are_known(cls, given: Mapping[str, str]) -> Mapping[str, str]:
        foreign = sorted(name for name in given if not name.startswith("HINDSIGHT_API_"))
        if foreign:
            raise ValueError(f"only HINDSIGHT_API_ names may be set, not {', '.join(foreign)}")
        of_banks = {f"HINDSIGHT_API_{name.upper()}" for name in FIELDS}
        unknown = sorted(name for name in given if name.lower() not in Settings.model_fields and name not in of_banks)
        if unknown:
            raise ValueError(f"no function reads {', '.join(unknown)}")
        try:
            server_defaults(_function_settings(given))
        except WrongSetting as wrong:
            raise ValueError(str(wrong)) from None
        return given

    @model_validator(mode="after")
    def _database_fits_the_profile(self) -> Self:
        if self.database_host is not None and self.vpc_id is None:
            raise ValueError("databaseHost needs the vpcId from which it is reached")
        if self.profile is Profile.PROD and self.database_min_capacity < 0.5:
            raise ValueError("a prod database does not pause: databaseMinCapacity must be 0.5 or more")
        return self

    @model_validator(mode="after")
    def _models_are_allowed(self) -> Self:
        for model in sorted({name for use in ModelUse for name in self.models(use)}):
            if self.allowed_models and not any(fnmatchcase(model, pattern) for pattern in self.allowed_models):
                raise ValueError(f"{model} is not among allowedModels")
        return self

    @model_validator(mode="after")
    def _models_are_reachable(self) -> Self:
        for model in sorted({name for use in ModelUse for name in self.models(use)}):
            geography = geography_of(model)
            if geography is Geography.UNKNOWN and not self.model_regions:
                raise ValueError(f"list the regions {model} may run in as modelRegions")
            if hides_its_models(model):
                raise ValueError(f"{model} does not say which models are behind it: name the model or its own profile")
            if self.region and self.region not in self.model_regions and not geography.serves(self.region):
                raise ValueError(f"{model} is not offered in {self.region}: set HINDSIGHT_API_LLM_MODEL in settings")
        return self

    @property
    def database_pauses(self) -> bool:
        """Whether the database is ours and sleeps when nobody asks it: then marks outside it say when to."""
        return self.database_host is None and self.database_min_capacity == 0

    def models(self, use: ModelUse) -> frozenset[str]:
        """The model or inference-profile ids that functions with this use call; none where it is switched off."""
        settings = _function_settings(self.settings)
        match use:
            case ModelUse.TEXT if settings.hindsight_api_llm_provider == "none":
                return frozenset()
            case ModelUse.TEXT:
                tasks = (
                    settings.hindsight_api_retain_llm_model,
                    settings.hindsight_api_consolidation_llm_model,
                    settings.hindsight_api_reflect_llm_model,
                )
                return frozenset({settings.hindsight_api_llm_model, *(model for model in tasks if model)})
            case ModelUse.EMBEDDINGS:
                return frozenset(settings.served_embeddings_models)
            case ModelUse.RERANK:
                reranker = settings.hindsight_api_reranker_model
                return frozenset({reranker} if reranker else ())


DEFAULTS: Final[Mapping[Profile, Mapping[str, object]]] = {
    Profile.DEV: {},
    Profile.PROD: {
        "databaseMinCapacity": 0.5,
        "databaseMaxCapacity": 16,
        "databaseReaders": 1,
        "databaseStorageGib": 500,
        "backupDays": 14,
        "deletionProtection": True,
        "endpointZones": 2,
        "flowLogDays": 90,
        "logDays": 90,
        "reserveConcurrency": True,
        "throttleRate": 500,
        "throttleBurst": 1000,
        "snapStart": True,
    },
}


def read_config(context: Mapping[str, object]) -> CloudConfig:
    """The configuration that a CDK context asks for; the CDK's own keys, which are no plain words, are passed over.

    Raises: ConfigError.
    """
    given = {name: value for name, value in context.items() if name.isidentifier()}
    profile = given.get("profile", Profile.DEV)
    if profile not in [str(known) for known in Profile]:
        raise ConfigError(f"profile must be dev or prod, not {profile!r}")
    try:
        return CloudConfig.model_validate({**DEFAULTS[Profile(str(profile))], **given})
    except ValidationError as wrong:
        raise ConfigError("; ".join(_sentences(wrong))) from None


def _sentences(wrong: ValidationError) -> Iterator[str]:
    for error in wrong.errors():
        name = ".".join(str(part) for part in error["loc"])
        message = error["msg"].removeprefix("Value error, ")
        if error["type"] == "extra_forbidden":
            yield f"{name} is no option"
        elif not name:
            yield message
        elif isinstance(error["input"], str | int | float):
            yield f"{name}: {message}, not {error['input']!r}"
        else:
            yield f"{name}: {message}"


def _function_settings(given: Mapping[str, str]) -> Settings:
    """The settings as a function will read them. Raises: ValueError, naming the variable."""
    try:
        own = {name.lower(): value for name, value in given.items() if name.lower() in Settings.model_fields}
        return Settings.model_validate({**own, "bank_defaults": bank_defaults_in(given)})
    except ValidationError as wrong:
        # What a rule over several settings says names them itself.
        sentences = [": ".join([*(str(at).upper() for at in each["loc"][:1]), each["msg"]]) for each in wrong.errors()]
        raise ValueError("; ".join(sentences)) from None
