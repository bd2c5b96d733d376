"""Which ARNs a model id stands for: a model of this region, or an inference profile and the models behind it.

Pure; called by config.py to check a choice and by permissions.py to grant it. Regions are those of Bedrock's
cross-region inference; a profile unknown here needs its regions spelled out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Geography(Enum):
    """Where an inference profile may run a request: its id's prefix and the regions behind it."""

    REGION = ("", ())
    US = ("us", ("us-east-1", "us-east-2", "us-west-1", "us-west-2"))
    EU = ("eu", ("eu-central-1", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-3"))
    APAC = (
        "apac",
        (
            "ap-northeast-1",
            "ap-northeast-2",
            "ap-northeast-3",
            "ap-south-1",
            "ap-south-2",
            "ap-southeast-1",
            "ap-southeast-2",
        ),
    )
    JP = ("jp", ("ap-northeast-1", "ap-northeast-3"))
    AU = ("au", ("ap-southeast-2", "ap-southeast-4"))
    GLOBAL = ("global", ())
    UNKNOWN = ("?", ())

    def __init__(self, prefix: str, regions: tuple[str, ...]) -> None:
        self.prefix = prefix
        self.regions = regions

    def serves(self, region: str) -> bool:
        """Whether a caller in `region` can use it; only a known list of regions can say no."""
        return not self.regions or region in self.regions


_PROVIDERS: Final = ("amazon", "anthropic", "cohere", "deepseek", "google", "meta", "mistral", "openai", "qwen")
_HIDING: Final = ("application-inference-profile", "default-prompt-router", "prompt-router")


def geography_of(model: str) -> Geography:
    """Where requests to that model id may run. An ARN that is no profile's counts as of the region it names."""
    model = _profile_in(model) or model
    first = model.split(".", 1)[0]
    if model.startswith("arn:") or first in _PROVIDERS:
        return Geography.REGION
    return next((geography for geography in Geography if geography.prefix == first), Geography.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Home:
    """Where the deployment lives; the values may be CloudFormation references."""

    partition: str
    region: str
    account: str


def model_arns(model: str, home: Home, regions: Sequence[str] = ()) -> list[str]:
    """Every ARN that a role must be allowed to invoke, so as to invoke `model` and nothing else.

    `regions` replaces the usual list of an inference profile. A global profile needs the model without a region too.
    """
    if profile_id := _profile_in(model):
        return [model, *model_arns(profile_id, home, regions)[1:]]
    if model.startswith("arn:"):
        return [model]
    geography = geography_of(model)
    if geography is Geography.REGION:
        return [_foundation(model, home, home.region)]
    name = model.split(".", 1)[1]
    profile = f"arn:{home.partition}:bedrock:{home.region}:{home.account}:inference-profile/{model}"
    reached = regions or geography.regions
    if geography is Geography.GLOBAL:
        reached = (home.region, "", *regions)
    return [profile, *(_foundation(name, home, region) for region in reached)]


def hides_its_models(model: str) -> bool:
    """Whether an ARN is of what stands before models that it does not name: a role cannot be allowed these."""
    return _resource(model)[0] in _HIDING


def _profile_in(model: str) -> str:
    """The id in the ARN of one of Bedrock's own inference profiles; nothing for any other model."""
    kind, name = _resource(model)
    return name if kind == "inference-profile" else ""


def _resource(model: str) -> tuple[str, str]:
    """What an ARN says it is the ARN of, and that one's name, which may hold colons; nothing for no ARN."""
    parts = model.split(":", 5)
    kind, _, name = parts[5].partition("/") if parts[0] == "arn" and len(parts) == 6 else ("", "", "")
    return kind, name


def _foundation(model: str, home: Home, region: str) -> str:
    return f"arn:{home.partition}:bedrock:{region}::foundation-model/{model}"
