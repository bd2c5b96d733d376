"""What the routes need of the world.  runtime.py fulfils it, building each part when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hindsight_aws.ports.clock import Clock
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.wakeups import Wakeups
from hindsight_aws.settings import Settings

if TYPE_CHECKING:
    from hindsight_aws.consolidate.ports import ConsolidationPorts
    from hindsight_aws.curation.ports import CurationPorts
    from hindsight_aws.documents.ports import DocumentPorts
    from hindsight_aws.erasure.ports import ErasurePorts
    from hindsight_aws.files.ports import FilesPorts
    from hindsight_aws.knowledge.ports import SearchPorts
    from hindsight_aws.mental_models.ports import PagesDoor
    from hindsight_aws.ports.files import FileStore
    from hindsight_aws.ports.model_gateway import Embedder, Reranker, TextModel
    from hindsight_aws.reembedding.ports import ReembeddingPorts
    from hindsight_aws.reflect.ports import ReflectDoor
    from hindsight_aws.retain.ports import RetainPorts
    from hindsight_aws.transfer.ports import TransferPorts
    from hindsight_aws.usage.requests import RequestMeter


class Services(Protocol):
    """The running process, to a route."""

    @property
    def settings(self) -> Settings:
        """The process's settings."""
        ...

    @property
    def store(self) -> Store:
        """The database."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    @property
    def requests(self) -> RequestMeter:
        """What counts the requests of tenants that may make only so many."""
        ...

    @property
    def embedder(self) -> Embedder:
        """The embedding model of recall."""
        ...

    @property
    def reranker(self) -> Reranker | None:
        """The rerank model of recall, or None."""
        ...

    @property
    def probed_model(self) -> TextModel | None:
        """The text model as its health is asked about, or None."""
        ...

    @property
    def reflect_door(self) -> ReflectDoor:
        """All that asking for reflect runs needs."""
        ...

    @property
    def pages_door(self) -> PagesDoor:
        """All that asking for refreshes of mental models needs."""
        ...

    @property
    def consolidation_ports(self) -> ConsolidationPorts:
        """All that consolidation needs."""
        ...

    @property
    def wakeups(self) -> Wakeups:
        """Messages to workers."""
        ...

    @property
    def retain_ports(self) -> RetainPorts:
        """All that retain needs."""
        ...

    @property
    def files_ports(self) -> FilesPorts:
        """All that taking files in needs."""
        ...

    @property
    def document_ports(self) -> DocumentPorts:
        """All that changing documents needs."""
        ...

    @property
    def curation_ports(self) -> CurationPorts:
        """All that corrections by hand need."""
        ...

    @property
    def erasure_ports(self) -> ErasurePorts:
        """All that erasures need."""
        ...

    @property
    def file_store(self) -> FileStore:
        """The bucket."""
        ...

    @property
    def reembedding_ports(self) -> ReembeddingPorts:
        """All that asking for banks to be embedded anew needs."""
        ...

    @property
    def search_ports(self) -> SearchPorts:
        """All that searching the knowledge base needs."""
        ...

    @property
    def transfer_ports(self) -> TransferPorts:
        """All that asking for transfers needs."""
        ...
