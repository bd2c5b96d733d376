"""The deployment's configuration: what a context may say, and the sentence for what it may not."""

import pytest

from infra.cloud.config import CloudConfig, Profile, read_config
from infra.cloud.errors import ConfigError
from infra.topology import ModelUse


def test_profiles_differ_in_what_idles_and_what_is_guarded() -> None:
    dev = read_config({})
    prod = read_config({"profile": "prod"})

    assert dev.profile is Profile.DEV
    assert (dev.database_min_capacity, dev.deletion_protection, dev.endpoint_zones) == (0, False, 1)
    assert (prod.database_min_capacity, prod.deletion_protection, prod.endpoint_zones) == (0.5, True, 2)


def test_values_from_the_command_line_are_text_and_become_what_they_mean() -> None:
    config = read_config(
        {
            "databaseMaxCapacity": "8",
            "deletionProtection": "true",
            "logDays": "14",
            "settings": '{"HINDSIGHT_API_LLM_PROVIDER": "none"}',
            "modelRegions": '["us-east-1"]',
        }
    )

    assert config.database_max_capacity == 8
    assert config.deletion_protection is True
    assert config.log_days == 14
    assert config.models(ModelUse.TEXT) == frozenset()
    assert config.model_regions == ("us-east-1",)


def test_the_cdks_own_context_is_passed_over() -> None:
    context = {"@aws-cdk/core:flag": True, "aws:cdk:version": "2", "availability-zones:account=1": ["a"]}

    assert read_config(context) == CloudConfig()


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ({"profile": "staging"}, "profile must be dev or prod, not 'staging'"),
        ({"databaseMinCapacity": "much"}, "databaseMinCapacity: "),
        ({"databaseMinCapacity": "0.3"}, "databaseMinCapacity: "),
        ({"databseReaders": "1"}, "databseReaders is no option"),
        ({"logDays": "31"}, "logDays: "),
        ({"settings": "{"}, "settings: "),
        ({"settings": {"PATH": "x"}}, "only HINDSIGHT_API_ names may be set, not PATH"),
        ({"settings": {"HINDSIGHT_API_NOPE": "x"}}, "no function reads HINDSIGHT_API_NOPE"),
        ({"settings": {"HINDSIGHT_API_LLM_TIMEOUT": "-1"}}, "HINDSIGHT_API_LLM_TIMEOUT: "),
        (
            {"settings": {"HINDSIGHT_API_CONSOLIDATION_STRATEGIES": '[{"scope": []}]'}},
            "HINDSIGHT_API_CONSOLIDATION_STRATEGIES[0] has unknown key 'scope'",
        ),
        ({"profile": "prod", "databaseMinCapacity": "0"}, "a prod database does not pause"),
        ({"databaseMinCapacity": "8"}, "databaseMaxCapacity must be at least databaseMinCapacity"),
        ({"region": "eu-central-1"}, "is not offered in eu-central-1"),
        ({"settings": {"HINDSIGHT_API_LLM_MODEL": "moon.model-1"}}, "list the regions moon.model-1 may run in"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_wrong_value_is_named_in_a_sentence(context: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_config(context)

    assert sentence in str(refused.value)


def test_what_banks_inherit_from_the_server_may_be_set_for_every_function() -> None:
    strategies = '[{"scopes": [{"tags": ["company:*"]}], "observations_mission": "Name nobody."}]'
    given = {"HINDSIGHT_API_CONSOLIDATION_STRATEGIES": strategies, "HINDSIGHT_API_OBSERVATIONS_MISSION": "Be brief."}

    assert read_config({"settings": given}).settings == given


def test_webhooks_of_a_deployment_cannot_lead_into_a_private_network() -> None:
    with pytest.raises(ConfigError, match="HINDSIGHT_API_WEBHOOK_ALLOWED_HOSTS lets webhooks reach a private network"):
        read_config({"settings": {"HINDSIGHT_API_WEBHOOK_ALLOWED_HOSTS": '["127.0.0.1"]'}})

    told = {"HINDSIGHT_API_WEBHOOK_EVENT_TYPES": '["retain.completed"]'}
    assert read_config({"settings": told}).settings == told


def test_every_wrong_value_has_its_sentence() -> None:
    with pytest.raises(ConfigError) as refused:
        read_config({"backupDays": "0", "throttleRate": "none"})

    assert "backupDays: " in str(refused.value)
    assert "throttleRate: " in str(refused.value)


def test_models_are_those_the_settings_name_and_no_others() -> None:
    config = read_config(
        {
            "settings": {
                "HINDSIGHT_API_LLM_MODEL": "amazon.nova-pro-v1:0",
                "HINDSIGHT_API_REFLECT_LLM_MODEL": "amazon.nova-lite-v1:0",
                "HINDSIGHT_API_RERANKER_MODEL": "cohere.rerank-v3-5:0",
            }
        }
    )

    assert config.models(ModelUse.TEXT) == {"amazon.nova-pro-v1:0", "amazon.nova-lite-v1:0"}
    assert config.models(ModelUse.EMBEDDINGS) == {"amazon.titan-embed-text-v2:0"}
    assert config.models(ModelUse.RERANK) == {"cohere.rerank-v3-5:0"}
    assert read_config({}).models(ModelUse.RERANK) == frozenset()
