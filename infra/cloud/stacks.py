"""The two stacks: what holds data and must survive, and what every release makes anew. Called by infra/app.py."""

from aws_cdk import App, Duration, RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.cloud import acknowledged
from infra.cloud.acknowledged import acknowledge
from infra.cloud.alarm import Names
from infra.cloud.alarms import alarms
from infra.cloud.alerting import Alerting, let_alarms_use
from infra.cloud.api import FunctionUrls, HttpEntrance, Issuer
from infra.cloud.assets import AssetSource
from infra.cloud.budget import Budget
from infra.cloud.config import CloudConfig
from infra.cloud.copies import Copies
from infra.cloud.dashboard import Dashboard
from infra.cloud.database import Database
from infra.cloud.database_access import DatabaseAccess, operators_database
from infra.cloud.edge import Edge, OwnName
from infra.cloud.files import Files
from infra.cloud.functions import Functions, Surroundings
from infra.cloud.migration import Migration
from infra.cloud.network import Network
from infra.cloud.queues import Queues
from infra.cloud.schedules import Schedules
from infra.cloud.signing import signing_of
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
        if config.alarm_email is not None:
            let_alarms_use(self.key)
        self.network = Network(self, "Network", config=config, topology=topology)
        self.files: Files | None = None
        if topology.bucket is not None:
            self.files = Files(self, "Files", bucket=topology.bucket, key=self.key)
            marks = self.files.marks if config.database_pauses else ()
            self.network.allow_files(*self.files.own_objects, *marks)
            acknowledge(self.files, acknowledged.FILES)
        self.signing = signing_of(self, topology)
        self.database = operators_database(config) or self._make_database(config)

    def _make_database(self, config: CloudConfig) -> DatabaseAccess:
        made = Database(self, "Database", config=config, network=self.network, key=self.key)
        if not config.deletion_protection:
            acknowledge(made, acknowledged.UNPROTECTED_DATABASE)
        if config.backup_copy_vault_arn is not None:
            arn = str(made.cluster.cluster_arn)
            copies = Copies(
                self, "Copies", config=config, cluster=arn, key=self.key, vault_arn=config.backup_copy_vault_arn
            )
            acknowledge(copies, dict.fromkeys(copies.wildcards, acknowledged.COPIES))
        return made.access


class StatelessStack(Stack):
    """Functions, what invokes them, and who watches them."""

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
        self._config, self._topology = config, topology
        undelivered = self._undelivered = sqs.Queue(
            self,
            "Undelivered",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        queues = self._queues = Queues(self, "Queues", topology=topology, key=stateful.key)
        around = Surroundings(
            stateful.network, stateful.database, stateful.files, queues, undelivered, stateful.signing
        )
        functions = Functions(self, "Functions", topology=topology, config=config, assets=assets, around=around)
        deployed = self._deployed = functions.deployed
        workflows = self._workflows = Workflows(self, "Workflows", topology=topology, config=config, deployed=deployed)
        Schedules(self, "Schedules", topology=topology, config=config, deployed=deployed, undelivered=undelivered)
        migration = Migration(
            self, "Migration", topology=topology, config=config, deployed=deployed, database=stateful.database
        )
        if stateful.files is not None:
            acknowledge(functions, dict.fromkeys(stateful.files.wildcards, acknowledged.OBJECTS))
        for construct, findings in (
            (functions, acknowledged.FUNCTIONS),
            (queues, acknowledged.QUEUES),
            (undelivered, acknowledged.UNDELIVERED),
            (workflows, acknowledged.WORKFLOWS),
            (migration, acknowledged.MIGRATION),
        ):
            acknowledge(construct, findings)
        self._watch(self._enter(), stateful)

    def _enter(self) -> dict[str, HttpEntrance]:
        """The ways in: an API for keys, one for tokens if an issuer is named, and URLs for calls of minutes."""
        config, deployed = self._config, self._deployed
        is_named = config.domain_name is not None and config.web_acl_arn is None
        entrances = {"Api": HttpEntrance(self, "Http", config=config, deployed=deployed, closed=is_named)}
        acknowledge(entrances["Api"], acknowledged.HTTP)
        if config.domain_name is not None:
            kind = OwnName if config.web_acl_arn is None else Edge
            kind(self, "OwnName", config=config, entrance=entrances["Api"], domain_name=config.domain_name)
        if config.jwt_issuer is not None:
            issuer = Issuer(config.jwt_issuer, config.jwt_audience)
            is_named = config.jwt_domain_name is not None
            entrances["TokenApi"] = HttpEntrance(
                self, "TokenHttp", config=config, deployed=deployed, issuer=issuer, closed=is_named
            )
            if config.jwt_domain_name is not None:
                name, entrance = config.jwt_domain_name, entrances["TokenApi"]
                OwnName(self, "TokenName", config=config, entrance=entrance, domain_name=name)
        if config.function_urls:
            FunctionUrls(self, "Urls", deployed=deployed)
        return entrances

    def _watch(self, entrances: dict[str, HttpEntrance], stateful: StatefulStack) -> None:
        """Alarms, the dashboard, and the budget if one is named."""
        names = Names(
            functions={name: str(each.function.function_name) for name, each in self._deployed.items()},
            queues={name: str(queue.queue_name) for name, queue in self._queues.live.items()},
            dead_letters={name: str(queue.queue_name) for name, queue in self._queues.dead.items()},
            undelivered=str(self._undelivered.queue_name),
            apis={name: str(entrance.http.api_id) for name, entrance in entrances.items()},
            workflows={name: str(each.state_machine_arn) for name, each in self._workflows.machines.items()},
            cluster=stateful.database.cluster,
        )
        table = alarms(self._topology, self._config, names)
        alerting = Alerting(self, "Alarms", config=self._config, alarms=table, key=stateful.key)
        Dashboard(self, "Dashboard", names=names, alarms=alerting.arns)
        if self._config.budget_usd is not None:
            Budget(self, "Budget", config=self._config, amount=self._config.budget_usd)


def add_stacks(app: App, *, config: CloudConfig, topology: Topology, assets: AssetSource) -> list[Stack]:
    """Both stacks of one deployment, the lasting one first."""
    stateful = StatefulStack(app, f"{config.stack_prefix}Data", config=config, topology=topology)
    stateless = StatelessStack(
        app, f"{config.stack_prefix}Service", config=config, topology=topology, assets=assets, stateful=stateful
    )
    return [stateful, stateless]
