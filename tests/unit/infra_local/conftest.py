"""Coroutine tests of this folder run on asyncio, as the supervisor does."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
