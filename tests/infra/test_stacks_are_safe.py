"""What every deployment keeps to, whatever the table says: least privilege, nothing public, nothing kept for ever."""

from collections import Counter
from pathlib import Path

import pytest

from infra.topology import TOPOLOGY, VISIBILITY_PER_TIMEOUT, Function, QueueTrigger
from tests.conftest import Dose
from tests.infra.conftest import Synthesis, synthesise
from tests.infra.templates import Properties, Template, listed, text

pytestmark = [pytest.mark.synth, pytest.mark.timeout(900)]

_KNOW_NO_RESOURCE = {
    "bedrock:Rerank",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
}


@pytest.fixture(params=["data", "service"])
def stack(request: pytest.FixtureRequest) -> Template:
    """Each stack in turn."""
    template = request.getfixturevalue(request.param)
    assert isinstance(template, Template)
    return template


def test_the_command_tells_its_time_and_resources(prod: Synthesis, data: Template, service: Template) -> None:
    total = len(data.resources) + len(service.resources)

    assert f"{total} resources in " in prod.report


def test_a_machine_without_node_or_docker_can_synthesise_with_every_rule_kept(prod: Synthesis) -> None:
    """The fixture runs with an empty PATH; an unacknowledged finding would have ended it."""
    assert prod.returncode == 0
    assert "ERROR" not in prod.report
    assert "WARNING" not in prod.report


def test_every_queue_has_dead_letters_and_hides_messages_long_enough(service: Template) -> None:
    queues = service.of_type("AWS::SQS::Queue")

    redriven = {name: properties for name, properties in queues.items() if "RedrivePolicy" in properties}
    dead = {properties["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0] for properties in redriven.values()}

    assert len(redriven) == len(dead) == len(TOPOLOGY.queues)
    assert {name for name in set(queues) - set(redriven) - dead if not name.startswith("Undelivered")} == set()
    for function, trigger in TOPOLOGY.each(QueueTrigger):
        hidden = _hidden_for(service, function)
        assert hidden == TOPOLOGY.queue(trigger.queue).visibility
        assert hidden >= VISIBILITY_PER_TIMEOUT * function.timeout


def test_queues_are_encrypted_and_refuse_plain_http(service: Template) -> None:
    queues = service.of_type("AWS::SQS::Queue")
    policies = service.of_type("AWS::SQS::QueuePolicy").values()

    refusing = {
        policy["Queues"][0]["Ref"]
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }

    assert refusing == set(queues)
    assert all("KmsMasterKeyId" in queue or queue["SqsManagedSseEnabled"] for queue in queues.values())


def test_every_function_has_a_role_and_a_log_of_its_own(service: Template) -> None:
    functions = service.of_type("AWS::Lambda::Function").values()
    logs = service.of_type("AWS::Logs::LogGroup")

    roles = Counter(text(function["Role"]) for function in functions)
    written = [function["LoggingConfig"]["LogGroup"]["Ref"] for function in functions]

    assert set(roles.values()) == {1}
    assert len(set(written)) == len(functions)
    for function in functions:
        role = function["Role"]["Fn::GetAtt"][0]
        assert service.allowed(role, "logs:") == {f"<{function['LoggingConfig']['LogGroup']['Ref']}.Arn>"}
        assert "ManagedPolicyArns" not in service.of_type("AWS::IAM::Role")[role]
    assert set(written) <= set(logs)


def test_no_log_is_kept_for_ever(stack: Template) -> None:
    logs = stack.of_type("AWS::Logs::LogGroup")

    assert logs
    assert all(group["RetentionInDays"] > 0 for group in logs.values())


def test_no_statement_allows_a_wildcard_action(stack: Template) -> None:
    wild = [
        (name, action)
        for name, document in stack.policy_documents()
        for statement in document["Statement"]
        if statement["Effect"] == "Allow" and not _is_key_administration(stack, name, statement)
        for action in listed(statement.get("Action", []))
        if "*" in action
    ]

    assert wild == []


def test_only_actions_that_know_no_resource_are_allowed_on_all(stack: Template) -> None:
    on_all = {
        action
        for name, document in stack.policy_documents()
        for statement in document["Statement"]
        if statement["Effect"] == "Allow" and not _is_key_administration(stack, name, statement)
        if "Resource" in statement and "*" in listed(statement["Resource"])
        for action in listed(statement["Action"])
    }

    assert on_all <= _KNOW_NO_RESOURCE


def test_a_functions_own_code_cannot_touch_network_interfaces(service: Template) -> None:
    for entry in TOPOLOGY.functions:
        denied = [
            statement for statement in service.statements(service.role(entry.name)) if statement["Effect"] == "Deny"
        ]

        own = [] if entry.internet else [{"Null": {"lambda:SourceFunctionArn": "false"}}]
        assert [statement["Condition"] for statement in denied] == own


def test_the_one_function_with_the_internet_is_outside_the_network_and_may_only_use_its_queues(
    service: Template,
) -> None:
    functions = service.of_type("AWS::Lambda::Function").values()
    ours = [each for each in functions if each["Description"].startswith("hindsight-aws ")]
    outside = {each["Description"] for each in ours if "VpcConfig" not in each}
    actions = {
        action.partition(":")[0]
        for statement in service.statements(service.role("send"))
        for action in statement["Action"]
    }

    assert [entry.name for entry in TOPOLOGY.functions if entry.internet] == ["send"]
    assert outside == {"hindsight-aws send"}
    assert actions == {"logs", "sqs", "kms", "xray"}


def test_the_database_is_private_encrypted_and_kept(data: Template) -> None:
    [(name, cluster)] = data.of_type("AWS::RDS::DBCluster").items()
    instances = data.of_type("AWS::RDS::DBInstance").values()
    [parameters] = data.of_type("AWS::RDS::DBClusterParameterGroup").values()

    assert [instance["PubliclyAccessible"] for instance in instances] == [False] * len(instances)
    assert cluster["StorageEncrypted"] is True
    assert cluster["DeletionProtection"] is True
    assert cluster["EnableIAMDatabaseAuthentication"] is True
    assert cluster["ManageMasterUserPassword"] is True
    assert cluster["BackupRetentionPeriod"] >= 7
    assert cluster["ServerlessV2ScalingConfiguration"]["MinCapacity"] >= 0.5
    assert parameters["Parameters"]["rds.force_ssl"] == "1"
    assert data.resources[name]["DeletionPolicy"] == "Snapshot"


def test_uploaded_files_are_encrypted_private_and_gone_after_their_days(data: Template) -> None:
    [(name, bucket)] = data.of_type("AWS::S3::Bucket").items()
    [policy] = data.of_type("AWS::S3::BucketPolicy").values()
    [encryption] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    expiring, cleaning = bucket["LifecycleConfiguration"]["Rules"]

    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    assert TOPOLOGY.bucket is not None
    assert (expiring["ExpirationInDays"], expiring["Status"]) == (TOPOLOGY.bucket.keep_days, "Enabled")
    assert expiring["Prefix"] == TOPOLOGY.bucket.passing
    assert not TOPOLOGY.bucket.lasting.startswith(TOPOLOGY.bucket.passing)
    assert "ExpirationInDays" not in cleaning
    assert "CorsConfiguration" not in bucket
    assert "VersioningConfiguration" not in bucket
    assert {"Bool": {"aws:SecureTransport": "false"}} in [
        statement["Condition"] for statement in policy["PolicyDocument"]["Statement"] if statement["Effect"] == "Deny"
    ]
    assert all(statement["Effect"] == "Deny" for statement in policy["PolicyDocument"]["Statement"])
    assert data.resources[name]["DeletionPolicy"] == "Retain"


def test_the_way_to_s3_leads_to_the_files_alone(data: Template) -> None:
    [bucket] = data.of_type("AWS::S3::Bucket")
    gateways = [each for each in data.of_type("AWS::EC2::VPCEndpoint").values() if each["VpcEndpointType"] == "Gateway"]
    open_groups = {
        text(rule["GroupId"])
        for rule in data.of_type("AWS::EC2::SecurityGroupEgress").values()
        if rule.get("CidrIp") == "0.0.0.0/0"
    }

    [gateway] = gateways
    [statement] = gateway["PolicyDocument"]["Statement"]

    assert {text(each) for each in statement["Resource"]} == {
        f"<{bucket}.Arn>/{each}/*" for each in ("tenants", "kept")
    }
    assert set(statement["Action"]) == {"s3:PutObject", "s3:GetObject", "s3:DeleteObject"}
    assert len(open_groups) == 1
    assert "Files" in open_groups.pop()


def test_an_endpoint_lets_through_what_functions_ask_and_of_this_account_alone(
    data: Template, service: Template
) -> None:
    """Without a policy of its own an endpoint lets everybody inside ask anything of anybody's account."""
    granted: dict[str, set[str]] = {}
    for entry in TOPOLOGY.functions:
        for statement in service.statements(service.role(entry.name)):
            for action in listed(statement["Action"]):
                granted.setdefault(action, set()).update(text(each) for each in listed(statement["Resource"]))
    asked: dict[str, dict[str, set[str]]] = {}
    for endpoint in data.of_type("AWS::EC2::VPCEndpoint").values():
        if endpoint["VpcEndpointType"] != "Interface":
            continue
        of_one = asked.setdefault(text(endpoint["ServiceName"]).rsplit(".", 1)[-1], {})
        for statement in endpoint["PolicyDocument"]["Statement"]:
            assert statement["Condition"] == {"StringEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}}
            for action in listed(statement["Action"]):
                of_one.setdefault(action, set()).update(text(each) for each in listed(statement["Resource"]))

    assert {name: set(of_one) for name, of_one in asked.items()} == {
        "bedrock-runtime": {"bedrock:InvokeModel"},
        "kms": {"kms:Sign"},
        "secretsmanager": {"secretsmanager:GetSecretValue"},
        "sqs": {"sqs:SendMessage"},
        "states": {"states:StartExecution"},
    }
    assert asked["bedrock-runtime"]["bedrock:InvokeModel"] == granted["bedrock:InvokeModel"]
    assert all(action in granted for of_one in asked.values() for action in of_one)
    assert not [each for of_one in asked.values() for on in of_one.values() for each in on if each == "*"]


def test_nothing_has_a_way_to_the_internet_or_in_from_it(data: Template) -> None:
    kinds = {resource["Type"] for resource in data.resources.values()}
    rules = data.of_type("AWS::EC2::SecurityGroupIngress").values()
    inline = [group for group in data.of_type("AWS::EC2::SecurityGroup").values() if "SecurityGroupIngress" in group]

    assert kinds & {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::EIP"} == set()
    assert inline == []
    assert all("SourceSecurityGroupId" in rule and "CidrIp" not in rule for rule in rules)


def test_keys_outlive_their_stack_and_rotate_where_they_can(data: Template) -> None:
    keys = data.of_type("AWS::KMS::Key")
    signing = {name for name, key in keys.items() if key.get("KeyUsage") == "SIGN_VERIFY"}

    assert len(keys) - len(signing) == 1
    assert all(data.resources[name]["DeletionPolicy"] == "Retain" for name in keys)
    # A signing key does not rotate: what it has signed must stay verifiable.
    assert {name: key.get("EnableKeyRotation", False) for name, key in keys.items()} == {
        name: name not in signing for name in keys
    }


def test_a_wrong_value_ends_with_a_sentence(tmp_path: Path) -> None:
    made = synthesise(tmp_path, "profile=production")

    assert made.returncode == 1
    assert "profile must be dev or prod" in made.report
    assert "Traceback" not in made.report


def test_the_development_profile_keeps_the_rules_too(dose: Dose, tmp_path: Path) -> None:
    if dose == "small":
        pytest.skip("one synthesis is enough for the gate")

    made = synthesise(tmp_path, "profile=dev")

    assert made.returncode == 0, made.report


def _hidden_for(service: Template, consumer: Function) -> int:
    """The visibility timeout, in seconds, of the queue that a function may receive from."""
    [arn] = service.allowed(service.role(consumer.name), "sqs:ReceiveMessage")
    queue = service.of_type("AWS::SQS::Queue")[arn.removeprefix("<").removesuffix(".Arn>")]
    return int(queue["VisibilityTimeout"])


def _is_key_administration(stack: Template, name: str, statement: Properties) -> bool:
    """The key's own policy hands its administration to the account, without which nobody could change it."""
    return stack.resources[name]["Type"] == "AWS::KMS::Key" and "root" in str(statement["Principal"])
