"""The schema before the traffic: a custom resource that runs the table's deployment functions. In the service stack."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aws_cdk import CfnOutput, CustomResource, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import custom_resources as custom
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.database_access import DatabaseAccess
from infra.cloud.functions import Deployed
from infra.cloud.naming import logical
from infra.cloud.retention import retention
from infra.topology import DeploymentTrigger, Topology

_SCHEMA: Final = Path(__file__).parents[2] / "shared" / "hindsight_aws" / "store" / "sql"


class Migration(Construct):
    """Invokes each deployment function when the schema's text or the database is another; no other alias moves before.

    The CDK's provider function answers CloudFormation, so that ours sits in the private network and only returns.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        topology: Topology,
        config: CloudConfig,
        deployed: Mapping[str, Deployed],
        database: DatabaseAccess,
    ) -> None:
        super().__init__(scope, name)
        self._database = database
        first = [deployed[entry.name] for entry, _ in topology.each(DeploymentTrigger)]
        resources = [self._resource(function, config) for function in first]
        for function in deployed.values():
            if function not in first:
                function.alias.node.add_dependency(*resources)

    def _resource(self, function: Deployed, config: CloudConfig) -> CustomResource:
        place = Construct(self, logical(function.entry.name))
        log = logs.LogGroup(place, "Log", retention=retention(config.log_days), removal_policy=RemovalPolicy.DESTROY)
        role = iam.Role(place, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        write_log = iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log.log_group_arn]
        )
        role.add_to_policy(write_log)
        provider = custom.Provider(
            place,
            "Provider",
            on_event_handler=function.alias,
            framework_on_event_role=role,
            log_group=log,
        )
        CfnOutput(
            place,
            "Administrator",
            value=function.alias.function_arn,
            description="Invoke it with a Command of the command line to make tenants and keys",
        )
        return CustomResource(
            place,
            "Schema",
            resource_type="Custom::Schema",
            service_token=provider.service_token,
            # A database that takes the place of another has the schema of its own past, or none; one whose engine was
            # upgraded still has the extensions of before.
            properties={
                "Digest": schema_digest(),
                "Database": f"{self._database.resource_id}/{self._database.name}",
                "Engine": self._database.engine,
            },
        )


def schema_digest(folder: Path = _SCHEMA) -> str:
    """A digest of every migration and bootstrap script, which changes when any of them does."""
    digest = hashlib.sha256()
    for part in ("bootstrap", "migrations"):
        for script in sorted((folder / part).glob("*.sql")):
            digest.update(script.name.encode() + b"\0" + script.read_bytes() + b"\0")
    return digest.hexdigest()
