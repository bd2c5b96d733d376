"""What an operator may choose about a deployment: typed, with a default per profile, checked before anything is made.

Values come from the CDK context (`-c profile=prod`, or cdk.json) and may be strings. Read by infra/app.py.
"""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel

from hindsight_aws.banks.config import server_defaults
from hindsight_aws.banks.fields import FIELDS
from hindsight_aws.settings import Settings, WrongSetting, bank_defaults_in
from infra.cloud.errors import ConfigError
from infra.cloud.inference import Geography, geography_of
from infra.topology import ModelUse

_DAY: Final = 24 * 3600
RetentionDays = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3653
]


class Profile(StrEnum):
    """The two sets of defaults: cheap when idle, or ready and guarded."""

    DEV = "dev"
    PROD = "prod"


class Assets(StrEnum):
    """Whether layers and task roots are built, or stood in for by an empty file where only the template matters."""

    BUILT = "built"
    STUB = "stub"


def _number_in_text(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _json_in_text(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


class CloudConfig(BaseModel):
    """One deployment. Names in the context are these in camelCase; the defaults are those of `dev`."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_default=True
    )

    profile: Profile = Profile.DEV
    stack_prefix: str = Field("Hindsight", pattern=r"^[A-Za-z][A-Za-z0-9-]{0,40}$", description="Name of the stacks.")
    region: str | None = Field(None, pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", description="Checked against the models.")
    assets: Assets = Assets.BUILT

    database_min_capacity: float = Field(0, ge=0, le=256, multiple_of=0.5, description="ACU; 0 pauses when idle.")
    database_max_capacity: float = Field(4, ge=1, le=256, multiple_of=0.5, description="ACU.")
    database_pause_seconds: int = Field(600, ge=300, le=_DAY, description="Idle time before a pause.")
    database_readers: int = Field(0, ge=0, le=15, description="Replicas that stand by for a failover.")
    backup_days: int = Field(7, ge=1, le=35)
    deletion_protection: bool = False
    endpoint_zones: int = Field(1, ge=1, le=2, description="Availability zones with interface endpoints; each costs.")
    flow_log_days: Annotated[RetentionDays, BeforeValidator(_number_in_text)] = 7
    log_days: Annotated[RetentionDays, BeforeValidator(_number_in_text)] = 30

    workflow_type: Literal["STANDARD", "EXPRESS"] = Field(
        "STANDARD",
        description="EXPRESS costs a tenth and keeps no history but its log; its steps may run twice, which they bear.",
    )
    reserve_concurrency: bool = Field(False, description="A new account's quota is too small to reserve from.")
    throttle_rate: float = Field(50, gt=0, description="Requests a second over all clients.")
    throttle_burst: int = Field(100, gt=0)
    schedule_stretch: int = Field(
        12, ge=1, description="Schedules run this many times more rarely than the table says."
    )
    settings: Annotated[Mapping[str, str], BeforeValidator(_json_in_text)] = Field(
        {}, description="HINDSIGHT_API_ variables of every function."
    )
    model_regions: Annotated[tuple[str, ...], BeforeValidator(_json_in_text)] = Field(
        (), description="Regions an inference profile may reach, if not its usual."
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
    def _capacity_fits(self) -> Self:
        if self.database_max_capacity < self.database_min_capacity:
            raise ValueError("databaseMaxCapacity must be at least databaseMinCapacity")
        if self.profile is Profile.PROD and self.database_min_capacity < 0.5:
            raise ValueError("a prod database does not pause: databaseMinCapacity must be 0.5 or more")
        return self

    @model_validator(mode="after")
    def _models_are_reachable(self) -> Self:
        for model in sorted({name for use in ModelUse for name in self.models(use)}):
            geography = geography_of(model)
            if geography is Geography.UNKNOWN and not self.model_regions:
                raise ValueError(f"list the regions {model} may run in as modelRegions")
            if self.region is not None and not geography.serves(self.region):
                raise ValueError(f"{model} is not offered in {self.region}: set HINDSIGHT_API_LLM_MODEL in settings")
        return self

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
                return frozenset({settings.hindsight_api_embeddings_model})
            case ModelUse.RERANK:
                reranker = settings.hindsight_api_reranker_model
                return frozenset({reranker} if reranker else ())


_DEFAULTS: Final[Mapping[Profile, Mapping[str, object]]] = {
    Profile.DEV: {},
    Profile.PROD: {
        "databaseMinCapacity": 0.5,
        "databaseMaxCapacity": 16,
        "databaseReaders": 1,
        "backupDays": 14,
        "deletionProtection": True,
        "endpointZones": 2,
        "flowLogDays": 90,
        "logDays": 90,
        "reserveConcurrency": True,
        "throttleRate": 500,
        "throttleBurst": 1000,
        "scheduleStretch": 1,
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
        return CloudConfig.model_validate({**_DEFAULTS[Profile(str(profile))], **given})
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
