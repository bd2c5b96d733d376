"""What an operator may choose: each option's resources, and that no combination breaks a rule."""

import json
from pathlib import Path

import pytest

from infra.topology import TOPOLOGY, Route
from tests.conftest import Dose
from tests.infra.combinations import APPLICATION_PROFILE, pairwise
from tests.infra.conftest import combine
from tests.infra.templates import DATA, SERVICE, Template, text

pytestmark = [pytest.mark.synth, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def everything(options: Path) -> tuple[Template, Template]:
    """Both stacks with a NAT instance, names of one's own, tokens, alarms and a budget."""
    return Template.read(options / "everything", DATA), Template.read(options / "everything", SERVICE)


@pytest.fixture(scope="module")
def theirs(options: Path) -> tuple[Template, Template]:
    """Both stacks in a VPC and with a database of the operator's, behind CloudFront with a web ACL."""
    return Template.read(options / "theirs", DATA), Template.read(options / "theirs", SERVICE)


def test_a_nat_instance_is_hardened_and_forwards_for_functions_alone(everything: tuple[Template, Template]) -> None:
    data, _ = everything
    instances = data.of_type("AWS::EC2::Instance").values()
    ingress = [
        rule for rule in data.of_type("AWS::EC2::SecurityGroupIngress").values() if "Nat" in text(rule["GroupId"])
    ]
    recoveries = data.of_type("AWS::CloudWatch::Alarm").values()
    roles = [role for name, role in data.of_type("AWS::IAM::Role").items() if "Nat" in name]

    assert len(instances) == 2
    for instance in instances:
        assert instance["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}
        assert "KeyName" not in instance
        assert instance["SourceDestCheck"] is False
        assert [device["Ebs"]["Encrypted"] for device in instance["BlockDeviceMappings"]] == [True]
    assert [(rule["FromPort"], "SourceSecurityGroupId" in rule) for rule in ingress] == [(443, True)]
    assert [text(alarm["AlarmActions"][0]).rsplit(":", 2)[1:] for alarm in recoveries] == [["ec2", "recover"]] * 2
    assert all("ManagedPolicyArns" not in role and "Policies" not in role for role in roles)
    assert {each["VpcEndpointType"] for each in data.of_type("AWS::EC2::VPCEndpoint").values()} == {"Gateway"}


def test_with_a_nat_instance_the_database_still_has_no_way_out(everything: tuple[Template, Template]) -> None:
    data, service = everything
    [group] = data.of_type("AWS::RDS::DBSubnetGroup").values()
    database = {text(subnet).strip("<>") for subnet in group["SubnetIds"]}
    tables = {
        text(each["RouteTableId"]): text(each["SubnetId"]).strip("<>")
        for each in data.of_type("AWS::EC2::SubnetRouteTableAssociation").values()
    }
    way_out = {tables[text(route["RouteTableId"])] for route in data.of_type("AWS::EC2::Route").values()}
    functions = service.of_type("AWS::Lambda::Function").values()
    lived_in = {text(subnet) for each in functions for subnet in each.get("VpcConfig", {}).get("SubnetIds", ())}

    assert len(database) == 2
    assert not database & way_out
    assert len(lived_in) == 2
    assert all("egress" in subnet for subnet in lived_in)


def test_a_database_begins_as_a_snapshot_beside_the_one_it_follows(
    everything: tuple[Template, Template], data: Template
) -> None:
    [restored] = everything[0].of_type("AWS::RDS::DBCluster").values()
    [first] = data.of_type("AWS::RDS::DBCluster").values()

    assert restored["SnapshotIdentifier"] == "as-of-ten"
    assert text(restored["DBClusterIdentifier"]) != text(first["DBClusterIdentifier"])
    assert {"MasterUsername", "DatabaseName"} & set(restored) == set()
    assert "SnapshotIdentifier" not in first


def test_the_database_is_copied_daily_into_a_vault_of_another_region_and_as_long_as_here(
    everything: tuple[Template, Template], data: Template
) -> None:
    there = "arn:aws:backup:eu-west-1:123456789012:backup-vault:copies"
    with_copies, _ = everything
    [cluster_id] = with_copies.of_type("AWS::RDS::DBCluster")
    [plan] = with_copies.of_type("AWS::Backup::BackupPlan").values()
    [selection] = with_copies.of_type("AWS::Backup::BackupSelection").values()
    [(vault_id, vault)] = with_copies.of_type("AWS::Backup::BackupVault").items()
    [rule] = plan["BackupPlan"]["BackupPlanRule"]
    [copied] = rule["CopyActions"]
    role = text(selection["BackupSelection"]["IamRoleArn"]).strip("<>").removesuffix(".Arn")

    assert [copied["DestinationBackupVaultArn"], copied["Lifecycle"]] == [there, {"DeleteAfterDays": 14}]
    assert (rule["ScheduleExpression"], rule["Lifecycle"]) == ("cron(0 3 * * ? *)", {"DeleteAfterDays": 14})
    assert [cluster_id in text(each) for each in selection["BackupSelection"]["Resources"]] == [True]
    assert with_copies.resources[vault_id]["DeletionPolicy"] == "Retain"
    assert "EncryptionKeyArn" in vault
    assert with_copies.allowed(role, "backup:CopyIntoBackupVault") == {there}
    assert "ManagedPolicyArns" not in with_copies.of_type("AWS::IAM::Role")[role]
    assert data.of_type("AWS::Backup::BackupPlan") == {}


def test_the_api_for_tokens_checks_one_on_every_route(everything: tuple[Template, Template]) -> None:
    _, service = everything
    [(authorizer, properties)] = service.of_type("AWS::ApiGatewayV2::Authorizer").items()
    routes = service.of_type("AWS::ApiGatewayV2::Route").values()
    guarded = [route for route in routes if route["ApiId"] == properties["ApiId"]]
    others = [route for route in routes if route["ApiId"] != properties["ApiId"]]

    assert properties["JwtConfiguration"] == {"Issuer": "https://id.example.com/", "Audience": ["memory", "agents"]}
    assert len(guarded) == len(others) == len(list(TOPOLOGY.each(Route)))
    assert all((each["AuthorizationType"], each["AuthorizerId"]) == ("JWT", {"Ref": authorizer}) for each in guarded)
    assert {each.get("AuthorizationType", "NONE") for each in others} == {"NONE"}


def test_functions_of_the_api_believe_claims_of_the_authorizers_issuer_alone(
    everything: tuple[Template, Template],
) -> None:
    _, service = everything

    functions = [each.get("Environment", {}) for each in service.of_type("AWS::Lambda::Function").values()]
    variables = [each["Variables"] for each in functions if "POWERTOOLS_SERVICE_NAME" in each.get("Variables", {})]
    told = {each["POWERTOOLS_SERVICE_NAME"]: each.get("HINDSIGHT_API_JWT_ISSUER") for each in variables}

    issuer = "https://id.example.com/"
    assert told == {function.name: issuer if function.is_api else None for function in TOPOLOGY.functions}


def test_a_model_with_an_application_profile_takes_the_profile_and_all_that_is_behind_it(
    everything: tuple[Template, Template], service: Template
) -> None:
    _, with_profile = everything
    reflecting = with_profile.allowed(with_profile.role("reflect_step"), "bedrock:InvokeModel")
    without = service.allowed(service.role("reflect_step"), "bedrock:InvokeModel")
    told = {
        name: with_profile.function(name)[1]["Environment"]["Variables"].get("HINDSIGHT_INFERENCE_PROFILES")
        for name in ("reflect_step", "migrate")
    }

    assert {arn for arn in reflecting - without if "rerank" not in arn} == {APPLICATION_PROFILE}
    assert without <= reflecting
    assert told == {"reflect_step": f"us.anthropic.claude-sonnet-4-6={APPLICATION_PROFILE}", "migrate": None}


def test_there_is_no_api_for_tokens_without_an_issuer(service: Template) -> None:
    assert service.of_type("AWS::ApiGatewayV2::Authorizer") == {}
    assert len(service.of_type("AWS::ApiGatewayV2::Api")) == 1


def test_an_api_with_a_name_of_ones_own_answers_to_no_other(everything: tuple[Template, Template]) -> None:
    _, service = everything
    apis = service.of_type("AWS::ApiGatewayV2::Api").values()
    domains = service.of_type("AWS::ApiGatewayV2::DomainName").values()
    records = service.of_type("AWS::Route53::RecordSet").values()

    assert [api["DisableExecuteApiEndpoint"] for api in apis] == [True, True]
    assert {each["DomainName"] for each in domains} == {"memory.example.com", "tokens.example.com"}
    assert {each["DomainNameConfigurations"][0]["SecurityPolicy"] for each in domains} == {"TLS_1_2"}
    assert {record["Name"] for record in records} == {"memory.example.com.", "tokens.example.com."}
    assert len(service.of_type("AWS::ApiGatewayV2::ApiMapping")) == 2


def test_every_alarm_tells_whoever_is_named_and_nobody_else(everything: tuple[Template, Template]) -> None:
    data, service = everything
    [topic] = service.of_type("AWS::SNS::Topic")
    [subscription] = service.of_type("AWS::SNS::Subscription").values()
    told = [{"Ref": topic}, "arn:aws:sns:eu-central-1:123456789012:pager"]
    [key] = [each for each in data.of_type("AWS::KMS::Key").values() if each.get("KeyUsage") != "SIGN_VERIFY"]
    uses = [
        each for each in key["KeyPolicy"]["Statement"] if each["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    ]

    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "ops@example.com")
    for alarm in service.of_type("AWS::CloudWatch::Alarm").values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == told
        assert alarm["ActionsEnabled"] is True
    assert [set(each["Action"]) for each in uses] == [{"kms:Decrypt", "kms:GenerateDataKey"}]
    assert [each["Condition"] for each in uses] == [{"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}]


def test_a_budget_tells_before_the_money_is_gone(everything: tuple[Template, Template], service: Template) -> None:
    [budget] = everything[1].of_type("AWS::Budgets::Budget").values()
    told = {
        (each["Notification"]["NotificationType"], each["Notification"]["Threshold"])
        for each in budget["NotificationsWithSubscribers"]
    }

    assert budget["Budget"]["BudgetLimit"] == {"Amount": 500, "Unit": "USD"}
    assert told == {("ACTUAL", 80), ("FORECASTED", 100)}
    assert service.of_type("AWS::Budgets::Budget") == {}


def test_in_a_vpc_of_the_operators_nothing_of_a_network_is_made(theirs: tuple[Template, Template]) -> None:
    data, service = theirs
    made = {each["Type"] for each in data.resources.values() if each["Type"].startswith("AWS::EC2::")}
    functions = service.of_type("AWS::Lambda::Function").values()
    subnets = {subnet for each in functions for subnet in each.get("VpcConfig", {}).get("SubnetIds", ())}

    assert made == {"AWS::EC2::SecurityGroup", "AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress"}
    assert subnets == {"subnet-0123456789abcdef0", "subnet-0123456789abcdef1"}


def test_a_database_of_the_operators_is_reached_by_iam_and_by_its_own_secret(theirs: tuple[Template, Template]) -> None:
    data, service = theirs
    signed_in = {arn.rpartition(":dbuser:")[2] for arn in service.allowed(service.role("recall"), "rds-db:")}
    url = text(service.function("recall")[1]["Environment"]["Variables"]["HINDSIGHT_DATABASE_URL"])
    opened = [rule["GroupId"] for rule in data.of_type("AWS::EC2::SecurityGroupIngress").values()]

    assert not [each for each in data.resources.values() if each["Type"].startswith("AWS::RDS::")]
    assert signed_in == {"cluster-ABCDEFGHIJKLMNOP/hindsight_read"}
    assert url.startswith(
        "postgresql://hindsight_read@memories.cluster-abc.eu-central-1.rds.amazonaws.com:5432/memories?"
    )
    assert service.allowed(service.role("migrate"), "secretsmanager:") == {
        "arn:aws:secretsmanager:eu-central-1:123456789012:secret:memories-AbCdEf"
    }
    assert service.allowed(service.role("migrate"), "kms:") == {"arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d"}
    assert "sg-0123456789abcdef0" in opened
    assert not any("Database" in name for name in service.of_type("AWS::CloudWatch::Alarm"))


def test_development_pays_for_no_snapshots_while_nobody_calls(theirs: tuple[Template, Template]) -> None:
    functions = theirs[1].of_type("AWS::Lambda::Function").values()

    assert not [each["Description"] for each in functions if "SnapStart" in each]


def test_a_web_acl_stands_on_cloudfront_and_no_url_leads_past_it(theirs: tuple[Template, Template]) -> None:
    _, service = theirs
    [distribution] = service.of_type("AWS::CloudFront::Distribution").values()
    config = distribution["DistributionConfig"]
    [bucket] = service.of_type("AWS::S3::Bucket").values()

    assert config["WebACLId"] == "arn:aws:wafv2:us-east-1:123456789012:global/webacl/rules/0a1b2c3d"
    assert config["Aliases"] == ["memory.example.com"]
    assert config["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert config["DefaultCacheBehavior"]["ViewerProtocolPolicy"] == "https-only"
    assert service.of_type("AWS::Lambda::Url") == {}
    assert bucket["LifecycleConfiguration"]["Rules"][0]["ExpirationInDays"] == 30


def test_every_pair_of_options_can_be_had_together_without_breaking_a_rule(dose: Dose, tmp_path: Path) -> None:
    if dose == "small":
        pytest.skip("two deployments with every option between them are enough for the gate")
    combinations = pairwise()

    refused = combine(tmp_path, *combinations)

    assert refused == {}


def test_every_acknowledged_finding_was_found(options: Path, request: pytest.FixtureRequest) -> None:
    folders = [options / "everything", options / "theirs", request.getfixturevalue("prod").folder]

    unused = {folder.name: _acknowledged(folder) - _found(folder) for folder in folders}

    assert unused == {folder.name: set() for folder in folders}


def _acknowledged(folder: Path) -> set[tuple[str, str]]:
    """Finding and construct of each acknowledgement of ours; the CDK has some of its own rules' beside them."""
    return {
        (finding, path.lstrip("/"))
        for stack in (DATA, SERVICE)
        for path, entries in json.loads((folder / f"{stack}.metadata.json").read_text(encoding="utf-8")).items()
        for entry in entries
        if entry["type"] == "aws:cdk:acknowledged-rules"
        for finding in entry["data"]
        if not finding.startswith("CloudFormation-Validate::")
    }


def _found(folder: Path) -> set[tuple[str, str]]:
    report = json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))
    assert {plugin["pluginName"] for plugin in report["pluginReports"]} == {"AwsSolutions", "Serverless"}
    return {
        (finding["acknowledgedId"], finding["acknowledgedAt"])
        for plugin in report["pluginReports"]
        for finding in plugin["suppressedViolations"]
    }
