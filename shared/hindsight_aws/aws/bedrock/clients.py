"""Makes the two Bedrock clients, once and on first use, with every limit stated.

Called by the adapters beside it; calls boto3, which reads `AWS_ENDPOINT_URL_BEDROCK_RUNTIME` and its agent twin itself.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_bedrock_agent_runtime import AgentsforBedrockRuntimeClient
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient


@dataclass(frozen=True, slots=True)
class BedrockLimits:
    """Seconds a connection and an answer may take, and how many calls may be under way at once.

    `read_timeout_s` must stay below the function's own timeout, so that the function outlives its call.
    """

    connect_timeout_s: float = 3.0
    read_timeout_s: float = 60.0
    connections: int = 10


class BedrockClients:
    """Holds the clients of one region. Safe to share between threads; opens no socket until a call is made.

    `profiles`: application inference profiles by the model that each stands for.
    """

    def __init__(
        self, region: str, limits: BedrockLimits | None = None, profiles: Mapping[str, str] | None = None
    ) -> None:
        self.region = region
        self._profiles = profiles or {}
        self.limits = limits or BedrockLimits()
        self._making = threading.Lock()

    def address(self, model: str) -> str:
        """What the wire names for that model: the profile that stands for it, or itself.

        Prices, capabilities, ledger and provenance go by the model, which a profile's ARN does not say.
        """
        return self._profiles.get(model, model)

    @property
    def runtime(self) -> BedrockRuntimeClient:
        """For Converse and InvokeModel."""
        with self._making:
            return self._runtime

    @property
    def agent_runtime(self) -> AgentsforBedrockRuntimeClient:
        """For Rerank."""
        with self._making:
            return self._agent_runtime

    def close(self) -> None:
        """Closes the connections of the clients that were made; a later call opens new ones."""
        for name in ("_runtime", "_agent_runtime"):
            client = self.__dict__.pop(name, None)
            if client is not None:
                client.close()

    @cached_property
    def _runtime(self) -> BedrockRuntimeClient:
        import boto3

        return boto3.session.Session().client("bedrock-runtime", region_name=self.region, config=self._config())

    @cached_property
    def _agent_runtime(self) -> AgentsforBedrockRuntimeClient:
        import boto3

        return boto3.session.Session().client("bedrock-agent-runtime", region_name=self.region, config=self._config())

    def _config(self) -> Config:
        from botocore.config import Config

        return Config(
            connect_timeout=self.limits.connect_timeout_s,
            read_timeout=self.limits.read_timeout_s,
            max_pool_connections=self.limits.connections,
            retries={"total_max_attempts": 1, "mode": "standard"},
            tcp_keepalive=True,
        )
