"""The private network: isolated subnets, and the ways out of them that the configuration chooses.

Made by the stateful stack. With endpoints there is no gateway to the internet; what the topology does not call has no
way out. With a NAT instance (nat.py) or a VPC of the operator's, functions may reach any address by HTTPS.
"""

from collections.abc import Sequence
from typing import Final

from aws_cdk import Fn, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.endpoints import called_services
from infra.cloud.nat import NatInstances
from infra.cloud.retention import retention
from infra.topology import Topology

POSTGRES_PORT: Final = 5432
_HTTPS: Final = 443
_ZONES: Final = 2
_ISOLATED: Final = "isolated"
_EGRESS: Final = "egress"
_PUBLIC: Final = "public"


class Network(Construct):
    """Subnets in two zones or more, and one security group each for functions, endpoints and database.

    Functions may open connections to the other two groups; nobody may open one to a function.
    """

    def __init__(self, scope: Construct, name: str, *, config: CloudConfig, topology: Topology) -> None:
        super().__init__(scope, name)
        self._config = config
        self.vpc: ec2.IVpc = self._own() if config.vpc_id is None else self._operators(config.vpc_id)
        self.functions = self._group("Functions", "Lambda functions")
        self.database = self._database_group()
        self.endpoints = self._group("Endpoints", "Interface endpoints")
        self._open(self.functions, self.database, self._database_port, "functions to the database")
        self._open(self.functions, self.endpoints, _HTTPS, "functions to AWS services")
        self._add_files(topology)
        self.nat: NatInstances | None = None
        if config.network == "endpoints":
            self._add_endpoints(topology)
        else:
            self.functions.connections.allow_to_any_ipv4(ec2.Port.tcp(_HTTPS), "to AWS by the way that is there")
        if config.network == "nat-instance":
            public = self.vpc.select_subnets(subnet_group_name=_PUBLIC).subnets[: config.endpoint_zones]
            self.nat = NatInstances(
                self, "Nat", vpc=self.vpc, public=public, private=self.function_subnets, sources=self.functions
            )

    @property
    def function_subnets(self) -> Sequence[ec2.ISubnet]:
        """Where functions live."""
        group = _EGRESS if self._config.network == "nat-instance" else None
        return list(self.vpc.select_subnets(subnet_group_name=group).subnets if group else self.vpc.isolated_subnets)

    @property
    def database_subnets(self) -> Sequence[ec2.ISubnet]:
        """Where a new database lives: never with a way out."""
        if self._config.vpc_id is not None:
            return self.function_subnets
        return list(self.vpc.select_subnets(subnet_group_name=_ISOLATED).subnets)

    def allow_files(self, *objects: str) -> None:
        """Lets the way to S3 lead to these objects and to no other bucket, of whatever account."""
        if self._to_files is not None:
            actions = ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"]
            statement = iam.PolicyStatement(actions=actions, resources=list(objects), principals=[iam.AnyPrincipal()])
            self._to_files.add_to_policy(statement)

    @property
    def _database_port(self) -> int:
        return self._config.database_port if self._config.database_host else POSTGRES_PORT

    def _own(self) -> ec2.Vpc:
        """A new VPC. The isolated subnets come first, so that they keep their addresses if others are added later."""
        subnets = [_subnets(_ISOLATED, ec2.SubnetType.PRIVATE_ISOLATED, 22)]
        if self._config.network == "nat-instance":
            # The CDK's kind with egress would make gateways; the instances' routes are nat.py's.
            subnets.append(_subnets(_EGRESS, ec2.SubnetType.PRIVATE_ISOLATED, 22))
            subnets.append(_subnets(_PUBLIC, ec2.SubnetType.PUBLIC, 28))
        vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=_ZONES,
            nat_gateways=0,
            subnet_configuration=subnets,
            restrict_default_security_group=False,
        )
        group = logs.LogGroup(
            self, "FlowLogs", retention=retention(self._config.flow_log_days), removal_policy=RemovalPolicy.DESTROY
        )
        vpc.add_flow_log("Flows", destination=ec2.FlowLogDestination.to_cloud_watch_logs(group))
        return vpc

    def _operators(self, vpc_id: str) -> ec2.IVpc:
        """The operator's VPC, by what the configuration says of it; the zones' names are never used."""
        subnets = list(self._config.subnet_ids)
        return ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=vpc_id,
            availability_zones=[str(Fn.select(number, Fn.get_azs())) for number in range(len(subnets))],
            isolated_subnet_ids=subnets,
            isolated_subnet_route_table_ids=list(self._config.route_table_ids) or None,
        )

    def _add_endpoints(self, topology: Topology) -> None:
        zones = ec2.SubnetSelection(subnets=list(self.function_subnets)[: self._config.endpoint_zones])
        for name, called in called_services(topology, self._config).items():
            endpoint = self.vpc.add_interface_endpoint(
                name, service=called.service, subnets=zones, open=False, security_groups=[self.endpoints]
            )
            for statement in called.statements():
                endpoint.add_to_policy(statement)

    def _add_files(self, topology: Topology) -> None:
        """A gateway endpoint, which costs nothing, and a group for the functions that may use it.

        Its addresses are S3's public ones, hence the rule for all addresses: no route leads to any other of them.
        """
        self._to_files: ec2.GatewayVpcEndpoint | None = None
        self.files = self._group("Files", "Lambda functions that use S3")
        if not any(function.files for function in topology.functions):
            return
        if self._config.network != "existing":
            self._to_files = self.vpc.add_gateway_endpoint(
                "S3",
                service=ec2.GatewayVpcEndpointAwsService.S3,
                subnets=[ec2.SubnetSelection(subnets=list(self.function_subnets))],
            )
        self.files.connections.allow_to_any_ipv4(ec2.Port.tcp(_HTTPS), "to S3 through its gateway endpoint")

    def _database_group(self) -> ec2.ISecurityGroup:
        theirs = self._config.database_security_group
        if theirs is None:
            return self._group("Database", "Aurora")
        return ec2.SecurityGroup.from_security_group_id(self, "Database", theirs, allow_all_outbound=True)

    def _group(self, name: str, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self, name, vpc=self.vpc, description=description, allow_all_outbound=False, disable_inline_rules=True
        )

    def _open(self, source: ec2.SecurityGroup, target: ec2.ISecurityGroup, port: int, reason: str) -> None:
        source.connections.allow_to(target, ec2.Port.tcp(port), reason)


def _subnets(name: str, kind: ec2.SubnetType, size: int) -> ec2.SubnetConfiguration:
    return ec2.SubnetConfiguration(name=name, subnet_type=kind, cidr_mask=size)
