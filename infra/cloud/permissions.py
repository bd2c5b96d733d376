"""One role per function, written by hand: what the table gives the function, and nothing by wildcard action.

Called by functions.py. The few statements that AWS accepts on all resources only are named in acknowledged.py.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.inference import Home, model_arns
from infra.topology import Function, ModelUse

_HERE: Final = Home(partition=Aws.PARTITION, region=Aws.REGION, account=Aws.ACCOUNT_ID)
_DESCRIBE_INTERFACES: Final = ("ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets")
_CHANGE_INTERFACES: Final = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:UnassignPrivateIpAddresses",
)


def function_role(
    scope: Construct, name: str, *, log: logs.LogGroup, statements: Iterable[iam.PolicyStatement], in_network: bool
) -> iam.Role:
    """A role that only Lambda assumes: its own log, its network interfaces if it has any, its traces, `statements`."""
    role = iam.Role(scope, name, assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    write_log = iam.PolicyStatement(
        actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log.log_group_arn]
    )
    for statement in (write_log, *(_network_interfaces() if in_network else ()), *statements):
        role.add_to_policy(statement)
    return role


def service_of_this_account(service: str) -> iam.IPrincipal:
    """An AWS service, but only on behalf of the account it is deployed to."""
    return iam.ServicePrincipal(service, conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}})


def callable_arns(uses: Iterable[ModelUse], config: CloudConfig) -> list[str]:
    """Every ARN that must be allowed for calling the models of these uses, and no other.

    One that is called through an application inference profile takes the profile and all that is behind it.
    """
    called = {(model, _home(use, config)) for use in uses for model in config.models(use)}
    profiles = config.inference_profiles
    arns = {arn for model, home in called for arn in model_arns(model, home, config.model_regions)}
    return sorted(arns | {profiles[model] for model, _ in called if model in profiles})


def _home(use: ModelUse, config: CloudConfig) -> Home:
    """Where a model of that use is asked for: here, unless settings name a region for rerank models."""
    elsewhere = config.rerank_region if use is ModelUse.RERANK else None
    return _HERE if elsewhere is None else replace(_HERE, region=elsewhere)


def model_statements(function: Function, config: CloudConfig) -> list[iam.PolicyStatement]:
    """Permission to call exactly the models that the configuration names for the function's uses."""
    arns = callable_arns(function.models, config)
    statements = [iam.PolicyStatement(actions=["bedrock:InvokeModel"], resources=arns)] if arns else []
    if ModelUse.RERANK in function.models and config.models(ModelUse.RERANK):
        statements.append(iam.PolicyStatement(actions=["bedrock:Rerank"], resources=["*"]))
    return statements


def _network_interfaces() -> list[iam.PolicyStatement]:
    """Lambda makes interfaces with the function's role; the function's own code is denied the same."""
    return [
        iam.PolicyStatement(actions=list(_DESCRIBE_INTERFACES), resources=["*"]),
        iam.PolicyStatement(
            actions=list(_CHANGE_INTERFACES),
            resources=[f"arn:{Aws.PARTITION}:ec2:{Aws.REGION}:{Aws.ACCOUNT_ID}:*/*"],
        ),
        iam.PolicyStatement(
            effect=iam.Effect.DENY,
            actions=[*_DESCRIBE_INTERFACES, *_CHANGE_INTERFACES],
            resources=["*"],
            conditions={"Null": {"lambda:SourceFunctionArn": "false"}},
        ),
    ]
