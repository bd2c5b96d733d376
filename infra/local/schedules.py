"""EventBridge schedules on this machine: invokes a function every so many seconds. Started by the supervisor.

The first tick comes at once: the messages of the stack that ran before are gone, so stranded work is looked for early.
"""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from infra.local.functions import Outcome
from infra.local.sqs.service import ACCOUNT, REGION

Invoke = Callable[[bytes], Awaitable[Outcome]]


class Schedule:
    """One schedule; a tick that is still running lets the next one pass."""

    def __init__(self, name: str, every: float, invoke: Invoke) -> None:
        self.name = name
        self._every = every
        self._invoke = invoke
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to tick."""
        self._task = asyncio.get_running_loop().create_task(self._tick())

    async def stop(self) -> None:
        """Stops ticking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def run_once(self) -> Outcome:
        """Invokes the function now."""
        return await self._invoke(encode_tick(self.name, datetime.now(UTC)))

    async def _tick(self) -> None:
        while True:
            await self.run_once()
            await asyncio.sleep(self._every)


def encode_tick(name: str, at: datetime) -> bytes:
    """The event EventBridge Scheduler gives a function that has no input of its own."""
    event = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{name}"],
        "detail": "{}",
    }
    return json.dumps(event).encode()
