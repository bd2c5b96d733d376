"""`python -m tests.bench chaos`: the system as shipped, in trouble for ten minutes of a scaled clock, and what is left.

Throttles the model, kills the database and functions, loses and doubles messages and ticks, while callers retain; then
prints what the alarms would have seen, and fails where a promise does not hold.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hindsight_aws.model.metric import Metric
from tests.support.chaos import Aftermath, Chaos, strike
from tests.support.packaged import mounted_archives, running_packaged
from tests.support.stack import WARM, world_of

_COLUMNS = ("metric", "most during", "at the end", "written by the functions: most", "sum", "last")


def main(arguments: Sequence[str]) -> int:
    """Runs the storm and prints; 1 when a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench chaos")
    plan = Chaos()
    parser.add_argument("--minutes", type=float, default=plan.minutes, help="of throttling, on the scaled clock")
    parser.add_argument("--speed", type=float, default=plan.speed, help="of the scaled clock, in the wall's")
    parser.add_argument("--retains", type=int, default=plan.retains, help="calls while it lasts")
    parser.add_argument("--restarts", type=int, default=plan.restarts, help="kills of the database")
    parser.add_argument("--seed", type=int, default=plan.seed)
    chosen = Chaos(**vars(parser.parse_args(arguments)))
    with mounted_archives() as mounted, running_packaged(mounted, prewarm=WARM) as stack, world_of(stack) as world:
        after = strike(world, chosen, lambda line: print(line, flush=True))
    print("\n".join(table(after)))
    befell = ", ".join(f"{times} {what}" for what, times in after.befell.items())
    print(f"\n{len(after.acknowledged)} retains acknowledged; {befell}.")
    print(f"Drained {after.recovered_in_s:.1f} s after the model answered again.")
    print("\n".join(after.wrong) or "Every promise holds.")
    return 1 if after.wrong else 0


def table(after: Aftermath) -> list[str]:
    """The alarms' metrics, one a line."""
    lines = [_COLUMNS]
    for metric in Metric:
        seen = [reading.values[metric] for reading in after.readings if metric in reading.values]
        said = after.emitted.get(metric.value, [])
        if seen or said:
            ours = (f"{max(seen):.0f}", f"{seen[-1]:.0f}") if seen else ("", "")
            theirs = (f"{max(said):.4g}", f"{sum(said):.4g}", f"{said[-1]:.4g}") if said else ("", "", "")
            lines.append((metric.value, *ours, *theirs))
    for name in after.readings[-1].queues:
        seen = [reading.queues[name].oldest for reading in after.readings]
        lines.append((f"age of the oldest in {name}, s", f"{max(seen):.0f}", f"{seen[-1]:.0f}", "", "", ""))
        dead = [float(reading.queues[name].dead) for reading in after.readings]
        lines.append((f"dead letters of {name}", f"{max(dead):.0f}", f"{dead[-1]:.0f}", "", "", ""))
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
