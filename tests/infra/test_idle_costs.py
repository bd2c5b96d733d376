"""What `hindsight-aws cost` takes for granted of the profiles is what templates hold, and docs/cost.md says it."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Final

import pytest

from hindsight_aws.usage.month import DEPLOYMENTS, idle, total
from infra.cloud.config import Profile, read_config
from infra.topology import TOPOLOGY
from tests.infra.conftest import ROOT
from tests.infra.templates import Template
from tests.infra.test_alarms import _table

_PAGE: Final = ROOT / "docs" / "cost.md"
_BEGINS, _ENDS = "<!-- idle: checked by tests/infra/test_idle_costs.py -->\n", "<!-- end of idle -->"
_CENT: Final = Decimal("0.01")
_PROXIES: Final = ("AWS::RDS::DBProxy", "AWS::RDS::GlobalCluster")


@pytest.mark.parametrize("profile", list(Profile), ids=lambda profile: profile.value)
def test_a_profile_is_counted_as_it_is_configured(profile: Profile) -> None:
    config, counted = read_config({"profile": profile.value}), DEPLOYMENTS[profile.value]

    assert counted.least_acu == Decimal(str(config.database_min_capacity))
    assert counted.instances == 1 + config.database_readers
    assert counted.zones == config.endpoint_zones
    assert counted.nat_instances == (config.endpoint_zones if config.network == "nat-instance" else 0)
    assert counted.alarm_metrics == sum(alarm.billed for alarm in _table(profile.value))
    assert counted.queues == len(TOPOLOGY.queues)
    of_snapshots = sum(function.memory for function in TOPOLOGY.functions if function.is_api)
    assert counted.snapshot_mb == (of_snapshots if config.snap_start else 0)


def test_the_templates_of_production_hold_what_is_counted(data: Template, service: Template) -> None:
    counted = DEPLOYMENTS["prod"]
    endpoints = [
        endpoint
        for endpoint in data.of_type("AWS::EC2::VPCEndpoint").values()
        if endpoint.get("VpcEndpointType") == "Interface"
    ]

    assert len(endpoints) == counted.endpoints == DEPLOYMENTS["dev"].endpoints
    assert {len(endpoint["SubnetIds"]) for endpoint in endpoints} == {counted.zones}
    assert len(data.of_type("AWS::KMS::Key")) + len(service.of_type("AWS::KMS::Key")) == counted.keys
    assert len(data.of_type("AWS::RDS::DBInstance")) == counted.instances
    [cluster] = data.of_type("AWS::RDS::DBCluster").values()
    assert Decimal(str(cluster["ServerlessV2ScalingConfiguration"]["MinCapacity"])) == counted.least_acu
    assert len(service.of_type("AWS::CloudWatch::Dashboard")) == 1
    assert len(service.of_type("AWS::Lambda::EventSourceMapping")) == counted.queues
    of_snapshots = [
        function["MemorySize"]
        for function in service.of_type("AWS::Lambda::Function").values()
        if "SnapStart" in function
    ]
    assert sum(of_snapshots) == counted.snapshot_mb


def test_nothing_is_made_that_keeps_the_database_awake_or_stands_before_it(data: Template, service: Template) -> None:
    for template in (data, service):
        assert [kind for kind in _PROXIES if template.of_type(kind)] == []
    parameters = [group["Parameters"] for group in data.of_type("AWS::RDS::DBClusterParameterGroup").values()]

    assert all("rds.logical_replication" not in each for each in parameters)
    assert all("MonitoringInterval" not in instance for instance in data.of_type("AWS::RDS::DBInstance").values())


def test_the_page_has_the_idle_cost_of_each_profile() -> None:
    text = _PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGINS)
    after = rest.partition(_ENDS)[2]
    wanted = f"{before}{_BEGINS}{_idle_table()}{_ENDS}{after}"

    if os.environ.get("HINDSIGHT_TEST_RENEW"):
        _PAGE.write_text(wanted, encoding="utf-8")

    assert after, f"{_PAGE.name} has no place for the table"
    assert text == wanted, "HINDSIGHT_TEST_RENEW=1 writes it anew"


def _idle_table() -> str:
    dev, prod = (idle(DEPLOYMENTS[profile.value]) for profile in (Profile.DEV, Profile.PROD))
    amounts = [{line.what: line for line in lines} for lines in (dev, prod)]
    rows = ["| USD a month | dev | prod |", "|---|---|---|"]
    for what in dict.fromkeys(line.what for line in [*dev, *prod]):
        cells = [f"{of[what].usd:.2f} ({of[what].how})" if what in of else "none" for of in amounts]
        rows.append(f"| {what} | {' | '.join(cells)} |")
    sums = [(total(lines) or Decimal(0)).quantize(_CENT) for lines in (dev, prod)]
    return "\n".join([*rows, f"| **together** | **{sums[0]}** | **{sums[1]}** |", ""])
