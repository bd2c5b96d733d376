"""The deployment's configuration: what a context may say, and the sentence for what it may not."""

import pytest

from infra.app import with_region
from infra.cloud.config import CloudConfig, Profile, read_config
from infra.cloud.describe import PAGE, with_table
from infra.cloud.errors import ConfigError
from infra.topology import ModelUse

_PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/"
_VAULT = "arn:aws:backup:us-east-1:123456789012:backup-vault:copies"
_TITAN = "amazon.titan-embed-text-v2:0"


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
        ({"settings": {"PATH": "x"}}, "only HINDSIGHT_ names may be set, not PATH"),
        ({"settings": {"HINDSIGHT_DATABASE_URL": "x"}}, "the deployment itself sets HINDSIGHT_DATABASE_URL"),
        ({"settings": {"HINDSIGHT_ENVIRONMENT": "local"}}, "the deployment itself sets HINDSIGHT_ENVIRONMENT"),
        ({"settings": {"HINDSIGHT_QUEUE_INGEST_URL": "x"}}, "the deployment itself sets HINDSIGHT_QUEUE_INGEST_URL"),
        (
            {"settings": {"HINDSIGHT_API_JWT_ISSUER": "https://x"}},
            "the deployment itself sets HINDSIGHT_API_JWT_ISSUER",
        ),
        ({"settings": {"HINDSIGHT_bucket": "x"}}, "names are written in capitals, not HINDSIGHT_bucket"),
        ({"settings": {"HINDSIGHT_VOLATILE_TAGS": "session:"}}, "HINDSIGHT_VOLATILE_TAGS: "),
        ({"settings": {"HINDSIGHT_TRACING": "on"}}, "HINDSIGHT_TRACING: "),
        (
            {"inferenceProfiles": {_TITAN: f"{_PROFILE}a,x={_PROFILE}b"}},
            f"inferenceProfiles: {_TITAN}={_PROFILE}a,x={_PROFILE}b is no model and the ARN of a profile",
        ),
        ({"alarm-email": "a@example.com"}, "alarm-email is no option: write alarmEmail"),
        ({"LogDays": "14"}, "LogDays is no option: write logDays"),
        ({"modelRegions": "mars"}, "modelRegions.0: "),
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


def test_what_is_no_setting_of_hindsights_own_may_be_set_too() -> None:
    """Tracing, the least level of the log, a rerank region: docs name them, so a deployment must be able to."""
    given = {"HINDSIGHT_TRACING": "xray", "HINDSIGHT_LOG_LEVEL": "DEBUG", "HINDSIGHT_RECALL_MOST_BANKS": "3"}

    assert read_config({"settings": given}).settings == given


def test_a_setting_is_read_as_functions_read_it() -> None:
    """A list is JSON, as in the environment; and what is empty there is as good as not set."""
    given = {"HINDSIGHT_MCP_ALLOWED_ORIGINS": '["https://a.example"]', "HINDSIGHT_API_LLM_MODEL": ""}

    config = read_config({"settings": given})

    assert config.settings == given
    assert config.models(ModelUse.TEXT) == read_config({}).models(ModelUse.TEXT)


def test_what_is_set_where_somebody_deploys_from_is_no_setting_of_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_LLM_MODEL", "us.some.model-of-mine")

    assert "us.some.model-of-mine" not in read_config({}).models(ModelUse.TEXT)


def test_a_rerank_model_of_another_region_is_out_of_reach_of_endpoints() -> None:
    settings = {"HINDSIGHT_API_RERANKER_MODEL": "cohere.rerank-v3-5:0", "HINDSIGHT_RERANK_REGION": "us-west-2"}
    with pytest.raises(ConfigError, match="endpoints lead to us-east-1 alone: a rerank model of us-west-2 is reached"):
        read_config({"region": "us-east-1", "settings": settings})

    assert read_config({"region": "us-west-2", "settings": settings}).rerank_region == "us-west-2"
    with_way_out = read_config({"region": "us-east-1", "network": "nat-instance", "settings": settings})
    assert with_way_out.rerank_region == "us-west-2"


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


_VPC = {"vpcId": "vpc-0123456789abcdef0", "subnetIds": "subnet-1, subnet-2", "routeTableIds": '["rtb-1", "rtb-2"]'}
_DATABASE = {
    "databaseHost": "db.example.com",
    "databaseResourceId": "cluster-ABC",
    "databaseSecurityGroup": "sg-0123456789abcdef0",
    "databaseSecretArn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:x",
}
_CERTIFICATE = "arn:aws:acm:eu-west-1:123456789012:certificate/0a"
_RULES = "arn:aws:wafv2:us-east-1:123456789012:global/webacl/x/1"


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ({"network": "vpn"}, "network: "),
        ({"network": "existing"}, "network=existing needs a vpcId"),
        ({"subnetIds": "subnet-1"}, "subnetIds and routeTableIds belong to a vpcId"),
        ({"vpcId": "vpc-1"}, "vpcId: "),
        ({**_VPC, "subnetIds": "subnet-1"}, "vpcId needs subnetIds: two or more"),
        ({**_VPC, "subnetIds": "subnet-1,subnet-1"}, "subnetIds names one twice"),
        ({**_VPC, "subnetIds": "subnet-1,second"}, "subnetIds.1: "),
        ({**_VPC, "routeTableIds": "rtb-1,main"}, "routeTableIds.1: "),
        ({**_VPC, "routeTableIds": "rtb-1"}, "needs routeTableIds, one for each of subnetIds"),
        ({**_VPC, "network": "nat-instance"}, "a NAT instance is made in a new network only"),
        ({"databaseHost": "db.example.com"}, "databaseHost needs databaseResourceId, databaseSecurityGroup"),
        ({"databaseSecretArn": _DATABASE["databaseSecretArn"]}, "databaseSecretArn belong to a databaseHost"),
        ({**_DATABASE, "databaseSnapshot": "x"}, "databaseSnapshot is for a database that is made here"),
        (_DATABASE, "databaseHost needs the vpcId from which it is reached"),
        ({"domainName": "memory.example.com"}, "domainName and certificateArn need each other"),
        ({"hostedZoneId": "Z0123456789"}, "hostedZoneId belongs to a domainName"),
        ({"webAclArn": _RULES.replace("global", "regional")}, "an HTTP API takes no web ACL"),
        (
            {"webAclArn": _RULES, "domainName": "memory.example.com", "certificateArn": _CERTIFICATE},
            "a certificateArn of us-east-1",
        ),
        (
            {
                "webAclArn": _RULES,
                "domainName": "memory.example.com",
                "certificateArn": _CERTIFICATE.replace("eu-west-1", "us-east-1"),
            },
            "set functionUrls=false",
        ),
        ({"jwtIssuer": "https://id.example.com"}, "jwtIssuer and jwtAudience need each other"),
        ({"jwtIssuer": "http://id.example.com", "jwtAudience": "a"}, "jwtIssuer: "),
        ({"jwtDomainName": "tokens.example.com"}, "jwtDomainName needs jwtIssuer"),
        (
            {
                "domainName": "memory.example.com",
                "jwtDomainName": "memory.example.com",
                "certificateArn": _CERTIFICATE,
                "jwtIssuer": "https://id.example.com",
                "jwtAudience": "a",
            },
            "two APIs cannot have one name",
        ),
        ({"scheduleStretch": "289"}, "scheduleStretch: "),
        ({"throttleRate": "inf"}, "throttleRate: "),
        ({"budgetUsd": "inf", "alarmEmail": "a@example.com"}, "budgetUsd: "),
        (
            {"settings": {"HINDSIGHT_API_LLM_MODEL": "arn:aws:bedrock:us-east-1:1:application-inference-profile/a"}},
            "does not say which models are behind it",
        ),
        (
            {"inferenceProfiles": {"amazon.nova-lite-v1:0": f"{_PROFILE}a1"}},
            "settings name no text or embedding model amazon.nova-lite-v1:0",
        ),
        ({"inferenceProfiles": {_TITAN: "a1b2c3d4"}}, "each ARN of an application inference profile"),
        (
            {"region": "us-west-2", "inferenceProfiles": {_TITAN: f"{_PROFILE}a1"}},
            "is not of us-west-2",
        ),
        (
            {"region": "us-east-1", "backupCopyVaultArn": _VAULT},
            "backupCopyVaultArn must be of another region than us-east-1",
        ),
        ({"backupCopyVaultArn": "arn:aws:s3:::copies"}, "backupCopyVaultArn: "),
        ({"alarmEmail": "nobody"}, "alarmEmail: "),
        ({"budgetUsd": "100"}, "budgetUsd needs a budgetEmail or an alarmEmail"),
        ({"budgetEmail": "a@example.com"}, "budgetEmail belongs to a budgetUsd"),
        ({"allowedModels": "amazon.nova-*"}, "is not among allowedModels"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_options_that_do_not_go_together_are_refused_in_a_sentence(context: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_config(context)

    assert sentence in str(refused.value)


def test_a_list_is_json_or_words_between_commas() -> None:
    config = read_config(_VPC)

    assert config.subnet_ids == ("subnet-1", "subnet-2")
    assert config.route_table_ids == ("rtb-1", "rtb-2")


def test_allowed_models_may_be_patterns_and_hold_every_model_that_is_named() -> None:
    models = {"HINDSIGHT_API_LLM_MODEL": "eu.amazon.nova-pro-v1:0"}
    allowed = "eu.amazon.nova-*,amazon.titan-embed-text-v2:0"

    config = read_config({"settings": models, "allowedModels": allowed})

    assert config.models(ModelUse.TEXT) == {"eu.amazon.nova-pro-v1:0"}


def test_models_are_checked_against_the_region_that_the_command_line_deploys_to() -> None:
    found = {"CDK_DEFAULT_REGION": "eu-central-1"}

    with pytest.raises(ConfigError, match="is not offered in eu-central-1"):
        read_config(with_region({}, found))
    assert read_config(with_region({"region": "us-east-1"}, found)).region == "us-east-1"
    assert read_config(with_region({"modelRegions": "eu-central-1"}, found)).region == "eu-central-1"
    assert read_config(with_region({}, {})).region is None


def test_the_page_lists_the_options_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert with_table(page) == page, "run python -m infra.cloud.describe"
    assert all(field.description for field in CloudConfig.model_fields.values())
