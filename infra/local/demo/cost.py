"""Act 8: what all of it cost, from the usage ledger."""

from typing import Final
from uuid import UUID

from infra.local.demo.doors import ledger
from infra.local.demo.expectations import expect
from infra.local.demo.screen import heading, say, table

_TASKS: Final = frozenset({"extract_facts", "consolidate"})


def show_cost(tenant: UUID, database_url: str) -> None:
    """The ledger by task and model, with its sum."""
    spent = ledger(tenant, database_url)
    total = sum(line.usd or 0.0 for line in spent)
    heading(8, f"What it cost: {total * 100:.2f} US cents, from the ledger that every model call writes to")
    rows = [
        [line.task, line.model, str(line.calls), f"{line.input_tokens:,}", f"{line.output_tokens:,}", _usd(line.usd)]
        for line in spent
    ]
    table(["task", "model", "calls", "tokens in", "out", "USD"], rows, right=frozenset({2, 3, 4, 5}))
    say("The rule-based model is priced as Claude Haiku 4.5 would be, so that the order of cost is right.")
    expect({line.task for line in spent} >= _TASKS, "The ledger lacks a task that called a model.")
    expect(all(line.usd is not None for line in spent), "The ledger holds a call without a price.")


def _usd(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.6f}"
