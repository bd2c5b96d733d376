"""Model ids as ARNs: exactly what must be allowed for one model, wherever its profile may send a request."""

import pytest

from infra.cloud.config import read_config
from infra.cloud.inference import Geography, Home, geography_of, model_arns
from infra.topology import ModelUse

_HOME = Home(partition="aws", region="us-east-1", account="123456789012")
_HERE = "arn:aws:bedrock:us-east-1"


def test_a_model_of_the_region_is_itself_alone() -> None:
    assert model_arns("amazon.titan-embed-text-v2:0", _HOME) == [
        f"{_HERE}::foundation-model/amazon.titan-embed-text-v2:0"
    ]


def test_a_profile_is_itself_and_its_model_in_every_region_it_reaches() -> None:
    arns = model_arns("us.anthropic.claude-x-v1:0", _HOME)

    assert arns[0] == f"{_HERE}:123456789012:inference-profile/us.anthropic.claude-x-v1:0"
    assert set(arns[1:]) == {
        f"arn:aws:bedrock:{region}::foundation-model/anthropic.claude-x-v1:0" for region in Geography.US.regions
    }


def test_a_global_profile_needs_its_model_here_and_without_a_region() -> None:
    assert model_arns("global.anthropic.claude-x-v1:0", _HOME)[1:] == [
        f"{_HERE}::foundation-model/anthropic.claude-x-v1:0",
        "arn:aws:bedrock:::foundation-model/anthropic.claude-x-v1:0",
    ]


def test_an_operator_may_list_a_profiles_regions() -> None:
    arns = model_arns("eu.amazon.nova-pro-v1:0", _HOME, ["eu-west-1"])

    assert arns[1:] == ["arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-pro-v1:0"]


def test_an_arn_is_taken_as_it_is() -> None:
    arn = f"{_HERE}:123456789012:application-inference-profile/abc"

    assert model_arns(arn, _HOME) == [arn]


def test_a_profile_that_is_named_by_its_arn_needs_the_models_behind_it_too() -> None:
    arn = f"{_HERE}:123456789012:inference-profile/us.anthropic.claude-x-v1:0"

    assert model_arns(arn, _HOME) == model_arns("us.anthropic.claude-x-v1:0", _HOME)
    assert geography_of(arn) is Geography.US


def test_a_model_that_is_named_by_its_arn_is_itself_alone_whatever_regions_are_listed() -> None:
    arn = f"{_HERE}::foundation-model/amazon.nova-pro-v1:0"

    assert model_arns(arn, _HOME, ["us-west-2"]) == [arn]


@pytest.mark.parametrize("region", Geography.EU.regions)
def test_a_geography_serves_its_own_regions_only(region: str) -> None:
    assert geography_of("eu.amazon.nova-pro-v1:0").serves(region)
    assert not Geography.US.serves(region)
    assert Geography.REGION.serves(region)


def test_a_rerank_model_may_be_called_in_the_region_that_settings_name_for_it_and_nowhere_else() -> None:
    from infra.cloud.permissions import callable_arns

    settings = {"HINDSIGHT_API_RERANKER_MODEL": "cohere.rerank-v3-5:0", "HINDSIGHT_RERANK_REGION": "us-west-2"}
    arns = callable_arns([ModelUse.RERANK], read_config({"network": "nat-instance", "settings": settings}))

    assert [arn.split(":", 3)[3] for arn in arns] == ["us-west-2::foundation-model/cohere.rerank-v3-5:0"]
