"""What CloudFormation may replace and what it may not: no name is fixed, and what holds data outlives its stack."""

import pytest

from tests.infra.templates import Template

pytestmark = [pytest.mark.synth, pytest.mark.timeout(900)]

_NAMES = {
    "AWS::CloudWatch::Alarm": ("AlarmName",),
    "AWS::CloudWatch::Dashboard": ("DashboardName",),
    "AWS::IAM::Role": ("RoleName",),
    "AWS::KMS::Alias": ("AliasName",),
    "AWS::Lambda::Function": ("FunctionName",),
    "AWS::Lambda::LayerVersion": ("LayerName",),
    "AWS::Logs::LogGroup": ("LogGroupName",),
    "AWS::RDS::DBCluster": ("DBClusterIdentifier",),
    "AWS::RDS::DBInstance": ("DBInstanceIdentifier",),
    "AWS::S3::Bucket": ("BucketName",),
    "AWS::SNS::Topic": ("TopicName",),
    "AWS::SQS::Queue": ("QueueName",),
    "AWS::Scheduler::Schedule": ("Name",),
    "AWS::StepFunctions::StateMachine": ("StateMachineName",),
}
_HOLDS_DATA = {"AWS::KMS::Key": "Retain", "AWS::RDS::DBCluster": "Snapshot", "AWS::S3::Bucket": "Retain"}


def test_no_resource_has_a_name_that_a_second_deployment_would_want_too(data: Template, service: Template) -> None:
    """A fixed name also keeps CloudFormation from replacing what cannot be changed in place."""
    named = [
        (name, property_)
        for name, resource in (data.resources | service.resources).items()
        for property_ in _NAMES.get(resource["Type"], ())
        if isinstance(resource.get("Properties", {}).get(property_), str)
    ]

    assert named == []


def test_what_holds_data_outlives_its_stack(data: Template, service: Template) -> None:
    kept = [
        (resource["Type"], resource.get(when))
        for resource in data.resources.values()
        if resource["Type"] in _HOLDS_DATA
        for when in ("DeletionPolicy", "UpdateReplacePolicy")
    ]

    assert {kind for kind, _ in kept} == set(_HOLDS_DATA)
    assert set(kept) == set(_HOLDS_DATA.items())
    assert not {resource["Type"] for resource in service.resources.values()} & set(_HOLDS_DATA)


def test_a_version_outlives_what_follows_it_and_not_a_deployment_that_failed(service: Template) -> None:
    """One that stayed would be in the way of the next attempt: Lambda publishes the same code only once."""
    kept = {
        (resource.get("DeletionPolicy"), resource.get("UpdateReplacePolicy"))
        for resource in service.resources.values()
        if resource["Type"] == "AWS::Lambda::Version"
    }

    assert kept == {("RetainExceptOnCreate", "Retain")}
