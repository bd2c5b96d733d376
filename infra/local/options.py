"""Everything a local stack can be told; made by the command line, the demo and tests, read by the supervisor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final
from uuid import UUID

from infra.local.bootstrap import Bootstrap, CommandLineBootstrap
from infra.local.jwt_issuer import JwtIssuer
from infra.topology import TOPOLOGY, Topology
from layers.mounted import Mounted

REPOSITORY: Final = Path(__file__).resolve().parents[2]
DEV_TENANT: Final = UUID("5a1f0000-0000-4000-8000-00000000de50")
DEFAULT_PORT: Final = 8888


class LocalModel(StrEnum):
    """What answers Converse on this machine; the value is what HINDSIGHT_LOCAL_MODEL holds."""

    RULES = "rules"
    QWEN = "qwen"

    @property
    def wire_id(self) -> str:
        """The model id under which it is asked, recorded and priced."""
        return {LocalModel.RULES: "hindsight-local-rules", LocalModel.QWEN: "hindsight-local-qwen2.5-coder-1.5b"}[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackOptions:
    """How to run the stack. Seconds throughout; port 0 means a free one.

    `database_url`: a superuser's (or CREATEROLE owner's) URL of a server to use instead of our own.
    `concurrency`: environments per function at most. `prewarm`: functions started before the stack counts as up.
    `redelivery`: after a failed batch (None: exactly as SQS, at the visibility timeout). `visibility`, `schedules`:
    overrides by queue and schedule name; a schedule of 0 never ticks by itself. `environment`: added to every function.
    `local_model` answers text calls unless `bedrock_aws`; `models` is where its file is kept, if it has one, and
    `model_threads` what it computes with. `database_pauses`: as if it did, so
    that the sweep goes by marks in the bucket.  `jwt`: whose tokens a second HTTP API, on the next port, lets in.
    `mounted`: built archives to run instead of this checkout, by a Python that sees nothing else. `snap_start`: the
    API's functions go through a snapshot at their start, as in production.
    """

    state: Path = REPOSITORY / ".local"
    repository: Path = REPOSITORY
    topology: Topology = TOPOLOGY
    port: int = 0
    database_url: str | None = None
    durable: bool = True
    bootstrap: Bootstrap = field(default_factory=CommandLineBootstrap)
    dev_tenant: UUID = DEV_TENANT
    bedrock: bool = True
    bedrock_aws: bool = False
    local_model: LocalModel = LocalModel.RULES
    models: Path = REPOSITORY / ".local" / "models"
    model_threads: int = 1
    jwt: JwtIssuer | None = None
    database_pauses: bool = False
    faults: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 4
    prewarm: tuple[str, ...] = ()
    freeze: bool = True
    idle_seconds: float = 600.0
    plain_runtime: bool = False
    mounted: Mounted | None = None
    snap_start: bool = False
    redelivery: float | None = 1.0
    visibility: Mapping[str, float] = field(default_factory=dict)
    schedules: Mapping[str, float] = field(default_factory=dict)
