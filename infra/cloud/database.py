"""Aurora PostgreSQL Serverless v2: encrypted, private, signed in to with IAM tokens. Made by the stateful stack."""

from typing import Final
from urllib.parse import urlencode

from aws_cdk import Aws, Duration, Fn, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_rds as rds
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.network import POSTGRES_PORT, Network
from infra.cloud.retention import retention
from infra.topology import DatabaseRole
from layers.product.build import CERTIFICATES_AT

ADMINISTRATOR: Final = "hindsight_admin"
_DATABASE: Final = "hindsight"
_PARAMETERS: Final = {
    "rds.force_ssl": "1",
    # A violated constraint's DETAIL and a statement's parameters would bring stored text into the log.
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}


class Database(Construct):
    """The cluster, its log, and what a function needs to reach it.

    Applications sign in as their role with a token; only the administrator has a password, which RDS keeps and rotates.
    """

    def __init__(self, scope: Construct, name: str, *, config: CloudConfig, network: Network, key: kms.Key) -> None:
        super().__init__(scope, name)
        # Known before the cluster exists, so that its log group can be made first, and new for every stack.
        identifier = f"hindsight-{Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))))}"
        log = logs.LogGroup(
            self,
            "Log",
            log_group_name=f"/aws/rds/cluster/{identifier}/postgresql",
            retention=retention(config.log_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.cluster = rds.DatabaseCluster(
            self,
            "Cluster",
            cluster_identifier=identifier,
            engine=rds.DatabaseClusterEngine.aurora_postgres(version=rds.AuroraPostgresEngineVersion.VER_18_4),
            parameters=_PARAMETERS,
            default_database_name=_DATABASE,
            credentials=rds.Credentials.from_username(ADMINISTRATOR),
            manage_master_user_password=True,
            iam_authentication=True,
            vpc=network.vpc,
            vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED),
            security_groups=[network.database],
            port=POSTGRES_PORT,
            storage_encrypted=True,
            storage_encryption_key=key,
            backup=rds.BackupProps(retention=Duration.days(config.backup_days)),
            copy_tags_to_snapshot=True,
            cloudwatch_logs_exports=["postgresql"],
            deletion_protection=config.deletion_protection,
            removal_policy=RemovalPolicy.SNAPSHOT,
            serverless_v2_min_capacity=config.database_min_capacity,
            serverless_v2_max_capacity=config.database_max_capacity,
            serverless_v2_auto_pause_duration=(
                None if config.database_min_capacity else Duration.seconds(config.database_pause_seconds)
            ),
            enable_performance_insights=True,
            performance_insight_encryption_key=key,
            writer=self._instance("Writer"),
            readers=[
                self._instance(f"Reader{number}", reader=True) for number in range(1, config.database_readers + 1)
            ],
        )
        self.cluster.node.add_dependency(log)

    def url(self, role: DatabaseRole) -> str:
        """The connection string of a function with that role, without a password."""
        user = ADMINISTRATOR if role is DatabaseRole.MIGRATE else role.database_user
        trust = urlencode({"sslmode": "verify-full", "sslrootcert": CERTIFICATES_AT})
        return f"postgresql://{user}@{self.cluster.cluster_endpoint.hostname}:{POSTGRES_PORT}/{_DATABASE}?{trust}"

    @property
    def administrator_secret(self) -> str:
        """ARN of the secret that holds the administrator's password."""
        secret = self.cluster.secret
        assert secret is not None  # noqa: S101 - the cluster above asks for one
        return str(secret.secret_arn)

    def user_arn(self, role: DatabaseRole) -> str:
        """What `rds-db:connect` must allow for signing in as that role."""
        resource = self.cluster.cluster_resource_identifier
        return f"arn:{Aws.PARTITION}:rds-db:{Aws.REGION}:{Aws.ACCOUNT_ID}:dbuser:{resource}/{role.database_user}"

    def sign_in(self, role: DatabaseRole) -> iam.PolicyStatement:
        """Permission to reach the database as that role, and as no other."""
        if role is DatabaseRole.MIGRATE:
            return iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[self.administrator_secret])
        return iam.PolicyStatement(actions=["rds-db:connect"], resources=[self.user_arn(role)])

    def _instance(self, name: str, *, reader: bool = False) -> rds.IClusterInstance:
        return rds.ClusterInstance.serverless_v2(
            name,
            ca_certificate=rds.CaCertificate.RDS_CA_RSA2048_G1,
            publicly_accessible=False,
            scale_with_writer=True if reader else None,
        )
