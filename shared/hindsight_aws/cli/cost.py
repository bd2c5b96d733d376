"""`cost`: what a month will come to, before it is paid.  Calls usage/month.py; asks nobody."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from decimal import Decimal
from typing import TYPE_CHECKING

from hindsight_aws.cli.command import Answer, add

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands
    from hindsight_aws.usage.month import Line

_CENT = Decimal("0.01")


def register(commands: Commands) -> None:
    """Adds the command."""
    command = add(
        commands, "cost", estimate, "estimate a month, from calls and what they are like", needs_database=False
    )
    for verb in ("retains", "recalls", "reflects"):
        command.add_argument(f"--{verb}", type=_count, default=0, metavar="N", help=f"{verb} a month")
    command.add_argument("--tokens", type=_count, default=300, metavar="N", help="of the text of a retain")
    command.add_argument("--facts", type=_count, default=3, metavar="N", help="that a retain comes to")
    command.add_argument("--scopes", type=_count, default=1, metavar="N", help="that a fact belongs to")
    command.add_argument("--profile", choices=("dev", "prod"), default="dev", help="of the deployment")
    command.add_argument(
        "--active-hours", type=_count, default=60, metavar="N", help="a month in which a pausing database is awake"
    )
    command.add_argument("--model", default="", help="text model; default: the one that the settings name")
    command.add_argument("--embeddings-model", default="", help="default: the one that the settings name")
    command.add_argument("--reranker-model", default="", help="default: the one that the settings name, if any")


def estimate(chosen: Namespace) -> Answer:
    """The positions of a month, idle and by traffic, and their sum."""
    from hindsight_aws.settings import load_settings
    from hindsight_aws.usage.month import DEPLOYMENTS, Models, Traffic, idle, total, traffic

    settings = load_settings()
    models = Models(
        chosen.model or settings.hindsight_api_llm_model,
        chosen.embeddings_model or settings.hindsight_api_embeddings_model,
        chosen.reranker_model or settings.hindsight_api_reranker_model or None,
    )
    calls = Traffic(chosen.retains, chosen.recalls, chosen.reflects, chosen.tokens, chosen.facts, chosen.scopes)
    standing = idle(DEPLOYMENTS[chosen.profile], chosen.active_hours)
    moving = traffic(calls, models)
    lines = [f"A month of the {chosen.profile} profile, USD, list prices of us-east-1:", ""]
    for title, positions in (("whether anybody calls or not", standing), ("by calls", moving)):
        lines += [title, *(_line(one) for one in positions), _sum(total(positions)), ""]
    whole = total([*standing, *moving])
    lines.append(f"together {_usd(whole)}")
    if whole is None:
        lines.append("A model without a price in the table is asked: what it costs comes on top of the others.")
    document = {
        "profile": chosen.profile,
        "idle": [_document(one) for one in standing],
        "traffic": [_document(one) for one in moving],
        "usd": None if whole is None else float(whole.quantize(_CENT)),
    }
    return Answer(lines, document)


def _line(one: Line) -> str:
    return f"  {_usd(one.usd):>12}  {one.what}: {one.how}"


def _sum(usd: Decimal | None) -> str:
    return f"  {_usd(usd):>12}"


def _usd(usd: Decimal | None) -> str:
    return "unknown" if usd is None else f"{usd.quantize(_CENT):,}"


def _document(one: Line) -> dict[str, object]:
    return {"what": one.what, "how": one.how, "usd": None if one.usd is None else float(one.usd.quantize(_CENT))}


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 15:
        raise ArgumentTypeError("a whole number, 0 or more")
    return int(text)
