"""The official Python client, for tests that use it as its users do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from hindsight_client import Hindsight


@contextmanager
def official_client(base_url: str) -> Iterator[Hindsight]:
    """One client in an event loop that is closed afterwards: the client's sync calls leave theirs open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    client = Hindsight(base_url=base_url)
    yield client
    client.close()  # type: ignore[no-untyped-call]  # the client's own
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    asyncio.set_event_loop(None)
