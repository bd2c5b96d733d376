"""The truth table of tag filters: every filter and group with every set of tags, and whether they match."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hindsight_aws.model.tags import AllOf, AnyOf, Not, TagFilter, TagGroup, TagLeaf, TagsMatch

_TABLE = Path(__file__).parents[1] / "fixtures" / "tags_truth.json"


@dataclass(frozen=True, slots=True)
class Truth:
    """One filter, and which sets of tags pass it."""

    name: str
    tags: TagFilter
    matches: tuple[tuple[tuple[str, ...], bool], ...]


def truths() -> list[Truth]:
    """The table, one entry per filter."""
    found: dict[str, tuple[TagFilter, list[tuple[tuple[str, ...], bool]]]] = {}
    for name, tags, item, match in _rows():
        found.setdefault(name, (tags, []))[1].append((item, match))
    return [Truth(name, tags, tuple(matches)) for name, (tags, matches) in found.items()]


def _rows() -> Iterator[tuple[str, TagFilter, tuple[str, ...], bool]]:
    table = json.loads(_TABLE.read_text())
    for row in table["flat"]:
        name = f"{row['filter']} {row['mode']}"
        yield name, TagFilter.flat(row["filter"], TagsMatch(row["mode"])), tuple(row["item"] or ()), row["match"]
    for row in table["groups"]:
        yield json.dumps(row["group"]), TagFilter((_group(row["group"]),)), tuple(row["item"] or ()), row["match"]


def _group(value: dict[str, object]) -> TagGroup:
    """The group without the parser's limits: the table also tells what a leaf without tags means."""
    match value:
        case {"and": list(children)}:
            return AllOf(tuple(_group(child) for child in children))
        case {"or": list(children)}:
            return AnyOf(tuple(_group(child) for child in children))
        case {"not": dict(child)}:
            return Not(_group(child))
        case {"tags": list(tags)}:
            return TagLeaf(frozenset(map(str, tags)), TagsMatch(str(value.get("match", "any_strict"))))
    raise AssertionError(value)
