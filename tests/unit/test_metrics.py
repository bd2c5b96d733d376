"""Every metric is measured somewhere, has a meaning, and stands in the page for operators; every alarm watches one."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from hindsight_aws.cli.metrics_page import meanings_of_metrics, table
from hindsight_aws.model.metric import NAMESPACE, Metric
from infra.cloud.alarm import Share
from infra.cloud.own_alarms import OF_MODELS, OF_WORK

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "shared" / "hindsight_aws"
_MEASURING = {"measure", "measure_once"}


@cache
def _measured() -> dict[Metric, set[str]]:
    """The modules that take each metric, by the calls that name it."""
    found: dict[Metric, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text("utf-8")
        if "measure" not in source:
            continue
        tree = ast.parse(source)
        names = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if not names & _MEASURING:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Metric":
                found.setdefault(Metric[node.attr], set()).add(path.relative_to(PACKAGE).as_posix())
    return found


@pytest.mark.parametrize("metric", list(Metric))
def test_every_metric_is_measured_somewhere(metric: Metric) -> None:
    assert _measured().get(metric), f"nobody measures {metric}"


def test_every_alarm_on_a_metric_of_ours_watches_one_that_is_measured() -> None:
    watched = [alarm.watched for alarm in (*OF_WORK, *OF_MODELS)]
    ours = [one for one in watched if not isinstance(one, Share) and one.namespace == NAMESPACE]

    assert {Metric(one.name) for one in ours} <= set(_measured())
    assert len(ours) == len(watched)


def test_every_metric_says_what_it_means() -> None:
    assert set(meanings_of_metrics()) == set(Metric)


def test_the_page_for_operators_has_the_table_of_metrics_that_the_code_makes() -> None:
    page = (ROOT / "docs" / "howto" / "observability.md").read_text("utf-8")

    assert table() in page, "run: hindsight-aws metrics, and put its table into the page"
