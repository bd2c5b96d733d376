"""`make bench`: measures a stack of its own over plain HTTP, beside the peer's figures and the goals.

    python -m tests.bench [--only recall retain drain] [--sizes 1000 10000] [--scopes 1 50] [--latency 0 300]

The peer is Hindsight 1.1.0 on two cores. CPU-ms are steadier than wall time on a machine that does other things too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable

from tests.bench import loads
from tests.bench.calls import Client
from tests.bench.system import System, running_system
from tests.bench.table import Row, print_table

_PARTS = ("bulk", "recall", "retain", "drain")


def main(arguments: list[str]) -> int:
    """Runs what was asked for; the answer is the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=list(_PARTS), help="parts to run")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000], help="memories in the bank that recall asks")
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
        for size in chosen.sizes if {"bulk", "recall"} & set(chosen.only) else []:
            await add(loads.bulk(client, size))
            if "recall" in chosen.only:
                await add(loads.recall(client, size, chosen.at_once, chosen.calls))
        for facts in (1, 3) if "retain" in chosen.only else ():
            await add(loads.retain(client, facts, chosen.calls))
        for scopes in chosen.scopes if "drain" in chosen.only else []:
            for latency in chosen.latency:
                await add(loads.consolidation(client, chosen.facts, scopes, latency))
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
