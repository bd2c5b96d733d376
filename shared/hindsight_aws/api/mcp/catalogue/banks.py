"""Tools for banks, their labels and their operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_aws.api.mcp.arguments import anything, flag, maybe, number, text
from hindsight_aws.api.mcp.tool import BANK, BANKS, Arguments, Effect, RouteCall, Tool, asking, at, same
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.ports.model_gateway import JsonObject

SKIPPED: Final = number(0, "How many to pass over.", least=0)


def most(default: int, *, least: int = 0, most: int | None = None) -> JsonObject:
    """How many entries a list may have."""
    return number(default, "How many at most.", least=least, most=most)


def _update(given: Arguments) -> Sequence[RouteCall]:
    """Name and mission in one call; settings, when there are any, first, as they are what may be refused.

    The bank is looked for before, since a change of its settings would make it.
    """
    described: JsonObject = {name: given[name] for name in ("name", "mission") if name in given}
    for name, value in described.items():
        if not isinstance(value, str):
            raise InvalidRequest(f"'{name}' must be a string")
    bank, settings = at(BANK, given), given.get("config_updates")
    change = RouteCall("PATCH", bank, body=described)
    if settings is None:
        return [change]
    return [
        RouteCall("PATCH", bank, body={}),
        RouteCall("PATCH", f"{bank}/config", body={"updates": settings}),
        change,
    ]


TOOLS: Final = (
    Tool(
        "list_banks",
        "Lists the memory banks that you may use, the last written first.",
        Effect.READS,
        asking("GET", BANKS, query={"q": "query", **same("limit offset")}),
        {"query": maybe("string", "Part of an id or a name."), "limit": most(100), "offset": SKIPPED},
        of_many=True,
        needs_bank=False,
    ),
    Tool(
        "create_bank",
        "Makes a memory bank, or changes the name and mission of one that is there.",
        Effect.SETS,
        asking("PUT", BANK, body=same("name mission")),
        {
            "bank_id": text("The id of the bank."),
            "name": maybe("string", "What people call it."),
            "mission": maybe("string", "What its answers are for."),
        },
        ("bank_id",),
        of_many=True,
    ),
    Tool(
        "get_bank",
        "Tells a bank's name, mission and disposition.",
        Effect.READS,
        asking("GET", f"{BANK}/profile"),
    ),
    Tool(
        "get_bank_stats",
        "Counts what a bank holds, and the work that waits or failed.",
        Effect.READS,
        asking("GET", f"{BANK}/stats"),
        of_many=True,
    ),
    Tool(
        "update_bank",
        "Changes a bank's name, mission or settings; what is left out stays.",
        Effect.SETS,
        _update,
        {
            "name": maybe("string", "What people call it."),
            "mission": maybe("string", "What its answers are for."),
            "config_updates": maybe(anything(), "Settings by name; null takes one back to the default."),
        },
    ),
    Tool(
        "delete_bank",
        "Deletes a bank with everything in it, for good.",
        Effect.DESTROYS,
        asking("DELETE", BANK),
    ),
    Tool(
        "list_tags",
        "Lists the labels in use, the most used first.",
        Effect.READS,
        asking("GET", f"{BANK}/tags", query=same("q limit offset")),
        {"q": maybe("string", "Part of a label; `*` stands for anything."), "limit": most(100), "offset": SKIPPED},
    ),
    Tool(
        "list_operations",
        "Lists what was asked of the memory and how it went, the newest first.",
        Effect.READS,
        asking("GET", f"{BANK}/operations", query=same("status type limit offset exclude_parents")),
        {
            "status": maybe("string", "Only those that are so, such as `pending` or `failed`."),
            "type": maybe("string", "Only those of this kind, such as `retain`."),
            "limit": most(20, least=1, most=100),
            "offset": SKIPPED,
            "exclude_parents": flag(False, "Whether to leave out those that were split up."),
        },
    ),
    Tool(
        "get_operation",
        "Tells how an operation stands, and its outcome.",
        Effect.READS,
        asking("GET", f"{BANK}/operations/{{operation_id}}"),
        {"operation_id": text("As a tool answered it.")},
        ("operation_id",),
    ),
    Tool(
        "cancel_operation",
        "Stops an operation that has not ended; what it stored stays.",
        Effect.SETS,
        asking("DELETE", f"{BANK}/operations/{{operation_id}}"),
        {"operation_id": text("As a tool answered it.")},
        ("operation_id",),
    ),
)
