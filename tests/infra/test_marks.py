"""Marks of waiting work: who sets them, who reads them, and that only a database that pauses has any."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.cloud.config import read_config
from infra.local.options import StackOptions
from infra.local.variables import Addresses, function_variables
from infra.topology import MARKS_READ_SETTING, MARKS_SET_SETTING, TOPOLOGY, DatabaseRole, Function
from tests.conftest import Dose
from tests.infra.conftest import synthesise
from tests.infra.templates import DATA, SERVICE, Template
from tests.infra.test_config import _DATABASE, _VPC

_TOUCHED, _SWEPT = "<HindsightDataFilesArn>/marks/touched", "<HindsightDataFilesArn>/marks/swept"


def test_whoever_may_commit_work_marks_it_and_the_sweep_reads_the_marks() -> None:
    marking = {function.name for function in TOPOLOGY.functions if function.marks_work}
    reading = {function.name for function in TOPOLOGY.functions if function.reads_marks}

    writing = {
        function.name for function in TOPOLOGY.functions if function.database_role not in (None, DatabaseRole.READ)
    }
    assert reading == {"sweep"}
    assert marking == writing - reading
    assert "migrate" in marking, "an operator's command may raise a limit, and so resume work"


@pytest.mark.parametrize(
    ("context", "pauses"),
    [
        ({}, True),
        ({"databaseMinCapacity": "0.5"}, False),
        ({"profile": "prod"}, False),
        ({**_VPC, **_DATABASE}, False),
    ],
    ids=["dev", "awake", "prod", "theirs"],
)
def test_only_a_database_of_ours_that_sleeps_has_marks(context: dict[str, object], pauses: bool) -> None:
    config = read_config(context)

    assert config.database_pauses is pauses
    assert config.schedule_stretch == 1


@pytest.mark.parametrize("pauses", [True, False])
def test_a_local_function_is_told_of_marks_as_a_deployed_one_is(pauses: bool) -> None:
    options = StackOptions(database_pauses=pauses)
    addresses = Addresses(s3="http://s3", database_urls={role.value: "x" for role in DatabaseRole})
    addresses.queue_urls = {queue.name: "x" for queue in TOPOLOGY.queues}

    for function in TOPOLOGY.functions:
        told = function_variables(function, options, addresses)

        assert (MARKS_SET_SETTING in told, MARKS_READ_SETTING in told) == (
            pauses and function.marks_work,
            pauses and function.reads_marks,
        )
        assert MARKS_SET_SETTING not in told or told["AWS_ENDPOINT_URL_S3"] == "http://s3"


@pytest.mark.synth
def test_production_has_no_marks(data: Template, service: Template) -> None:
    _agrees(service, pauses=False)

    assert "/marks/" not in str(data.of_type("AWS::EC2::VPCEndpoint"))


@pytest.mark.synth
@pytest.mark.timeout(300)
def test_in_dev_roles_may_touch_exactly_their_marks(tmp_path: Path, dose: Dose) -> None:
    if dose != "deep":
        pytest.skip("a whole synthesis: in the deep dose")

    made = synthesise(tmp_path, "profile=dev")

    assert made.returncode == 0, made.report
    _agrees(Template.read(tmp_path, SERVICE), pauses=True)
    [gateway] = [
        each
        for each in Template.read(tmp_path, DATA).of_type("AWS::EC2::VPCEndpoint").values()
        if each["VpcEndpointType"] == "Gateway"
    ]
    assert str(gateway["PolicyDocument"]).count("/marks/") == 2


def _agrees(service: Template, *, pauses: bool) -> None:
    for entry in TOPOLOGY.functions:
        properties = service.function(entry.name)[1]
        statements = service.statements(service.role(entry.name))
        granted = {
            (action, resource)
            for each in statements
            for action in each["Action"]
            for resource in each["Resource"]
            if "/marks/" in resource
        }

        assert granted == (_wanted(entry) if pauses else set())
        told = {MARKS_SET_SETTING, MARKS_READ_SETTING} & properties["Environment"]["Variables"].keys()
        assert len(told) == (pauses and bool(_wanted(entry)))
        if pauses and _wanted(entry):
            assert len(properties["VpcConfig"]["SecurityGroupIds"]) == 2


def _wanted(entry: Function) -> set[tuple[str, str]]:
    if entry.marks_work:
        return {("s3:PutObject", _TOUCHED)}
    if entry.reads_marks:
        return {("s3:GetObject", _TOUCHED), ("s3:GetObject", _SWEPT), ("s3:PutObject", _SWEPT)}
    return set()
