"""The table's functions, all by one pattern: log group, role, code and layers, alias, queue trigger."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration, RemovalPolicy, Size
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_lambda_destinations import SqsDestination
from constructs import Construct

from infra.cloud.assets import AssetSource
from infra.cloud.config import CloudConfig
from infra.cloud.database_access import DatabaseAccess
from infra.cloud.files import Files
from infra.cloud.loops import functions_in_a_loop
from infra.cloud.naming import logical
from infra.cloud.network import Network
from infra.cloud.permissions import function_role, model_statements
from infra.cloud.queues import Queues
from infra.cloud.retention import retention
from infra.cloud.signing import Signing
from infra.topology import (
    MARKS_READ_SETTING,
    MARKS_SET_SETTING,
    DatabaseRole,
    Function,
    QueueTrigger,
    ScheduleTrigger,
    Topology,
)

ALIAS: Final = "live"
"""What every caller names: moving it is the deployment, moving it back the rollback."""

_RUNTIME: Final = lambda_.Runtime.PYTHON_3_13


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all functions share: the network, database and bucket they live with, the queues, and where failures go."""

    network: Network
    database: DatabaseAccess
    files: Files | None
    queues: Queues
    undelivered: sqs.Queue
    signing: Signing | None = None


@dataclass(frozen=True, slots=True)
class Deployed:
    """A function of the table and what became of it."""

    entry: Function
    function: lambda_.Function
    alias: lambda_.Alias
    role: iam.Role


class Functions(Construct):
    """Every function of the table, by name, in `deployed`."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        topology: Topology,
        config: CloudConfig,
        assets: AssetSource,
        around: Surroundings,
    ) -> None:
        super().__init__(scope, name)
        self._config = config
        self._assets = assets
        self._around = around
        self._layers = self._make_layers(topology)
        self._loops = functions_in_a_loop(topology)
        self.deployed: Mapping[str, Deployed] = {entry.name: self._deploy(entry) for entry in topology.functions}
        for entry, trigger in topology.each(QueueTrigger):
            self._consume(self.deployed[entry.name], trigger)

    def _make_layers(self, topology: Topology) -> dict[str, lambda_.LayerVersion]:
        names = sorted({layer for entry in topology.functions for layer in entry.layers})
        return {
            layer: lambda_.LayerVersion(
                self,
                f"{logical(layer)}Layer",
                code=lambda_.Code.from_asset(str(self._assets.layer(layer))),
                compatible_runtimes=[_RUNTIME],
                compatible_architectures=[lambda_.Architecture.ARM_64],
                removal_policy=RemovalPolicy.RETAIN,
            )
            for layer in names
        }

    def _deploy(self, entry: Function) -> Deployed:
        place = Construct(self, logical(entry.name))
        log = logs.LogGroup(
            place, "Log", retention=retention(self._config.log_days), removal_policy=RemovalPolicy.DESTROY
        )
        role = function_role(place, "Role", log=log, statements=self._statements(entry), in_network=not entry.internet)
        function = lambda_.Function(
            place,
            "Function",
            description=f"hindsight-aws {entry.name}",
            runtime=_RUNTIME,
            architecture=lambda_.Architecture.ARM_64,
            handler=entry.handler,
            code=lambda_.Code.from_asset(str(self._assets.task_root(entry.directory))),
            layers=[self._layers[layer] for layer in entry.layers],
            role=role,
            timeout=Duration.seconds(entry.timeout),
            memory_size=entry.memory,
            ephemeral_storage_size=Size.mebibytes(entry.disk),
            reserved_concurrent_executions=self._reserved(entry),
            environment=self._environment(entry),
            log_group=log,
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE,
            vpc=None if entry.internet else self._around.network.vpc,
            vpc_subnets=None if entry.internet else self._subnets(),
            security_groups=None if entry.internet else self._groups(entry),
            snap_start=self._snapshot(entry),
            # Rows bound the work, not rounds: what waits out an outage wakes itself more than sixteen times.
            recursive_loop=lambda_.RecursiveLoop.ALLOW if entry.name in self._loops else None,
            # A version of a deployment that failed must go: Lambda would not publish the same code a second time.
            current_version_options=lambda_.VersionOptions(removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE),
        )
        return Deployed(entry, function, self._alias(place, entry, function), role)

    def _alias(self, place: Construct, entry: Function, function: lambda_.Function) -> lambda_.Alias:
        is_scheduled = any(isinstance(trigger, ScheduleTrigger) for trigger in entry.triggers)
        return lambda_.Alias(
            place,
            "Alias",
            alias_name=ALIAS,
            version=function.current_version,
            # The next tick is a schedule's retry.
            retry_attempts=0 if is_scheduled else None,
            on_failure=SqsDestination(self._around.undelivered) if is_scheduled else None,
        )

    def _statements(self, entry: Function) -> list[iam.PolicyStatement]:
        role = entry.database_role
        return [
            *(() if role is None else self._around.database.sign_in(role)),
            *self._around.queues.statements(entry),
            *(self._around.files.statements(entry) if self._around.files is not None else ()),
            *(self._around.files.mark_statements(entry) if self._around.files and self._config.database_pauses else ()),
            *(self._around.signing.statements(entry) if self._around.signing is not None else ()),
            *model_statements(entry, self._config),
        ]

    def _subnets(self) -> ec2.SubnetSelection:
        return ec2.SubnetSelection(subnets=list(self._around.network.function_subnets))

    def _groups(self, entry: Function) -> list[ec2.ISecurityGroup]:
        network = self._around.network
        uses_s3 = entry.files or self._marks(entry)
        return [network.functions, network.files] if uses_s3 else [network.functions]

    def _marks(self, entry: Function) -> dict[str, str]:
        """What tells a function where the marks of work are, which only a database that pauses needs."""
        files = self._around.files
        if files is None or not self._config.database_pauses:
            return {}
        named = {MARKS_SET_SETTING: entry.marks_work, MARKS_READ_SETTING: entry.reads_marks}
        return {setting: files.bucket_name for setting, is_told in named.items() if is_told}

    def _snapshot(self, entry: Function) -> lambda_.SnapStartConf | None:
        """Snapshots are paid for while nobody calls too, so only where somebody waits and the profile wants it."""
        is_wanted = entry.is_api and self._config.snap_start
        return lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if is_wanted else None

    def _reserved(self, entry: Function) -> int | None:
        """The table's concurrency; a queue's consumer is bounded at its mapping, as throttling would fail messages."""
        is_consumer = any(isinstance(trigger, QueueTrigger) for trigger in entry.triggers)
        return entry.max_concurrency if self._config.reserve_concurrency and not is_consumer else None

    def _environment(self, entry: Function) -> dict[str, str]:
        around = self._around
        variables = {
            "HINDSIGHT_ENVIRONMENT": "cloud",
            "POWERTOOLS_SERVICE_NAME": entry.name,
            **self._config.settings,
        }
        if entry.database_role is not None:
            variables["HINDSIGHT_DATABASE_URL"] = around.database.url(entry.database_role)
        if entry.database_role is DatabaseRole.MIGRATE:
            variables["HINDSIGHT_DATABASE_SECRET_ARN"] = around.database.secret
        if entry.files and around.files is not None:
            variables[around.files.setting] = around.files.bucket_name
        if entry.models:
            variables |= self._config.profiles_setting
        variables |= self._marks(entry)
        for queue in entry.sends_to:
            variables[around.queues.setting(queue)] = around.queues.url(queue)
        if around.signing is not None:
            variables |= around.signing.variables(entry)
        if entry.is_api and self._config.jwt_issuer is not None:
            variables["HINDSIGHT_API_JWT_ISSUER"] = self._config.jwt_issuer
        return variables | dict(entry.environment)

    def _consume(self, consumer: Deployed, trigger: QueueTrigger) -> None:
        mapping = lambda_.EventSourceMapping(
            consumer.alias,
            f"{logical(trigger.queue)}Mapping",
            target=consumer.alias,
            event_source_arn=self._around.queues.live[trigger.queue].queue_arn,
            batch_size=trigger.batch_size,
            max_batching_window=Duration.seconds(trigger.window) if trigger.window else None,
            max_concurrency=trigger.max_concurrency,
            report_batch_item_failures=True,
        )
        mapping.node.add_dependency(consumer.role)
