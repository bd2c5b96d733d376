"""How a function reaches the database and signs in, whether we made it (database.py) or the operator brings it."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from infra.cloud.config import CloudConfig
from infra.topology import DatabaseRole
from layers.product.build import CERTIFICATES_AT

ADMINISTRATOR: Final = "hindsight_admin"
"""Who owns a database of ours. In the operator's, the secret names the user, and this name is only a placeholder."""


@dataclass(frozen=True, slots=True)
class DatabaseAccess:
    """Where a database is, what IAM calls it, and where its administrator's password is kept.

    `cluster`: the identifier under which CloudWatch knows it, when it is ours to watch. `secret_key`: the key of the
    secret, when that is not the account's default one. `engine`: its version, where we choose it.
    """

    host: str
    port: int
    name: str
    resource_id: str
    secret: str
    secret_key: str | None = None
    cluster: str | None = None
    engine: str = ""

    def url(self, role: DatabaseRole) -> str:
        """The connection string of a function with that role, without a password."""
        user = ADMINISTRATOR if role is DatabaseRole.MIGRATE else role.database_user
        trust = urlencode({"sslmode": "verify-full", "sslrootcert": CERTIFICATES_AT})
        return f"postgresql://{user}@{self.host}:{self.port}/{self.name}?{trust}"

    def user_arn(self, role: DatabaseRole) -> str:
        """What `rds-db:connect` must allow for signing in as that role."""
        user = f"{self.resource_id}/{role.database_user}"
        return f"arn:{Aws.PARTITION}:rds-db:{Aws.REGION}:{Aws.ACCOUNT_ID}:dbuser:{user}"

    def sign_in(self, role: DatabaseRole) -> list[iam.PolicyStatement]:
        """Permission to reach the database as that role, and as no other."""
        if role is not DatabaseRole.MIGRATE:
            return [iam.PolicyStatement(actions=["rds-db:connect"], resources=[self.user_arn(role)])]
        statements = [iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[self.secret])]
        if self.secret_key is not None:
            statements.append(
                iam.PolicyStatement(
                    actions=["kms:Decrypt"],
                    resources=[self.secret_key],
                    conditions={"StringEquals": {"kms:ViaService": f"secretsmanager.{Aws.REGION}.amazonaws.com"}},
                )
            )
        return statements


def operators_database(config: CloudConfig) -> DatabaseAccess | None:
    """The database that the configuration names, whose facts it has checked; none when one is to be made."""
    host, resource, secret = config.database_host, config.database_resource_id, config.database_secret_arn
    if host is None or resource is None or secret is None:
        return None
    return DatabaseAccess(
        host, config.database_port, config.database_name, resource, secret, config.database_secret_key_arn
    )
