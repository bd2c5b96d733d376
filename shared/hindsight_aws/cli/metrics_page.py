"""The table of metrics, made from the metrics themselves.  Called by the `metrics` command and by a test."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping

from hindsight_aws.model.metric import BY_KIND, Metric, unit_of

_HEAD = "| metric | unit | by kind | meaning |\n|---|---|---|---|\n"


def table() -> str:
    """The table as it must be."""
    meanings = meanings_of_metrics()
    return _HEAD + "".join(
        f"| `{metric.value}` | {unit_of(metric).value} | {'yes' if metric in BY_KIND else ''} | {meanings[metric]} |\n"
        for metric in Metric
    )


def meanings_of_metrics() -> Mapping[Metric, str]:
    """What is written under each metric in its source."""
    (definition,) = ast.parse(inspect.getsource(Metric)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - the source of a class is one
    found: dict[Metric, str] = {}
    for entry, following in zip(definition.body, definition.body[1:], strict=False):
        if not isinstance(entry, ast.Assign) or not isinstance(following, ast.Expr):
            continue
        name, said = entry.targets[0], following.value
        if isinstance(name, ast.Name) and isinstance(said, ast.Constant):
            found[Metric[name.id]] = " ".join(str(said.value).split())
    return found
