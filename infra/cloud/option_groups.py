"""The options about where a deployment lives, how it is entered and who is told of trouble, each group with its rules.

Joined by config.py. Values that hold several are JSON, or text with commas; nothing here looks anything up.
"""

import json
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

RetentionDays = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3653
]
_POSTGRES_PORT: Final = 5432
_HOST_NAME: Final = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$"
_CERTIFICATE: Final = r"^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[A-Za-z0-9-]+$"
_ADDRESS: Final = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"


def number_in_text(value: object) -> object:
    """A whole number that a context gives as text; anything else as it is."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def json_in_text(value: object) -> object:
    """What a context gives as JSON in a text; anything else as it is."""
    return json.loads(value) if isinstance(value, str) else value


def several_in_text(value: object) -> object:
    """A list that a context gives as JSON, or as words between commas; anything else as it is."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [word.strip() for word in value.split(",") if word.strip()]


Days = Annotated[RetentionDays, BeforeValidator(number_in_text)]
Several = Annotated[tuple[str, ...], BeforeValidator(several_in_text)]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]
_Subnet = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]+$")]
_RouteTable = Annotated[str, Field(pattern=r"^rtb-[0-9a-f]+$")]


class Options(BaseModel):
    """A group of options. Their names in the context are these in camelCase."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_default=True,
        allow_inf_nan=False,
    )


class NetworkOptions(Options):
    """Where the functions live and how they reach AWS."""

    network: Literal["endpoints", "nat-instance", "existing"] = Field(
        "endpoints",
        description="How functions reach AWS: interface endpoints, a NAT instance, or what your own VPC has.",
    )
    vpc_id: str | None = Field(None, pattern=r"^vpc-[0-9a-f]{8,17}$", description="Your own VPC, instead of a new one.")
    subnet_ids: Annotated[tuple[_Subnet, ...], BeforeValidator(several_in_text)] = Field(
        (), description="Private subnets of your VPC, two or more, each in another zone."
    )
    route_table_ids: Annotated[tuple[_RouteTable, ...], BeforeValidator(several_in_text)] = Field(
        (), description="The route table of each of these subnets, for the way to S3."
    )
    endpoint_zones: int = Field(
        1, ge=1, le=2, description="Availability zones with interface endpoints or a NAT instance; each costs."
    )
    flow_log_days: Days = Field(7, description="How long the network's flow log is kept.")

    @model_validator(mode="after")
    def _network_is_whole(self) -> Self:
        if self.vpc_id is None:
            if self.subnet_ids or self.route_table_ids:
                raise ValueError("subnetIds and routeTableIds belong to a vpcId")
            if self.network == "existing":
                raise ValueError("network=existing needs a vpcId: a new network has only what is made in it")
            return self
        if len(self.subnet_ids) < 2:
            raise ValueError("vpcId needs subnetIds: two or more, each in another zone")
        if len(set(self.subnet_ids)) < len(self.subnet_ids):
            raise ValueError("subnetIds names one twice")
        if self.network == "nat-instance":
            raise ValueError(
                "a NAT instance is made in a new network only: with vpcId say network=endpoints or existing"
            )
        if self.network == "endpoints" and len(self.route_table_ids) != len(self.subnet_ids):
            raise ValueError("vpcId with network=endpoints needs routeTableIds, one for each of subnetIds")
        return self


class DatabaseOptions(Options):
    """The database: how large a new one is, or where yours is."""

    database_min_capacity: float = Field(0, ge=0, le=256, multiple_of=0.5, description="ACU; 0 pauses when idle.")
    database_max_capacity: float = Field(4, ge=1, le=256, multiple_of=0.5, description="ACU.")
    database_pause_seconds: int = Field(600, ge=300, le=24 * 3600, description="Idle time before a pause.")
    database_readers: int = Field(0, ge=0, le=15, description="Replicas that stand by for a failover.")
    database_storage_gib: int = Field(50, ge=1, description="Stored data beyond which an alarm tells.")
    database_snapshot: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9:/-]{1,255}$",
        description="Snapshot (name or ARN) that a new database begins as; keep it for as long as the stack lives.",
    )
    backup_days: int = Field(7, ge=1, le=35, description="How far back the database can be restored.")
    backup_copy_vault_arn: str | None = Field(
        None,
        pattern=r"^arn:aws[a-z-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[A-Za-z0-9_-]{2,50}$",
        description="Backup vault of yours in another region, into which the database is copied daily.",
    )
    deletion_protection: bool = Field(False, description="Refuse to delete the database and its stack.")

    database_host: str | None = Field(None, pattern=_HOST_NAME, description="Your own database, instead of a new one.")
    database_port: int = Field(_POSTGRES_PORT, ge=1, le=65535, description="Port of your own database.")
    database_name: str = Field(
        "hindsight", pattern=r"^[a-z_][a-z0-9_]{0,62}$", description="Database in the cluster; yours must exist."
    )
    database_resource_id: str | None = Field(
        None, pattern=r"^(cluster|db)-[A-Z0-9]+$", description="Resource id of your database, for IAM sign-in."
    )
    database_security_group: str | None = Field(
        None, pattern=r"^sg-[0-9a-f]{8,17}$", description="Security group of your database; a rule is added to it."
    )
    database_secret_arn: str | None = Field(
        None,
        pattern=r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:.+$",
        description="Secret with username and password of whoever may migrate your database.",
    )
    database_secret_key_arn: str | None = Field(
        None,
        pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/.+$",
        description="Key of that secret, if it is not the account's default.",
    )

    @model_validator(mode="after")
    def _database_is_whole(self) -> Self:
        if self.database_max_capacity < self.database_min_capacity:
            raise ValueError("databaseMaxCapacity must be at least databaseMinCapacity")
        facts = {
            "databaseResourceId": self.database_resource_id,
            "databaseSecurityGroup": self.database_security_group,
            "databaseSecretArn": self.database_secret_arn,
        }
        if self.database_host is None:
            stray = [name for name, value in facts.items() if value is not None]
            if stray:
                raise ValueError(f"{', '.join(stray)} belong to a databaseHost")
            return self
        if self.database_snapshot is not None:
            raise ValueError("databaseSnapshot is for a database that is made here, not for a databaseHost")
        if self.backup_copy_vault_arn is not None:
            raise ValueError("backupCopyVaultArn is for a database that is made here, not for a databaseHost")
        missing = [name for name, value in facts.items() if value is None]
        if missing:
            raise ValueError(f"databaseHost needs {', '.join(missing)} too")
        return self


class EntranceOptions(Options):
    """How the API is entered."""

    throttle_rate: float = Field(50, gt=0, description="Requests a second over all clients.")
    throttle_burst: int = Field(100, gt=0, description="Requests at once over all clients.")
    function_urls: bool = Field(True, description="A URL beside the API for calls of minutes.")
    domain_name: str | None = Field(None, pattern=_HOST_NAME, description="Name of yours under which the API answers.")
    certificate_arn: str | None = Field(
        None, pattern=_CERTIFICATE, description="Certificate of domainName; with webAclArn one of us-east-1."
    )
    hosted_zone_id: str | None = Field(
        None,
        pattern=r"^Z[A-Z0-9]{5,31}$",
        description="Route 53 zone to put domainName into; else do it yourself.",
    )
    web_acl_arn: str | None = Field(
        None,
        pattern=r"^arn:aws[a-z-]*:wafv2:[a-z0-9-]+:\d{12}:(global|regional)/webacl/.+$",
        description="WAF rules of CloudFront, which then stands before the API.",
    )
    jwt_issuer: str | None = Field(
        None,
        pattern=r"^https://\S+$",
        description="Issuer whose tokens a second API accepts.",
    )
    jwt_audience: Several = Field((), description="Audiences (or client ids) a token must name one of.")
    jwt_domain_name: str | None = Field(
        None, pattern=_HOST_NAME, description="Name of yours for the second API; certificateArn must cover it too."
    )

    @model_validator(mode="after")
    def _entrance_is_whole(self) -> Self:
        if (self.domain_name is None) != (self.certificate_arn is None):
            raise ValueError("domainName and certificateArn need each other")
        if self.hosted_zone_id is not None and self.domain_name is None:
            raise ValueError("hostedZoneId belongs to a domainName")
        if (self.jwt_issuer is None) != (not self.jwt_audience):
            raise ValueError("jwtIssuer and jwtAudience need each other")
        if self.jwt_domain_name is not None and (self.jwt_issuer is None or self.certificate_arn is None):
            raise ValueError("jwtDomainName needs jwtIssuer, and a certificateArn that covers it")
        if self.jwt_domain_name is not None and self.jwt_domain_name == self.domain_name:
            raise ValueError("two APIs cannot have one name: jwtDomainName must be another than domainName")
        self._check_firewall()
        return self

    def _check_firewall(self) -> None:
        if self.web_acl_arn is None:
            return
        if ":global/" not in self.web_acl_arn:
            raise ValueError("an HTTP API takes no web ACL: webAclArn must be one of CloudFront (us-east-1, global)")
        if self.certificate_arn is None or ":acm:us-east-1:" not in self.certificate_arn:
            raise ValueError("webAclArn needs domainName, and a certificateArn of us-east-1 as CloudFront does")
        if self.function_urls:
            raise ValueError("function URLs lead past the web ACL: with webAclArn set functionUrls=false")
        if self.jwt_issuer is not None:
            raise ValueError("CloudFront stands before one API: webAclArn and jwtIssuer cannot be had together")


class WatchOptions(Options):
    """Who is told of trouble, and what is kept of it."""

    alarm_email: str | None = Field(None, pattern=_ADDRESS, description="Who is told of alarms; must confirm once.")
    alarm_topic_arn: str | None = Field(
        None, pattern=r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]+$", description="Your topic for alarms."
    )
    budget_usd: float | None = Field(
        None, gt=0, description="Monthly budget of the whole account; told at 80 % and when 100 % is forecast."
    )
    budget_email: str | None = Field(None, pattern=_ADDRESS, description="Who is told; alarmEmail if not given.")
    log_days: Days = Field(30, description="How long every other log is kept.")

    @model_validator(mode="after")
    def _somebody_is_told(self) -> Self:
        if self.budget_usd is not None and not self.budget_address:
            raise ValueError("budgetUsd needs a budgetEmail or an alarmEmail")
        if self.budget_usd is None and self.budget_email is not None:
            raise ValueError("budgetEmail belongs to a budgetUsd")
        return self

    @property
    def budget_address(self) -> str | None:
        """Who is told when money runs out."""
        return self.budget_email or self.alarm_email
