"""What the command line accepts: each noun's file registers its own commands here.  Called by main."""

from __future__ import annotations

from argparse import ArgumentParser

from hindsight_aws.cli import (
    cost,
    erasure,
    health,
    importing,
    keys,
    limits,
    openapi,
    pages,
    redrive,
    reembedding,
    schema,
    tenants,
    usage,
)

_NOUNS = (tenants, keys, limits, usage, schema, redrive, erasure, importing, reembedding, health, pages, openapi, cost)


def parser() -> ArgumentParser:
    """The parser; the chosen command's function is `run` of what it parses."""
    root = ArgumentParser(prog="hindsight-aws", description="Agent memory as serverless functions in your own account.")
    commands = root.add_subparsers(required=True, metavar="command")
    for noun in _NOUNS:
        noun.register(commands)
    return root
