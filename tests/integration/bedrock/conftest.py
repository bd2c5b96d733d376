"""One endpoint process for these tests, quiet before each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hindsight_aws.aws.bedrock import BedrockClients, BedrockLimits
from tests.support.bedrock import Bedrock, running_bedrock


@pytest.fixture(scope="package")
def endpoint() -> Iterator[Bedrock]:
    """The process."""
    with running_bedrock() as bedrock:
        yield bedrock


@pytest.fixture
def bedrock(endpoint: Bedrock, monkeypatch: pytest.MonkeyPatch) -> Bedrock:
    """The process without scripts, faults or counts, and this process pointed at it."""
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    endpoint.clear()
    return endpoint


@pytest.fixture
def clients(bedrock: Bedrock) -> Iterator[BedrockClients]:
    """Clients of that process."""
    made = BedrockClients("eu-central-1", BedrockLimits(connect_timeout_s=30, read_timeout_s=60))
    yield made
    made.close()
