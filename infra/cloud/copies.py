"""Daily snapshots of the database, copied into a vault of the operator's in another region. Made by the stateful stack.

The vault there, and its key, are the operator's: what is to outlive a region cannot be made by a stack of that region.
"""

from typing import Final

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_backup as backup
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.permissions import service_of_this_account

_AT: Final = events.Schedule.cron(minute="0", hour="3")


class Copies(Construct):
    """A plan of AWS Backup for the cluster, with a role that can do no more than that."""

    def __init__(
        self, scope: Construct, name: str, *, config: CloudConfig, cluster: str, key: kms.IKey, vault_arn: str
    ) -> None:
        super().__init__(scope, name)
        self._cluster, self._key, self._there = cluster, key, vault_arn
        self._snapshots = [_snapshots(Aws.REGION), _snapshots(region_of(vault_arn))]
        self._keys_there = f"arn:{Aws.PARTITION}:kms:{region_of(vault_arn)}:{Aws.ACCOUNT_ID}:key/*"
        kept = Duration.days(config.backup_days)
        vault = backup.BackupVault(self, "Vault", encryption_key=key, removal_policy=RemovalPolicy.RETAIN)
        copied = backup.BackupPlanCopyActionProps(
            destination_backup_vault=backup.BackupVault.from_backup_vault_arn(self, "There", vault_arn),
            delete_after=kept,
        )
        plan = backup.BackupPlan(self, "Plan", backup_vault=vault)
        plan.add_rule(
            backup.BackupPlanRule(
                rule_name="Daily", schedule_expression=_AT, delete_after=kept, copy_actions=[copied], backup_vault=vault
            )
        )
        backup.BackupSelection(
            self,
            "Selection",
            backup_plan=plan,
            resources=[backup.BackupResource.from_arn(cluster)],
            role=self._role(),
            disable_default_backup_policy=True,
        )

    @property
    def wildcards(self) -> tuple[str, ...]:
        """The findings about resources whose names AWS Backup makes up."""
        return tuple(
            f"AwsSolutions::AwsSolutions-IAM5[Resource::{_shown(each)}]"
            for each in ("*", *self._snapshots, self._keys_there)
        )

    def _role(self) -> iam.Role:
        """What AWS's own policy for backups gives, of it what one cluster takes."""
        role = iam.Role(self, "Role", assumed_by=service_of_this_account("backup.amazonaws.com"))
        of_snapshots = ["rds:AddTagsToResource", "rds:CopyDBClusterSnapshot", "rds:DeleteDBClusterSnapshot"]
        of_both = ["rds:CreateDBClusterSnapshot", "rds:ListTagsForResource"]
        looks = ["rds:DescribeDBClusters", "rds:DescribeDBClusterSnapshots", "tag:GetResources"]
        for_aws = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
        keys = [self._key.key_arn, self._keys_there]
        for statement in (
            iam.PolicyStatement(actions=looks, resources=["*"]),
            iam.PolicyStatement(actions=of_both, resources=[self._cluster, *self._snapshots]),
            iam.PolicyStatement(actions=[*of_snapshots, "backup:CopyFromBackupVault"], resources=self._snapshots),
            iam.PolicyStatement(
                actions=["backup:CopyIntoBackupVault", "backup:DescribeBackupVault"], resources=[self._there]
            ),
            iam.PolicyStatement(actions=["kms:DescribeKey"], resources=keys),
            iam.PolicyStatement(actions=["kms:CreateGrant"], resources=keys, conditions=for_aws),
        ):
            role.add_to_policy(statement)
        return role


def region_of(vault_arn: str) -> str:
    """The region that a vault's ARN names."""
    return vault_arn.split(":")[3]


def _snapshots(region: str) -> str:
    return f"arn:{Aws.PARTITION}:rds:{region}:{Aws.ACCOUNT_ID}:cluster-snapshot:awsbackup:*"


def _shown(arn: str) -> str:
    """An ARN as findings spell it."""
    shown = arn
    for token, name in ((Aws.PARTITION, "Partition"), (Aws.REGION, "Region"), (Aws.ACCOUNT_ID, "AccountId")):
        shown = shown.replace(token, f"<AWS::{name}>")
    return shown
