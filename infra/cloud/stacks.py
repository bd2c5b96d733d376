"""The two stacks: what holds data and must survive, and what every release makes anew. Called by infra/app.py."""

from aws_cdk import App, Duration, RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.cloud import acknowledged
from infra.cloud.acknowledged import acknowledge
from infra.cloud.api import HttpEntrance
from infra.cloud.assets import AssetSource
from infra.cloud.config import CloudConfig
from infra.cloud.database import Database
from infra.cloud.files import Files
from infra.cloud.functions import Functions, Surroundings
from infra.cloud.migration import Migration
from infra.cloud.network import Network
from infra.cloud.queues import Queues
from infra.cloud.schedules import Schedules
from infra.cloud.workflow import Workflows
from infra.topology import Topology


class StatefulStack(Stack):
    """The key, the network, the database and the bucket. A deployment of code never touches it."""

    def __init__(self, scope: Construct, name: str, *, config: CloudConfig, topology: Topology) -> None:
        super().__init__(
            scope,
            name,
            description="hindsight-aws: key, network, database",
            termination_protection=config.deletion_protection,
            analytics_reporting=False,
        )
        self.key = kms.Key(
            self,
            "Key",
            description="hindsight-aws data",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN,
        )
        self.network = Network(self, "Network", config=config, topology=topology)
        self.files: Files | None = None
        if topology.bucket is not None:
            self.files = Files(self, "Files", bucket=topology.bucket, key=self.key)
            self.network.allow_files(self.files.own_objects)
            acknowledge(self.files, acknowledged.FILES)
        self.database = Database(self, "Database", config=config, network=self.network, key=self.key)
        if not config.deletion_protection:
            acknowledge(self.database, acknowledged.UNPROTECTED_DATABASE)


class StatelessStack(Stack):
    """Functions and what invokes them."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        config: CloudConfig,
        topology: Topology,
        assets: AssetSource,
        stateful: StatefulStack,
    ) -> None:
        super().__init__(
            scope, name, description="hindsight-aws: functions, queues, API, workflow", analytics_reporting=False
        )
        undelivered = sqs.Queue(
            self,
            "Undelivered",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        queues = Queues(self, "Queues", topology=topology, key=stateful.key)
        around = Surroundings(stateful.network, stateful.database, stateful.files, queues, undelivered)
        functions = Functions(self, "Functions", topology=topology, config=config, assets=assets, around=around)
        deployed = functions.deployed
        workflows = Workflows(self, "Workflows", topology=topology, config=config, deployed=deployed)
        http = HttpEntrance(self, "Http", config=config, deployed=deployed)
        Schedules(self, "Schedules", topology=topology, config=config, deployed=deployed, undelivered=undelivered)
        migration = Migration(self, "Migration", topology=topology, config=config, deployed=deployed)
        if stateful.files is not None:
            acknowledge(functions, {stateful.files.wildcard: acknowledged.OBJECTS})
        for construct, findings in (
            (functions, acknowledged.FUNCTIONS),
            (queues, acknowledged.QUEUES),
            (undelivered, acknowledged.UNDELIVERED),
            (workflows, acknowledged.WORKFLOWS),
            (http, acknowledged.HTTP),
            (migration, acknowledged.MIGRATION),
        ):
            acknowledge(construct, findings)


def add_stacks(app: App, *, config: CloudConfig, topology: Topology, assets: AssetSource) -> list[Stack]:
    """Both stacks of one deployment, the lasting one first."""
    stateful = StatefulStack(app, f"{config.stack_prefix}Data", config=config, topology=topology)
    stateless = StatelessStack(
        app, f"{config.stack_prefix}Service", config=config, topology=topology, assets=assets, stateful=stateful
    )
    return [stateful, stateless]
