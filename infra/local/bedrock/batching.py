"""Runs the embedding model in one thread and lets calls that arrive while it works share its next run.

Called by `titan`; calls `minilm`. Nothing waits for company: an idle model starts at once on what is there.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from infra.local.bedrock.minilm import Vectors

_BATCH = 32
_Waiting: TypeAlias = "tuple[str, asyncio.AbstractEventLoop, asyncio.Future[Vectors]]"


class Batcher:
    """Embeds single texts, together where they come together. `threads` is what one run of the model may use."""

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._waiting: queue.SimpleQueue[_Waiting] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="minilm", daemon=True)

    def start(self) -> None:
        """Begins to load the model; calls that come before it is there wait for it."""
        self._thread.start()

    async def vector(self, text: str) -> Vectors:
        """The vector of one text."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Vectors] = loop.create_future()
        self._waiting.put((text, loop, answer))
        return await answer

    def _work(self) -> None:
        from infra.local.bedrock.minilm import MiniLM

        model = MiniLM(self._threads)
        while True:
            batch = [self._waiting.get()]
            while len(batch) < _BATCH:
                try:
                    batch.append(self._waiting.get_nowait())
                except queue.Empty:
                    break
            vectors = model.encode([text for text, _, _ in batch])
            batch[0][1].call_soon_threadsafe(_deliver, batch, vectors)


def _deliver(batch: list[_Waiting], vectors: Vectors) -> None:
    for (_, _, answer), vector in zip(batch, vectors, strict=True):
        if not answer.done():
            answer.set_result(vector)
