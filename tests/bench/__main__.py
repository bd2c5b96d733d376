"""`make bench`: measures a stack of its own over plain HTTP, beside the peer's figures and the goals.

    python -m tests.bench locomo --data FILE [--ablate] measures what recall finds instead;
    python -m tests.bench cold [--runs 5] [--only recall ingest] measures imports and first requests instead;
    python -m tests.bench chaos [--minutes 10] [--speed 10] strikes at the system as shipped instead; else
    python -m tests.bench [--only recall inside retain drain] [--large] [--scopes 1 50] [--latency 0 300]

The peer is Hindsight 1.1.0 on two cores. CPU-ms are steadier than wall time on a machine that does other things too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tests.bench import loads
from tests.bench.calls import Client
from tests.bench.synthetic import Growth
from tests.bench.system import System, running_system
from tests.bench.table import Row, print_table

Add: TypeAlias = Callable[[Awaitable[list[Row]]], Awaitable[None]]

_PARTS = ("bulk", "recall", "inside", "retain", "drain")
_SMALL, _LARGE = 1_000, (10_000, 50_000)
_CROWD = Growth([f"crowd-{number}" for number in range(500)], 200)


def main(arguments: list[str]) -> int:
    """Runs what was asked for; the answer is the exit status."""
    if arguments[:1] == ["locomo"]:
        from tests.bench import locomo

        return locomo.main(arguments[1:])
    if arguments[:1] == ["cold"]:
        from tests.bench import cold

        return cold.main(arguments[1:])
    if arguments[:1] == ["chaos"]:
        from tests.bench import chaos

        return chaos.main(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=list(_PARTS), help="parts to run")
    parser.add_argument("--large", action="store_true", help="recall in 10,000, in 50,000 and among 500 banks as well")
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 4, 16], help="callers of recall")
    parser.add_argument("--calls", type=int, default=100, help="calls per measurement")
    parser.add_argument("--facts", type=int, default=500, help="facts to consolidate")
    parser.add_argument("--scopes", type=int, nargs="+", default=[50], help="scopes they are spread over")
    parser.add_argument("--latency", type=int, nargs="+", default=[0, 300], help="milliseconds of a model call")
    chosen = parser.parse_args(arguments)
    with running_system() as system:
        rows = asyncio.run(_measure(system, chosen))
    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"\nPeer: Hindsight 1.1.0 on two cores. Load of this machine: {load}; CPU-ms are the system's own.")
    print_table(rows)
    return 0


async def _measure(system: System, chosen: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []

    async def add(work: Awaitable[list[Row]]) -> None:
        begun = time.monotonic()
        found = await work
        rows.extend(found)
        for row in found:
            print(f"{time.monotonic() - begun:6.1f} s  {row.what}: {row.ours}", flush=True)

    async with Client(system) as client:
        if {"bulk", "recall", "inside"} & set(chosen.only):
            await add(loads.bulk(client, _SMALL))
        if {"recall", "inside"} & set(chosen.only):
            await _recalls_of_every_size(client, add, chosen)
        for facts in (1, 3) if "retain" in chosen.only else ():
            await add(loads.retain(client, facts, chosen.calls))
        for scopes in chosen.scopes if "drain" in chosen.only else []:
            for latency in chosen.latency:
                await add(loads.consolidation(client, chosen.facts, scopes, latency))
    return rows


async def _recalls_of_every_size(client: Client, add: Add, chosen: argparse.Namespace) -> None:
    sizes = (_SMALL, *_LARGE) if chosen.large else (_SMALL,)
    await add(loads.growth(client, [Growth([loads.bank_of(size)], size) for size in sizes]))
    for size in sizes:
        await _recalls(client, add, chosen, size)
    if chosen.large:
        await add(loads.growth(client, [_CROWD]))
        await _recalls(client, add, chosen, _SMALL, " among 500 banks")


async def _recalls(client: Client, add: Add, chosen: argparse.Namespace, size: int, among: str = "") -> None:
    """Asks the bank of that size over HTTP and inside the function."""
    if "recall" in chosen.only:
        await add(loads.recall(client, size, chosen.at_once, chosen.calls, among))
    if "inside" in chosen.only:
        await add(loads.inside(client, size, chosen.calls, among))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
