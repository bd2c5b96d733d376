"""The composition root: builds each part of a process when it is first asked for; it alone knows concrete adapters.

Called by the doors in functions/ and by the CLI.  A process handles one event at a time, so nothing here locks.
"""

from __future__ import annotations

import logging
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final

from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.settings import Settings, WrongSetting, load_settings
from hindsight_aws.store.postgres import PostgresStore

if TYPE_CHECKING:
    from hindsight_aws.aws.bedrock import BedrockClients
    from hindsight_aws.consolidate.ports import ConsolidationPorts
    from hindsight_aws.curation.ports import CurationPorts
    from hindsight_aws.documents.ports import DocumentPorts
    from hindsight_aws.files.ports import ConversionPorts, FilesPorts
    from hindsight_aws.links.ports import LinkPorts
    from hindsight_aws.mental_models.keeper import PageKeeper
    from hindsight_aws.mental_models.ports import ModelsDoor
    from hindsight_aws.ports.files import FileStore
    from hindsight_aws.ports.model_gateway import Embedder, Reranker, TextModel
    from hindsight_aws.ports.screening import ContentGuard
    from hindsight_aws.ports.wakeups import Wakeups
    from hindsight_aws.reflect.ports import ReflectDoor, ReflectPorts
    from hindsight_aws.retain.ports import RetainPorts
    from hindsight_aws.webhooks.ports import DeliverPorts, SendPorts


_FIRST_EVENTS_NEED: Final = (
    "boto3",
    "hindsight_aws.aws.bedrock",
    "hindsight_aws.aws.sqs",
    "hindsight_aws.aws.stepfunctions",
    *(f"hindsight_aws.store.{name}" for name in ("banks", "documents", "operations", "recall", "reflect", "usage")),
)


def content_guard_of(named: str) -> ContentGuard:
    """The guard whose class is named `module:Class`.  Raises WrongSetting where there is none, or it is no guard."""
    module, _, name = named.partition(":")
    try:
        guard: ContentGuard = getattr(import_module(module), name)()
    except (ImportError, AttributeError, TypeError) as fault:
        raise WrongSetting(f"HINDSIGHT_CONTENT_GUARD: {named} cannot be made: {fault}") from fault
    if not callable(getattr(guard, "find", None)):
        raise WrongSetting(f"HINDSIGHT_CONTENT_GUARD: {named} has no method `find`")
    return guard


class Runtime:
    """What a process is made of.  An adapter is imported when something needs it: a cold start pays for that alone."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock: Clock = SystemClock()

    @classmethod
    def from_environment(cls) -> Runtime:
        """The runtime of this process.  Raises WrongSetting naming the variable."""
        settings = load_settings()
        logging.getLogger().setLevel(settings.hindsight_log_level)
        runtime = cls(settings)
        if settings.hindsight_content_guard:
            _ = runtime.content_guard  # one that is not there stops the process now, not its first retain
        return runtime

    @staticmethod
    def import_for_first_events() -> None:
        """Imports what first events would wait for: for a snapshot, from which environments start with it at hand."""
        for name in _FIRST_EVENTS_NEED:
            import_module(name)

    @cached_property
    def store(self) -> PostgresStore:
        """The database, as this function's own role."""
        from hindsight_aws.aws.database_login import login

        return PostgresStore(
            login(self.settings),
            self.settings.hindsight_database_connect_seconds,
            self.settings.hindsight_statement_timeout_ms,
        )

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
        from hindsight_aws.aws.bedrock import BedrockEmbedder

        return BedrockEmbedder(
            self._bedrock,
            self.settings.hindsight_api_embeddings_model,
            in_flight=self.settings.hindsight_api_embeddings_parallelism,
        )

    @cached_property
    def text_model(self) -> TextModel | None:
        """The text model, or None where the settings say there is none."""
        if self.settings.hindsight_api_llm_provider == "none":
            return None
        from hindsight_aws.aws.bedrock import BedrockTextModel

        return BedrockTextModel(self._bedrock)

    @cached_property
    def probed_model(self) -> TextModel | None:
        """The text model as its health is asked about, which waits for no answer long; None where there is none."""
        if self.settings.hindsight_api_llm_provider == "none":
            return None
        from hindsight_aws.aws.bedrock import BedrockClients, BedrockLimits, BedrockTextModel
        from hindsight_aws.banks.model_health import LONGEST_ANSWER_S

        return BedrockTextModel(
            BedrockClients(self.settings.aws_region, BedrockLimits(read_timeout_s=LONGEST_ANSWER_S))
        )

    @cached_property
    def reranker(self) -> Reranker | None:
        """The rerank model, or None where none is configured."""
        model = self.settings.hindsight_api_reranker_model
        if model is None:
            return None
        from hindsight_aws.aws.bedrock import BedrockReranker

        region = self.settings.hindsight_rerank_region
        return BedrockReranker(self._bedrock if region is None else self._bedrock_in(region), model)

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
        return content_guard_of(named) if named else None

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
    def link_ports(self) -> LinkPorts:
        """All that link maintenance needs."""
        from hindsight_aws.links.ports import LinkPorts

        return LinkPorts(self.store, self.wakeups, self.settings)

    @cached_property
    def reflect_ports(self) -> ReflectPorts:
        """All that the steps of a reflect run need."""
        from hindsight_aws.reflect.ports import ReflectPorts
        from hindsight_aws.reflect.searches import RecallSearches

        searches = RecallSearches(self.store, self.embedder, self.reranker, self.settings, self.clock)
        return ReflectPorts(self.store, self.text_model, searches, self.settings, self.page_keeper)

    @cached_property
    def page_keeper(self) -> PageKeeper:
        """The pages that refreshes of mental models write."""
        from hindsight_aws.mental_models.keeper import PageKeeper
        from hindsight_aws.mental_models.ports import PagePorts

        return PageKeeper(PagePorts(self.store, self.embedder, self.settings))

    @cached_property
    def reflect_door(self) -> ReflectDoor:
        """All that asking for reflect runs needs."""
        from hindsight_aws.aws.stepfunctions import StepFunctionsWorkflows
        from hindsight_aws.reflect.ports import ReflectDoor

        arn = self.settings.hindsight_workflow_reflect_arn
        return ReflectDoor(self.store, StepFunctionsWorkflows(self.settings.aws_region, arn), self.settings)

    @cached_property
    def models_door(self) -> ModelsDoor:
        """All that asking for refreshes of mental models needs."""
        from hindsight_aws.mental_models.ports import ModelsDoor

        return ModelsDoor(self.store, self.reflect_door.workflows, self.clock, self.settings)

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
    def _bedrock(self) -> BedrockClients:
        return self._bedrock_in(self.settings.aws_region)

    def _bedrock_in(self, region: str) -> BedrockClients:
        from hindsight_aws.aws.bedrock import BedrockClients, BedrockLimits

        limits = BedrockLimits(
            read_timeout_s=self.settings.hindsight_api_llm_timeout,
            connections=self.settings.hindsight_api_embeddings_parallelism + 2,
        )
        return BedrockClients(region, limits)
