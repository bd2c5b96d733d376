"""docs/compatibility.md as the contract tests know it; `python -m tests.contract.compatibility` prints it.

A test fails when the page and the code differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from hindsight_aws.api.documentation.refusals import NOT_SERVED, RETIRED
from tests.contract.reasons import ABSENT, HEAD, NOT_YET, NOTES, OLDER_CLIENTS, OTHERWISE
from tests.contract.test_recorded_answers import REPLAYED
from tests.support.contract import Operation, ours, theirs
from tests.support.differences import DIFFERENCES, UNKNOWN_DIFFERENCES
from tests.support.golden import probes, probes_of_unknown_banks

State = Literal["served", "retired: 410", "not served: 501", "not yet"]


def state_of(operation: Operation) -> State:
    """How we serve an operation of the contract; test_every_operation.py calls each and holds us to it."""
    if operation.id in NOT_YET:
        return "not yet"
    if operation.id in RETIRED:
        return "retired: 410"
    return "not served: 501" if operation.id in NOT_SERVED else "served"


def page() -> str:
    """The page as it must be."""
    return "".join((HEAD, *_operations(), *_differences(), *_besides(), *_absent(), OLDER_CLIENTS))


def _operations() -> Iterator[str]:
    wanted = sorted(theirs().values(), key=lambda operation: (operation.says["tags"], operation.path, operation.method))
    served = sum(state_of(operation) == "served" for operation in wanted)
    yield f"\n## Operations\n\n{len(wanted)} operations, of which {served} are served.\n"
    for (tag,), group in groupby(wanted, key=lambda operation: operation.says["tags"]):
        yield f"\n### {tag}\n\n| operation | request | state | note |\n|---|---|---|---|\n"
        for one in group:
            yield f"| `{one.id}` | `{one.method} {one.path}` | {state_of(one)} | {NOTES.get(one.id, '')} |\n"


def _differences() -> Iterator[str]:
    yield "\n## Where we answer otherwise\n\n| what | there | here | why |\n|---|---|---|---|\n"
    for what, there, here, why in OTHERWISE:
        yield f"| {what} | {there} | {here} | {why} |\n"
    yield (
        f"\nOf {len(REPLAYED)} recorded requests that are made anew, these are answered otherwise; every other one is "
        "answered as recorded (`tests/contract/test_recorded_answers.py`):\n\n"
        "| recording | there | here | why |\n|---|---|---|---|\n"
    )
    for probe in probes():
        if probe.number in DIFFERENCES:
            status, why = DIFFERENCES[probe.number]
            yield f"| {probe.number}: `{probe.method} {_short(probe.path)}` | {probe.status} | {status} | {why} |\n"
    for method, suffix, recorded, _, _ in probes_of_unknown_banks():
        known = UNKNOWN_DIFFERENCES.get(f"{method} {suffix}")
        if known is not None:
            yield f"| unknown bank: `{method} …{suffix}` | {recorded} | {known[0]} | the bank is named |\n"


def _short(path: str) -> str:
    bare = path.partition("?")[0].replace("/v1/default/banks/", "…/")
    return bare if len(bare) <= 70 else f"{bare[:70]}…"


def _besides() -> Iterator[str]:
    yield "\n## Besides the contract\n\n| operation | request | what it does |\n|---|---|---|\n"
    for name in sorted(ours().keys() - theirs().keys()):
        one = ours()[name]
        yield f"| `{name}` | `{one.method} {one.path}` | {one.says['description']} |\n"


def _absent() -> Iterator[str]:
    yield "\n## In Hindsight, not here\n\n| what | why |\n|---|---|\n"
    for what, why in ABSENT:
        yield f"| {what} | {why} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
