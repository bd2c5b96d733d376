"""The measurements: bulk load, recall, retain, consolidation. Each gives rows for the table."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from tests.bench.calls import Client, Timed
from tests.bench.corpus import Corpus
from tests.bench.recall_inside import FILTERS, measure, reading
from tests.bench.synthetic import Growth, grow
from tests.bench.table import Row

_RETAINED: Final = "retained"
_WARM_UP: Final = 10
_PER_REQUEST: Final = 100
_LOOK_EVERY_S: Final = 0.1
_DRAINED_WITHIN_S: Final = 600.0
_PEER_RECALL: Final = {
    (1_000, 1): "142 ms, 146 CPU-ms", (1_000, 16): "2,100 ms, 8/s", (10_000, 1): "235 ms, 262 CPU-ms",
    (10_000, 16): "3,300 ms", (50_000, 1): "322 ms, 377 CPU-ms", (50_000, 16): "3,400 ms",
}  # fmt: skip
_GOAL_INSIDE: Final = {1_000: "≤ 15 ms", 50_000: "≤ 60 ms"}
_GOAL_RECALL: Final = {(1_000, 1): "≤ 50 ms", (1_000, 4): "≥ 40/s", (10_000, 1): "≤ 70 ms", (50_000, 1): "≤ 110 ms"}
_PEER_DRAIN: Final = {(50, 0): "86 s, 496 calls", (50, 300): "108 s, 496 calls", (1, 0): "69 s, 110 calls"}
_GOAL_DRAIN: Final = {(50, 300): "≤ 15 s, ≤ 110 calls"}


async def bulk(client: Client, count: int) -> list[Row]:
    """Fills a bank without a text model: one document and 100 items a request, two at once."""
    bank = _RETAINED
    await client.make_bank(bank, retain_extraction_mode="chunks", enable_observations=False)
    corpus = Corpus(count)
    items = [_item(corpus.fact(), number) for number in range(count)]
    batches = [items[at : at + _PER_REQUEST] for at in range(0, count, _PER_REQUEST)]
    took = await client.timed([partial(client.retain, bank, batch) for batch in batches], at_once=2)
    own, models = took.cpu_ms(count)
    ours = f"{count / took.wall:,.0f}/s, {own:.1f} CPU-ms + {models:.1f} embedding"
    return [Row(f"bulk retain of {count:,}", ours, "41/s", "≥ 60/s, ≤ 12 CPU-ms + embedding")]


async def growth(client: Client, growths: Sequence[Growth]) -> list[Row]:
    """Makes banks out of the one that was filled by `bulk`."""
    begun = time.perf_counter()
    grow(client.system.superuser_url, _RETAINED, growths)
    made = sum(len(growth.names) * growth.rows for growth in growths)
    return [Row(f"{made:,} facts made by SQL, with indexes", f"{time.perf_counter() - begun:.0f} s")]


async def recall(client: Client, size: int, at_once: Sequence[int], calls: int, among: str = "") -> list[Row]:
    """Questions to a bank of that size, so many at once."""
    bank, corpus = bank_of(size), Corpus(99)
    for callers in (1, *at_once):  # every environment that will be needed is started before the clock is
        await client.timed([partial(client.recall, bank, corpus.question()) for _ in range(_WARM_UP)], callers)
    rows = []
    for callers in at_once:
        jobs = [partial(client.recall, bank, corpus.question()) for _ in range(calls)]
        took = await client.timed(jobs, callers)
        title = f"recall in {size:,}{among}, {callers} at once"
        rows.append(
            Row(title, _latency(took), _PEER_RECALL.get((size, callers), ""), _GOAL_RECALL.get((size, callers), ""))
        )
    return rows


async def inside(client: Client, size: int, calls: int, among: str = "") -> list[Row]:
    """Questions to a bank of that size inside the function, one after the other."""
    rows = []
    with reading(client.system) as store:
        for told, tags in FILTERS.items():
            took = measure(client.system, store, bank_of(size), calls, tags)
            ours = (
                f"{took.p50:.0f} ms (p95 {took.p95:.0f}), {took.cpu:.0f} CPU-ms + {took.database:.0f} database, "
                f"{took.results} results of {took.kib} KiB"
            )
            goal = "" if told else _GOAL_INSIDE.get(size, "")
            rows.append(Row(f"inside recall in {size:,}{among}{told}", ours, "", goal))
    return rows


def bank_of(size: int) -> str:
    """The bank of so many facts, made by `growth`."""
    return f"grown-{size}"


async def retain(client: Client, facts: int, calls: int) -> list[Row]:
    """Single retains of a text with so many facts, extraction and embedding included, the model answering at once."""
    bank, corpus = f"retain-{facts}", Corpus(facts)
    await client.make_bank(bank, enable_observations=False)
    await client.model_latency(0)
    items = [_item(" ".join(corpus.fact() for _ in range(facts)), number) for number in range(calls + _WARM_UP)]
    jobs = [partial(client.retain, bank, [item]) for item in items]
    await client.timed(jobs[:_WARM_UP])
    took = await client.timed(jobs[_WARM_UP:])
    peer, goal = {1: ("", "≤ 60 ms"), 3: ("188 ms, 200 CPU-ms", "≤ 120 ms")}.get(facts, ("", ""))
    return [Row(f"retain of {facts} fact{'s' if facts > 1 else ''}", _latency(took), peer, goal)]


async def consolidation(client: Client, facts: int, scopes: int, latency_ms: int) -> list[Row]:
    """Facts spread over scopes, from the call that starts the work until none is pending."""
    bank = f"drain-{scopes}-{latency_ms}"
    await client.make_bank(bank, retain_extraction_mode="chunks", enable_auto_consolidation=False)
    told = Corpus(5).facts(facts, repeated=0.3)
    items = [_item(text, number) | {"tags": [f"user:{number % scopes}"]} for number, text in enumerate(told)]
    for at in range(0, facts, _PER_REQUEST):
        await client.retain(bank, items[at : at + _PER_REQUEST])
    await client.model_latency(latency_ms)
    took = await client.timed([partial(_drained, client, bank)])
    calls = await client.model_calls()
    stats = await client.call("GET", f"/{bank}/stats")
    await client.model_latency(0)
    own, models = took.cpu_ms(facts)
    ours = f"{took.wall:.1f} s, {calls} calls, {own:.0f} CPU-ms/fact + {models:.0f} models"
    if stats["failed_consolidation"]:
        ours += f", {stats['failed_consolidation']} FAILED"
    title = f"{facts} facts in {scopes} scopes, {latency_ms} ms"
    return [Row(title, ours, _PEER_DRAIN.get((scopes, latency_ms), ""), _GOAL_DRAIN.get((scopes, latency_ms), ""))]


async def _drained(client: Client, bank: str) -> None:
    await client.call("POST", f"/{bank}/consolidate", {})
    give_up_at = time.monotonic() + _DRAINED_WITHIN_S
    while (await client.call("GET", f"/{bank}/stats"))["pending_consolidation"]:
        if time.monotonic() > give_up_at:
            raise RuntimeError(f"{bank} was not consolidated within {_DRAINED_WITHIN_S:.0f} s")
        await asyncio.sleep(_LOOK_EVERY_S)


def _item(text: str, number: int) -> dict[str, object]:
    return {"content": text, "timestamp": f"2030-01-{number % 28 + 1:02}T08:00:00Z", "tags": [f"user:{number % 20}"]}


def _latency(took: Timed) -> str:
    own, models = took.cpu_ms(len(took.each))
    rate = len(took.each) / took.wall
    return f"{took.p50_ms:.0f} ms (p95 {took.p95_ms:.0f}), {rate:.0f}/s, {own:.0f} CPU-ms + {models:.0f} models"
