"""What the command line accepts.  Called by main; names each command's function without importing what it needs."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from hindsight_aws.cli import commands

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    _Commands = _SubParsersAction[ArgumentParser]

_SPANS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parser() -> ArgumentParser:
    """The parser; the chosen command's function is `run` of what it parses."""
    root = ArgumentParser(prog="hindsight-aws", description="Agent memory as serverless functions in your own account.")
    groups = root.add_subparsers(required=True, metavar="command")
    _tenants(groups.add_parser("tenant", help="make and list tenants").add_subparsers(required=True, metavar="action"))
    _keys(
        groups.add_parser("key", help="make, list and revoke API keys").add_subparsers(required=True, metavar="action")
    )
    _add(groups, "migrate", commands.migrate_schema, "bring the database to the newest schema")
    dev = _add(groups, "dev-tenant", commands.make_dev_tenant, "make the tenant of a local stack, and a key for it")
    dev.add_argument("--tenant", type=UUID, required=True, metavar="UUID")
    checks = _add(
        groups, "doctor", commands.run_doctor, "check settings, database, queues and models", needs_database=False
    )
    checks.add_argument("--admin-database-url", default="", help="also check that every migration was applied")
    _add(
        groups, "model-contract", commands.print_model_contract, "print every model task as JSON", needs_database=False
    )
    _add(groups, "settings", commands.print_settings, "print docs/settings.md as the code has it", needs_database=False)
    return root


def _tenants(actions: _Commands) -> None:
    made = _add(actions, "create", commands.create_tenant, "make a tenant and print its id")
    made.add_argument("name")
    _add(actions, "list", commands.list_tenants, "list all tenants")


def _keys(actions: _Commands) -> None:
    made = _add(actions, "create", commands.create_key, "make a key and print its token, once")
    made.add_argument("tenant", type=UUID)
    made.add_argument("--name", default="key", help="who will hold it; stands in operations and in the ledger")
    made.add_argument("--permissions", type=_words, default=("read", "write"), help="of read,write,admin")
    made.add_argument("--banks", type=_words, default=("*",), help="patterns of bank ids, such as 'user-*,shared'")
    made.add_argument("--forced-tags", help="a tag group as JSON that every read and write must pass")
    made.add_argument("--fact-types", type=_words, help="of world,experience,observation")
    made.add_argument("--exact-scope", action="append", metavar="TAGS", help="comma-separated tags; may be given often")
    made.add_argument("--expires", type=_expiry, metavar="WHEN", help="an ISO date, or 12h, 30d, 8w from now")
    listed = _add(actions, "list", commands.list_keys, "list a tenant's keys")
    listed.add_argument("tenant", type=UUID)
    ended = _add(actions, "revoke", commands.revoke_key, "end a key at once")
    ended.add_argument("tenant", type=UUID)
    ended.add_argument("key", type=UUID)


def _add(
    group: _Commands, name: str, run: Callable[..., int], says: str, *, needs_database: bool = True
) -> ArgumentParser:
    command = group.add_parser(name, help=says, description=says)
    command.set_defaults(run=run)
    if needs_database:
        command.add_argument("--database-url", default="", help="of an administrator; default: HINDSIGHT_DATABASE_URL")
    return command


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _expiry(text: str) -> datetime:
    span = _SPANS.get(text[-1:])
    if span is not None and text[:-1].isdigit():
        return datetime.now(UTC) + span * int(text[:-1])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError("an ISO date, or a span such as 12h, 30d or 8w") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
