"""The interface endpoints that the table's functions need, each with a policy that lets through what they ask of it.

Made by network.py. A policy grants nothing: it bounds what whoever is inside the network can ask, of whose account.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from infra.cloud.config import CloudConfig
from infra.cloud.permissions import callable_arns
from infra.topology import DatabaseRole, ModelUse, Topology

_SERVICE: Final = ec2.InterfaceVpcEndpointAwsService


@dataclass(frozen=True, slots=True)
class CalledService:
    """A service behind an endpoint of its own, and what may be asked of it: actions, each on its resources."""

    service: ec2.InterfaceVpcEndpointAwsService
    asked: tuple[tuple[str, tuple[str, ...]], ...]

    def statements(self) -> list[iam.PolicyStatement]:
        """The endpoint's policy: exactly these, and of this account's own principals only."""
        ours = {"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}}
        return [
            iam.PolicyStatement(
                actions=[action], resources=list(resources), principals=[iam.AnyPrincipal()], conditions=ours
            )
            for action, resources in self.asked
        ]


def called_services(topology: Topology, config: CloudConfig) -> dict[str, CalledService]:
    """The endpoints that the table's functions need, by construct id; each costs by the hour."""
    functions = topology.functions
    uses = {use for function in functions for use in function.models if config.models(use)}
    wanted = {
        "BedrockRuntime": _models(_SERVICE.BEDROCK_RUNTIME, uses & {ModelUse.TEXT, ModelUse.EMBEDDINGS}, config),
        "BedrockAgentRuntime": _models(_SERVICE.BEDROCK_AGENT_RUNTIME, uses & {ModelUse.RERANK}, config),
        "Sqs": _one(_SERVICE.SQS, "sqs:SendMessage", "*") if any(each.sends_to for each in functions) else None,
        "Kms": _one(_SERVICE.KMS, "kms:Sign", "key/*") if any(each.signs for each in functions) else None,
        "StepFunctions": _one(_SERVICE.STEP_FUNCTIONS, "states:StartExecution", "stateMachine:*")
        if any(each.starts for each in functions)
        else None,
        "SecretsManager": _secret(config)
        if any(each.database_role is DatabaseRole.MIGRATE for each in functions)
        else None,
    }
    return {name: called for name, called in wanted.items() if called is not None}


def _models(
    service: ec2.InterfaceVpcEndpointAwsService, uses: Iterable[ModelUse], config: CloudConfig
) -> CalledService | None:
    """The models that the configuration names, and the one action that knows no resource where they rerank."""
    wanted = set(uses)
    arns = callable_arns(wanted, config)
    if not arns:
        return None
    rerank = (("bedrock:Rerank", ("*",)),) if ModelUse.RERANK in wanted else ()
    return CalledService(service, (("bedrock:InvokeModel", tuple(arns)), *rerank))


def _one(service: ec2.InterfaceVpcEndpointAwsService, action: str, resource: str) -> CalledService:
    """One action on what this account has of a kind: which one is made by another stack, after the network."""
    kind = action.partition(":")[0]
    arn = f"arn:{Aws.PARTITION}:{kind}:{Aws.REGION}:{Aws.ACCOUNT_ID}:{resource}"
    return CalledService(service, ((action, (arn,)),))


def _secret(config: CloudConfig) -> CalledService:
    """The administrator's password: RDS's own secret, whose name it makes up, or the one that an operator names."""
    action = "secretsmanager:GetSecretValue"
    if config.database_secret_arn is not None:
        return CalledService(_SERVICE.SECRETS_MANAGER, ((action, (config.database_secret_arn,)),))
    return _one(_SERVICE.SECRETS_MANAGER, action, "secret:rds!cluster-*")
