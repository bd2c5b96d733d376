"""The composition root: builds each part of a process when it is first asked for, out of concrete adapters.

Called by the doors in functions/; the command line, for an operator, is a root of its own.  A process handles one event
at a time, so nothing here locks.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final

from hindsight_aws.aws.invocation import Watching, watch_of
from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.settings import Settings, load_settings
from hindsight_aws.telemetry.logs import write_logs

if TYPE_CHECKING:
    from hindsight_aws.aws.bedrock.models import BedrockModels
    from hindsight_aws.consolidate.ports import ConsolidationPorts
    from hindsight_aws.curation.ports import CurationPorts
    from hindsight_aws.documents.ports import DocumentPorts
    from hindsight_aws.erasure.ports import ErasurePorts
    from hindsight_aws.files.ports import ConversionPorts, FilesPorts
    from hindsight_aws.knowledge.ports import SearchPorts
    from hindsight_aws.links.ports import LinkPorts
    from hindsight_aws.mental_models.ports import PagesDoor
    from hindsight_aws.mental_models.refresh.keeper import PageKeeper
    from hindsight_aws.ports.files import FileStore
    from hindsight_aws.ports.marks import SweepMarks, WorkMark
    from hindsight_aws.ports.model_gateway import Embedder, Reranker, TextModel
    from hindsight_aws.ports.screening import ContentGuard
    from hindsight_aws.ports.wakeups import Wakeups
    from hindsight_aws.reembedding.ports import ReembeddingPorts
    from hindsight_aws.reflect.ports import ReflectDoor, ReflectPorts
    from hindsight_aws.retain.ports import RetainPorts
    from hindsight_aws.store.postgres import PostgresStore
    from hindsight_aws.transfer.ports import TransferPorts
    from hindsight_aws.usage.requests import RequestMeter
    from hindsight_aws.webhooks.ports import DeliverPorts, SendPorts

_STORE: Final = "hindsight_aws.store.postgres"
_FIRST_EVENTS_NEED: Final = (
    "boto3",
    *(f"hindsight_aws.aws.{name}" for name in ("bedrock.models", "sqs", "stepfunctions")),
    *(f"hindsight_aws.store.{name}" for name in ("banks", "documents", "operations", "recall", "reflect", "usage")),
)


class Runtime:
    """What a process is made of.  An adapter is imported when something needs it: a cold start pays for that alone."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock: Clock = SystemClock()

    @classmethod
    def from_environment(cls) -> Runtime:
        """The runtime of this process.  Raises WrongSetting naming the variable."""
        settings = load_settings()
        write_logs(settings.hindsight_log_level, as_json=settings.hindsight_environment == "cloud")
        if settings.hindsight_database_url:
            import_module(_STORE)  # while the process starts: its first event would wait for it
        runtime = cls(settings)
        if settings.hindsight_content_guard:
            _ = runtime.content_guard  # one that is not there stops the process now, not its first retain
        return runtime

    @staticmethod
    def import_for_first_events() -> None:
        """Imports what first events would wait for: for a snapshot, from which environments start with it at hand."""
        for name in _FIRST_EVENTS_NEED:
            import_module(name)

    def prepare_for_snapshot(self) -> None:
        """Imports what first events would wait for, and lets go of connections, clients and what they remember."""
        self.import_for_first_events()
        self.renew()

    def renew(self) -> None:
        """Forgets every part: each is made anew when it is asked for, with a socket, token and clock of its own."""
        store = self.__dict__.get("store")
        if store is not None:
            store.close()
        for name in self.__dict__.keys() - {"settings", "clock"}:
            del self.__dict__[name]

    def watched(self, function: str) -> Watching:
        """Makes a handler of the function's events one of which all is told: log lines, metrics and spans."""
        return watch_of(self.settings).over(function)

    @cached_property
    def store(self) -> PostgresStore:
        """The database, as this function's own role."""
        from hindsight_aws.aws.database_login import login
        from hindsight_aws.store.postgres import PostgresStore

        return PostgresStore(
            login(self.settings),
            self.settings.hindsight_database_connect_seconds,
            self.settings.hindsight_statement_timeout_ms,
            self.work_mark,
        )

    @cached_property
    def work_mark(self) -> WorkMark | None:
        """What says that work may be committed here; None where no database pauses."""
        if not self.settings.hindsight_marks_set_in:
            return None
        from hindsight_aws.aws.marks import S3WorkMark

        return S3WorkMark(self.settings, self.clock)

    @cached_property
    def sweep_marks(self) -> SweepMarks | None:
        """What tells the sweep whether the database need be asked; None where it is asked at each tick."""
        if not self.settings.hindsight_marks_read_in:
            return None
        from hindsight_aws.aws.marks import S3SweepMarks

        return S3SweepMarks(self.settings)

    @cached_property
    def requests(self) -> RequestMeter:
        """What counts the requests of tenants that may make only so many."""
        from hindsight_aws.usage.requests import RequestMeter

        return RequestMeter(self.store, self.clock)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
        return self._models.embedder()

    @cached_property
    def text_model(self) -> TextModel | None:
        """The text model, or None where the settings say there is none."""
        return None if self.settings.hindsight_api_llm_provider == "none" else self._models.text_model()

    @cached_property
    def probed_model(self) -> TextModel | None:
        """The text model as its health is asked about, which waits for no answer long; None where there is none."""
        if self.settings.hindsight_api_llm_provider == "none":
            return None
        from hindsight_aws.banks.model_health import LONGEST_ANSWER_S

        return self._models.impatient_text_model(LONGEST_ANSWER_S)

    @cached_property
    def reranker(self) -> Reranker | None:
        """The rerank model, or None where none is configured."""
        model = self.settings.hindsight_api_reranker_model
        return None if model is None else self._models.reranker(model)

    @cached_property
    def wakeups(self) -> Wakeups:
        """Messages to workers."""
        from hindsight_aws.aws.sqs import SqsWakeups

        return SqsWakeups(self.settings)

    @cached_property
    def retain_ports(self) -> RetainPorts:
        """All that retain needs."""
        from hindsight_aws.retain.ports import RetainPorts

        return RetainPorts(
            self.store, self.embedder, self.text_model, self.wakeups, self.clock, self.settings, self.content_guard
        )

    @cached_property
    def content_guard(self) -> ContentGuard | None:
        """The deployment's own guard, if it names one.  Raises WrongSetting where that is none."""
        named = self.settings.hindsight_content_guard
        if not named:
            return None
        from hindsight_aws.screening.named_guard import content_guard_of

        return content_guard_of(named)

    @cached_property
    def file_store(self) -> FileStore:
        """The bucket of uploaded files."""
        from hindsight_aws.aws.s3 import S3Files

        return S3Files(self.settings)

    @cached_property
    def files_ports(self) -> FilesPorts:
        """All that taking files in needs."""
        from hindsight_aws.files.ports import FilesPorts

        return FilesPorts(self.retain_ports, self.file_store)

    @cached_property
    def conversion_ports(self) -> ConversionPorts:
        """All that converting files needs."""
        from hindsight_aws.converters import SubprocessConverter
        from hindsight_aws.files.ports import ConversionPorts

        converter = SubprocessConverter(self.settings.hindsight_convert_memory_mb)
        return ConversionPorts(self.retain_ports, self.file_store, converter)

    @cached_property
    def search_ports(self) -> SearchPorts:
        """All that searching the knowledge base needs."""
        from hindsight_aws.knowledge.ports import SearchPorts

        return SearchPorts(self.store, self.embedder, self.settings, self.clock)

    @cached_property
    def transfer_ports(self) -> TransferPorts:
        """All that transfers need."""
        from hindsight_aws.transfer.ports import TransferPorts

        return TransferPorts(self.store, self.file_store, self.embedder, self.wakeups, self.clock, self.settings)

    @cached_property
    def reembedding_ports(self) -> ReembeddingPorts:
        """All that embedding banks anew needs."""
        from hindsight_aws.reembedding.ports import ReembeddingPorts

        return ReembeddingPorts(self.store, self.embedder, self.wakeups, self.clock, self.settings)

    @cached_property
    def consolidation_ports(self) -> ConsolidationPorts:
        """All that consolidation needs."""
        from hindsight_aws.consolidate.ports import ConsolidationPorts

        return ConsolidationPorts(self.store, self.embedder, self.text_model, self.wakeups, self.clock, self.settings)

    @cached_property
    def curation_ports(self) -> CurationPorts:
        """All that corrections by hand need."""
        from hindsight_aws.curation.ports import CurationPorts

        return CurationPorts(self.store, self.embedder, self.wakeups, self.settings)

    @cached_property
    def document_ports(self) -> DocumentPorts:
        """All that changing documents needs."""
        from hindsight_aws.documents.ports import DocumentPorts

        return DocumentPorts(self.store, self.wakeups, self.settings)

    @cached_property
    def erasure_ports(self) -> ErasurePorts:
        """All that erasures need; who has no bucket or key leaves stored files and signatures to the sweep."""
        from hindsight_aws.aws.signing import KmsSigner
        from hindsight_aws.erasure.ports import ErasurePorts

        files = self.file_store if self.settings.hindsight_bucket else None
        signer = KmsSigner(self.settings) if self.settings.hindsight_receipt_key else None
        return ErasurePorts(self.store, self.wakeups, self.settings, files, signer)

    @cached_property
    def link_ports(self) -> LinkPorts:
        """All that link maintenance needs."""
        from hindsight_aws.links.ports import LinkPorts

        return LinkPorts(self.store, self.wakeups, self.settings)

    @cached_property
    def reflect_ports(self) -> ReflectPorts:
        """All that the steps of a reflect run need."""
        from hindsight_aws.reflect.ports import ReflectPorts
        from hindsight_aws.reflect.tools.searches import RecallSearches

        searches = RecallSearches(self.store, self.embedder, self.reranker, self.settings, self.clock)
        return ReflectPorts(self.store, self.text_model, searches, self.settings, self.page_keeper, self.clock)

    @cached_property
    def page_keeper(self) -> PageKeeper:
        """The pages that refreshes of mental models write."""
        from hindsight_aws.mental_models.ports import PagePorts
        from hindsight_aws.mental_models.refresh.keeper import PageKeeper

        return PageKeeper(PagePorts(self.store, self.embedder, self.settings))

    @cached_property
    def reflect_door(self) -> ReflectDoor:
        """All that asking for reflect runs needs."""
        from hindsight_aws.aws.stepfunctions import StepFunctionsWorkflows
        from hindsight_aws.reflect.ports import ReflectDoor

        arn = self.settings.hindsight_workflow_reflect_arn
        workflows = StepFunctionsWorkflows(self.settings.aws_region, arn)
        return ReflectDoor(self.store, workflows, self.settings, self.clock)

    @cached_property
    def pages_door(self) -> PagesDoor:
        """All that asking for refreshes of mental models needs."""
        from hindsight_aws.mental_models.ports import PagesDoor

        return PagesDoor(self.store, self.reflect_door.workflows, self.clock, self.settings)

    @cached_property
    def deliver_ports(self) -> DeliverPorts:
        """All that deliveries to webhooks need, but the internet."""
        from hindsight_aws.aws.webhook_messages import SqsWebhookMessages
        from hindsight_aws.webhooks.ports import DeliverPorts

        return DeliverPorts(self.store, self.wakeups, SqsWebhookMessages(self.settings), self.clock, self.settings)

    @cached_property
    def send_ports(self) -> SendPorts:
        """All that requests to webhooks need: the internet, and no database."""
        from hindsight_aws.aws.webhook_messages import SqsWebhookMessages
        from hindsight_aws.egress import GuardedOutbound
        from hindsight_aws.webhooks.check import rules_of
        from hindsight_aws.webhooks.ports import SendPorts

        outbound = GuardedOutbound(rules_of(self.settings))
        return SendPorts(outbound, SqsWebhookMessages(self.settings), self.clock)

    @cached_property
    def _models(self) -> BedrockModels:
        from hindsight_aws.aws.bedrock.models import BedrockModels

        return BedrockModels(self.settings)
