"""The composition root: builds each part of a process when it is first asked for; it alone knows concrete adapters.

Called by the doors in functions/ and by the CLI.  A process handles one event at a time, so nothing here locks.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING

from hindsight_aws.ports.clock import Clock, SystemClock
from hindsight_aws.settings import Settings, load_settings
from hindsight_aws.store.postgres import PostgresStore

if TYPE_CHECKING:
    from hindsight_aws.aws.bedrock import BedrockClients
    from hindsight_aws.consolidate.ports import ConsolidationPorts
    from hindsight_aws.curation.ports import CurationPorts
    from hindsight_aws.files.ports import ConversionPorts, FilesPorts
    from hindsight_aws.links.ports import LinkPorts
    from hindsight_aws.ports.files import FileStore
    from hindsight_aws.ports.model_gateway import Embedder, Reranker, TextModel
    from hindsight_aws.ports.wakeups import Wakeups
    from hindsight_aws.reflect.ports import ReflectDoor, ReflectPorts
    from hindsight_aws.retain.ports import RetainPorts


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
        return cls(settings)

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
    def reranker(self) -> Reranker | None:
        """The rerank model, or None where none is configured."""
        model = self.settings.hindsight_api_reranker_model
        if model is None:
            return None
        from hindsight_aws.aws.bedrock import BedrockReranker

        return BedrockReranker(self._bedrock, model)

    @cached_property
    def wakeups(self) -> Wakeups:
        """Messages to workers."""
        from hindsight_aws.aws.sqs import SqsWakeups

        return SqsWakeups(self.settings)

    @cached_property
    def retain_ports(self) -> RetainPorts:
        """All that retain needs."""
        from hindsight_aws.retain.ports import RetainPorts

        return RetainPorts(self.store, self.embedder, self.text_model, self.wakeups, self.clock, self.settings)

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
        return ReflectPorts(self.store, self.text_model, searches, self.settings)

    @cached_property
    def reflect_door(self) -> ReflectDoor:
        """All that asking for reflect runs needs."""
        from hindsight_aws.aws.stepfunctions import StepFunctionsWorkflows
        from hindsight_aws.reflect.ports import ReflectDoor

        arn = self.settings.hindsight_workflow_reflect_arn
        return ReflectDoor(self.store, StepFunctionsWorkflows(self.settings.aws_region, arn), self.settings)

    @cached_property
    def _bedrock(self) -> BedrockClients:
        from hindsight_aws.aws.bedrock import BedrockClients, BedrockLimits

        limits = BedrockLimits(
            read_timeout_s=self.settings.hindsight_api_llm_timeout,
            connections=self.settings.hindsight_api_embeddings_parallelism + 2,
        )
        return BedrockClients(self.settings.aws_region, limits)
