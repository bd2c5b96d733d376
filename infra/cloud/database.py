"""Aurora PostgreSQL Serverless v2: encrypted, private, signed in to with IAM tokens. Made by the stateful stack."""

import hashlib
from typing import Final

from aws_cdk import Aws, Duration, Fn, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_rds as rds
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.database_access import ADMINISTRATOR, DatabaseAccess
from infra.cloud.network import POSTGRES_PORT, Network
from infra.cloud.retention import retention

_ENGINE: Final = rds.AuroraPostgresEngineVersion.VER_18_4
_PARAMETERS: Final = {
    "rds.force_ssl": "1",
    # A violated constraint's DETAIL and a statement's parameters would bring stored text into the log.
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}


class Database(Construct):
    """The cluster and its log.

    Applications sign in as their role with a token; only the administrator has a password, which RDS keeps and rotates.
    """

    def __init__(self, scope: Construct, name: str, *, config: CloudConfig, network: Network, key: kms.Key) -> None:
        super().__init__(scope, name)
        self._name = config.database_name
        # Known before the cluster exists, so that its log group can be made first, and new for every stack.
        # A cluster from a snapshot is another one beside the old, until that is gone.
        restored = "" if config.database_snapshot is None else f"-{_digest(config.database_snapshot)}"
        identifier = f"hindsight-{Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))))}{restored}"
        log = logs.LogGroup(
            self,
            "Log",
            log_group_name=f"/aws/rds/cluster/{identifier}/postgresql",
            retention=retention(config.log_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.cluster = self._cluster(identifier, config, network, key)
        self.cluster.node.add_dependency(log)
        if config.database_snapshot is not None:
            self._restore(config.database_snapshot)

    @property
    def access(self) -> DatabaseAccess:
        """What a function needs to reach it."""
        secret = self.cluster.secret
        assert secret is not None  # noqa: S101 - the cluster above asks for one
        return DatabaseAccess(
            host=str(self.cluster.cluster_endpoint.hostname),
            port=POSTGRES_PORT,
            name=self._name,
            resource_id=str(self.cluster.cluster_resource_identifier),
            secret=str(secret.secret_arn),
            cluster=str(self.cluster.cluster_identifier),
            engine=_ENGINE.aurora_postgres_full_version,
        )

    def _cluster(self, identifier: str, config: CloudConfig, network: Network, key: kms.Key) -> rds.DatabaseCluster:
        return rds.DatabaseCluster(
            self,
            "Cluster",
            cluster_identifier=identifier,
            engine=rds.DatabaseClusterEngine.aurora_postgres(version=_ENGINE),
            parameters=_PARAMETERS,
            default_database_name=self._name,
            credentials=rds.Credentials.from_username(ADMINISTRATOR),
            manage_master_user_password=True,
            iam_authentication=True,
            vpc=network.vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=list(network.database_subnets)),
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

    def _restore(self, snapshot: str) -> None:
        """Has the cluster begin as that snapshot, which brings its own names of the database and its administrator."""
        cluster = self.cluster.node.default_child
        cluster.snapshot_identifier = snapshot
        for inherited in ("MasterUsername", "DatabaseName"):
            cluster.add_property_deletion_override(inherited)

    def _instance(self, name: str, *, reader: bool = False) -> rds.IClusterInstance:
        return rds.ClusterInstance.serverless_v2(
            name,
            ca_certificate=rds.CaCertificate.RDS_CA_RSA2048_G1,
            publicly_accessible=False,
            scale_with_writer=True if reader else None,
        )


def _digest(snapshot: str) -> str:
    return hashlib.sha256(snapshot.encode()).hexdigest()[:8]
