"""Metrics are lines that CloudWatch reads: the format's own, with owners as properties and never as dimensions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

from hindsight_aws.aws.emf import EmfMetrics, document
from hindsight_aws.model.metric import BY_KIND, KIND, NAMESPACE, SERVICE, SERVICE_NAME, Metric, unit_of


class Emitted:
    """Metrics whose lines are kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.metrics = EmfMetrics(self.lines.append, lambda: 1_800_000_000.5)

    def add(self, metric: Metric, value: float, kind: str | None = None, **properties: str) -> None:
        self.metrics.add(metric, value, kind=kind, properties=properties)

    def flush(self) -> list[dict[str, Any]]:
        self.metrics.flush()
        lines, self.lines[:] = [json.loads(line) for line in self.lines], []
        return lines


def _dimensions(line: Mapping[str, Any]) -> list[list[str]]:
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    found: list[list[str]] = directive["Dimensions"]
    return found


@pytest.mark.parametrize("kind", [None, "links"], ids=["plain", "by-kind"])
def test_a_line_is_the_one_that_powertools_writes(kind: str | None) -> None:
    metric = Metric.DUE_WORK if kind else Metric.MODEL_LATENCY
    theirs = AmazonCloudWatchEMFProvider(namespace=NAMESPACE, service=SERVICE_NAME)
    theirs.add_metric(metric.value, unit_of(metric).value, 12.5)
    theirs.add_metadata("tenant", "t-1")
    if kind:
        theirs.add_dimension(SERVICE, SERVICE_NAME)
        theirs.add_dimensions(**{SERVICE: SERVICE_NAME, KIND: kind})
    theirs.timestamp = 1_800_000_000_500

    ours = document({metric: [12.5]}, kind, {"tenant": "t-1"}, 1_800_000_000.5)

    assert ours == theirs.serialize_metric_set()


def test_measurements_of_one_owner_share_a_line_and_those_of_another_have_their_own() -> None:
    emitted = Emitted()
    emitted.add(Metric.MODEL_CALLS, 1, tenant="a")
    emitted.add(Metric.MODEL_CALLS, 2, tenant="a")
    emitted.add(Metric.INPUT_TOKENS, 100, tenant="a")
    emitted.add(Metric.MODEL_CALLS, 4, tenant="b")

    lines = emitted.flush()

    assert [(line["tenant"], line["ModelCalls"]) for line in lines] == [("a", [1, 2]), ("b", [4])]
    assert lines[0]["InputTokens"] == [100]
    assert all(_dimensions(line) == [[SERVICE]] for line in lines)
    assert emitted.flush() == []


def test_work_is_published_over_all_kinds_and_by_kind_and_zero_over_all_alone() -> None:
    emitted = Emitted()
    emitted.add(Metric.DUE_WORK, 3, "links")
    emitted.add(Metric.FAILED_WORK, 0)

    due, failed = emitted.flush()

    assert _dimensions(due) == [[SERVICE], [SERVICE, KIND]]
    assert (due[KIND], due["DueWork"]) == ("links", [3])
    assert _dimensions(failed) == [[SERVICE]]
    assert KIND not in failed


def test_no_line_has_more_values_than_the_format_allows() -> None:
    emitted = Emitted()
    for value in range(250):
        emitted.add(Metric.MODEL_LATENCY, value)
    emitted.add(Metric.MODEL_CALLS, 250)

    lines = emitted.flush()

    assert [len(line["ModelLatency"]) for line in lines] == [100, 100, 50]
    assert sum(sum(line.get("ModelCalls", [])) for line in lines) == 250


@pytest.mark.parametrize("metric", list(Metric))
def test_no_owner_is_ever_a_dimension(metric: Metric) -> None:
    emitted = Emitted()
    emitted.add(metric, 1, "links" if metric in BY_KIND else None, tenant="t", bank="b", model="m")

    (line,) = emitted.flush()

    assert {name for names in _dimensions(line) for name in names} <= {SERVICE, KIND}
    assert (line["tenant"], line["bank"], line["model"], line[SERVICE]) == ("t", "b", "m", SERVICE_NAME)
