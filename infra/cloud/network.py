"""The private network: isolated subnets, and an interface endpoint for each AWS service that a function calls.

Made by the stateful stack. There is no gateway to the internet; what the topology does not call has no way out.
"""

from typing import Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.retention import retention
from infra.topology import DatabaseRole, ModelUse, Topology

POSTGRES_PORT: Final = 5432
_HTTPS: Final = 443
_ZONES: Final = 2
_SERVICE: Final = ec2.InterfaceVpcEndpointAwsService


class Network(Construct):
    """Two zones of isolated subnets, flow logs, and one security group each for functions, endpoints and database.

    Functions may open connections to the other two groups; nobody may open one to a function.
    """

    def __init__(self, scope: Construct, name: str, *, config: CloudConfig, topology: Topology) -> None:
        super().__init__(scope, name)
        isolated = ec2.SubnetConfiguration(name="isolated", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=22)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=_ZONES,
            nat_gateways=0,
            subnet_configuration=[isolated],
            restrict_default_security_group=False,
        )
        self._log_flows(config)
        self.functions = self._group("Functions", "Lambda functions")
        self.database = self._group("Database", "Aurora")
        self.endpoints = self._group("Endpoints", "Interface endpoints")
        self._open(self.functions, self.database, POSTGRES_PORT, "functions to the database")
        self._open(self.functions, self.endpoints, _HTTPS, "functions to AWS services")
        self._add_files(topology)
        zones = ec2.SubnetSelection(subnets=self.vpc.isolated_subnets[: config.endpoint_zones])
        for called, service in _called_services(topology, config).items():
            self.vpc.add_interface_endpoint(
                called, service=service, subnets=zones, open=False, security_groups=[self.endpoints]
            )

    def allow_files(self, objects: str) -> None:
        """Lets the way to S3 lead to these objects and to no other bucket, of whatever account."""
        if self._to_files is not None:
            actions = ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"]
            statement = iam.PolicyStatement(actions=actions, resources=[objects], principals=[iam.AnyPrincipal()])
            self._to_files.add_to_policy(statement)

    def _add_files(self, topology: Topology) -> None:
        """A gateway endpoint, which costs nothing, and a group for the functions that may use it.

        Its addresses are S3's public ones, hence the rule for all addresses: no route leads to any other of them.
        """
        self._to_files: ec2.GatewayVpcEndpoint | None = None
        self.files = self._group("Files", "Lambda functions that use S3")
        if any(function.files for function in topology.functions):
            self._to_files = self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
            self.files.connections.allow_to_any_ipv4(ec2.Port.tcp(_HTTPS), "to S3 through its gateway endpoint")

    def _group(self, name: str, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self, name, vpc=self.vpc, description=description, allow_all_outbound=False, disable_inline_rules=True
        )

    def _open(self, source: ec2.SecurityGroup, target: ec2.SecurityGroup, port: int, reason: str) -> None:
        source.connections.allow_to(target, ec2.Port.tcp(port), reason)

    def _log_flows(self, config: CloudConfig) -> None:
        group = logs.LogGroup(
            self, "FlowLogs", retention=retention(config.flow_log_days), removal_policy=RemovalPolicy.DESTROY
        )
        self.vpc.add_flow_log("Flows", destination=ec2.FlowLogDestination.to_cloud_watch_logs(group))


def _called_services(topology: Topology, config: CloudConfig) -> dict[str, ec2.InterfaceVpcEndpointAwsService]:
    """The endpoints that the table's functions need, by construct id; each costs by the hour."""
    functions = topology.functions
    uses = {use for function in functions for use in function.models if config.models(use)}
    wanted = {
        "BedrockRuntime": (_SERVICE.BEDROCK_RUNTIME, bool(uses & {ModelUse.TEXT, ModelUse.EMBEDDINGS})),
        "BedrockAgentRuntime": (_SERVICE.BEDROCK_AGENT_RUNTIME, ModelUse.RERANK in uses),
        "Sqs": (_SERVICE.SQS, any(function.sends_to for function in functions)),
        "StepFunctions": (_SERVICE.STEP_FUNCTIONS, any(function.starts for function in functions)),
        "SecretsManager": (
            _SERVICE.SECRETS_MANAGER,
            any(function.database_role is DatabaseRole.MIGRATE for function in functions),
        ),
    }
    return {name: service for name, (service, is_called) in wanted.items() if is_called}
