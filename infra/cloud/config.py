"""What an operator may choose about a deployment: typed, with a default per profile, checked before anything is made.

Values come from the CDK context (`-c profile=prod`, or cdk.json) and may be strings. Read by infra/app.py.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator

from infra.cloud.errors import ConfigError
from infra.cloud.function_settings import check_settings, function_settings
from infra.cloud.inference import Geography, geography_of, hides_its_models
from infra.cloud.option_groups import (
    DatabaseOptions,
    EntranceOptions,
    NetworkOptions,
    Region,
    Several,
    WatchOptions,
    json_in_text,
    several_in_text,
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
    region: Region | None = Field(None, description="Checked against the models; the CDK's own if not given.")
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
        {}, description="HINDSIGHT_ variables of every function, by name."
    )
    model_regions: Annotated[tuple[Region, ...], BeforeValidator(several_in_text)] = Field(
        (), description="Regions an inference profile may reach, if not its usual."
    )
    allowed_models: Several = Field(
        (), description="Models or profiles that settings may name and functions call (patterns with *); all if empty."
    )

    inference_profiles: Annotated[Mapping[str, str], BeforeValidator(json_in_text)] = Field(
        {}, description="ARN of your application inference profile by the model in settings that it stands for."
    )

    @field_validator("settings")
    @classmethod
    def _settings_are_known(cls, given: Mapping[str, str]) -> Mapping[str, str]:
        check_settings(given)
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
                raise ValueError(
                    f"{model} does not say which models are behind it: name the model or its own profile, "
                    "and an application inference profile for it in inferenceProfiles"
                )
            if self.region and self.region not in self.model_regions and not geography.serves(self.region):
                raise ValueError(f"{model} is not offered in {self.region}: set HINDSIGHT_API_LLM_MODEL in settings")
        return self

    @model_validator(mode="after")
    def _copies_leave_the_region(self) -> Self:
        if self.backup_copy_vault_arn is not None and self.backup_copy_vault_arn.split(":")[3] == self.region:
            raise ValueError(f"backupCopyVaultArn must be of another region than {self.region}")
        return self

    @model_validator(mode="after")
    def _profiles_stand_for_models(self) -> Self:
        named = self.models(ModelUse.TEXT) | self.models(ModelUse.EMBEDDINGS)
        for model, arn in self.inference_profiles.items():
            if model not in named:
                raise ValueError(f"inferenceProfiles: settings name no text or embedding model {model}")
            if self.region and arn.split(":")[3:4] != [self.region]:
                raise ValueError(f"inferenceProfiles: {arn} is not of {self.region}")
        read = function_settings(self.profiles_setting).inference_profiles
        for model, arn in self.inference_profiles.items():
            if read.get(model) != arn:
                raise ValueError(f"inferenceProfiles: {model}={arn} is no model and the ARN of a profile")
        return self

    @model_validator(mode="after")
    def _reranker_is_reachable(self) -> Self:
        theirs = self.rerank_region
        if self.network == "endpoints" and self.region and theirs not in (None, self.region):
            raise ValueError(
                f"endpoints lead to {self.region} alone: a rerank model of {theirs} is reached with "
                "network=nat-instance, or from a VPC of yours that has a way out"
            )
        return self

    @property
    def rerank_region(self) -> str | None:
        """The region of the rerank model where there is one and settings name another region than the others'."""
        settings = function_settings(self.settings)
        return settings.hindsight_rerank_region if settings.hindsight_api_reranker_model else None

    @property
    def profiles_setting(self) -> dict[str, str]:
        """The variable that tells functions through which profiles they call models; none where there are none."""
        pairs = ",".join(f"{model}={arn}" for model, arn in sorted(self.inference_profiles.items()))
        return {"HINDSIGHT_INFERENCE_PROFILES": pairs} if pairs else {}

    @property
    def database_pauses(self) -> bool:
        """Whether the database is ours and sleeps when nobody asks it: then marks outside it say when to."""
        return self.database_host is None and self.database_min_capacity == 0

    def models(self, use: ModelUse) -> frozenset[str]:
        """The model or inference-profile ids that functions with this use call; none where it is switched off."""
        settings = function_settings(self.settings)
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
    given = {name: value for name, value in context.items() if name.isidentifier() or _meant(name)}
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
            meant = _meant(name)
            yield f"{name} is no option" + (f": write {meant}" if meant else "")
        elif not name:
            yield message
        elif isinstance(error["input"], str | int | float):
            yield f"{name}: {message}, not {error['input']!r}"
        else:
            yield f"{name}: {message}"


def _meant(name: str) -> str | None:
    """The option whose letters these are, whatever is between them."""
    plain = _letters(name)
    return next(
        (each for field in CloudConfig.model_fields.values() if _letters(each := str(field.alias)) == plain), None
    )


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
