"""Alarms: each entry of the table has one, each has a runbook, silence means the right thing, and they are few."""

from pathlib import Path

import pytest

from infra.cloud.alarm import Alarm, Missing, Names, Share
from infra.cloud.alarms import alarms, most_connections
from infra.cloud.config import Profile, read_config
from infra.cloud.naming import logical
from infra.topology import TOPOLOGY, DeploymentTrigger, Function
from tests.infra.conftest import ROOT, Synthesis
from tests.infra.templates import Template

_RUNBOOKS = ROOT / "docs" / "runbooks"
_NAT = "nat-instance"
_SECTIONS = ("## What it means", "## How to look", "## What to do", "## When to escalate")


def _table(profile: str, **options: str) -> list[Alarm]:
    functions = {entry.name: entry.name for entry in TOPOLOGY.functions}
    queues = {entry.name: entry.name for entry in TOPOLOGY.queues}
    workflows = {name: name for name in TOPOLOGY.workflows}
    deployed = Names(functions, queues, queues, "undelivered", {"Api": "api"}, workflows, "cluster")
    return alarms(TOPOLOGY, read_config({"profile": profile, **options}), deployed)


def test_production_whose_alarms_tell_nobody_is_warned(prod: Synthesis, options: Path) -> None:
    deployments = {"prod alone": prod.folder, "with an address": options / "everything", "dev": options / "theirs"}

    told = {name: _warned(folder) for name, folder in deployments.items()}

    assert told == {"prod alone": 1, "with an address": 0, "dev": 0}


def _warned(folder: Path) -> int:
    """In how many places the synthesis left this warning for the command line to show."""
    noted = [file.read_text(encoding="utf-8") for file in folder.glob("*.metadata.json")]
    assert noted
    return "".join(noted).count("Alarms tell nobody")


def test_every_queue_function_and_workflow_is_watched_in_production() -> None:
    named = {alarm.name for alarm in _table("prod")}

    wanted = {
        *(logical(queue.name) + what for queue in TOPOLOGY.queues for what in ("Backlog", "DeadLetters")),
        *(logical(each.name) + what for each in TOPOLOGY.functions for what in ("Errors", "Throttles", "Duration")),
        *(logical(name) + what for name in TOPOLOGY.workflows for what in ("Failed", "TimedOut")),
    }

    assert wanted <= named
    assert len(named) == len(_table("prod"))


def test_what_development_keeps_is_free_and_a_pause_raises_none_of_it() -> None:
    kept = _table("dev")

    assert {f"{logical(queue.name)}DeadLetters" for queue in TOPOLOGY.queues} <= {alarm.name for alarm in kept}
    assert sum(alarm.billed for alarm in kept) <= 10  # what CloudWatch gives away
    assert all(alarm.missing is not Missing.TROUBLE for alarm in kept)


def test_their_number_does_not_hang_on_anything_but_the_table_of_functions() -> None:
    watched = [alarm.watched for alarm in _table("prod")]
    measures = [one for each in watched for one in ((each.part, each.whole) if isinstance(each, Share) else (each,))]

    dimensions = {name for measure in measures for name, _ in measure.dimensions}

    assert dimensions == {
        "ApiId", "DBClusterIdentifier", "FunctionName", "Method", "QueueName", "Resource", "Role", "Stage",
        "StateMachineArn", "service",
    }  # fmt: skip


def test_the_template_has_the_alarms_of_the_table(service: Template) -> None:
    deployed = service.of_type("AWS::CloudWatch::Alarm").values()

    assert sorted(alarm["AlarmDescription"] for alarm in deployed) == sorted(
        alarm.description for alarm in _table("prod")
    )
    assert {alarm["ActionsEnabled"] for alarm in deployed} == {False}  # nobody is named


def test_every_alarm_has_a_runbook_and_every_runbook_an_alarm() -> None:
    wanted = {alarm.runbook for alarm in _table("prod")} | {_NAT}

    assert {page.stem for page in _RUNBOOKS.glob("*.md")} == wanted | {"README"}


@pytest.mark.parametrize("runbook", sorted({alarm.runbook for alarm in _table("prod")} | {_NAT}))
def test_a_runbook_says_what_it_means_how_to_look_what_to_do_and_when_to_escalate(runbook: str) -> None:
    text = (_RUNBOOKS / f"{runbook}.md").read_text(encoding="utf-8")
    looking = text.partition(_SECTIONS[1])[2].partition(_SECTIONS[2])[0]

    assert [line for line in text.splitlines() if line.startswith("## ")] == list(_SECTIONS)
    assert "```" in looking
    assert f"]({runbook}.md)" in (_RUNBOOKS / "README.md").read_text(encoding="utf-8")


def test_a_runbook_looks_for_runs_that_were_cut_off_where_lambda_says_so() -> None:
    """In JSON, as our functions log, a run's report has its status; the sentence of old is written no more."""
    asking = {page.stem: page.read_text(encoding="utf-8") for page in _RUNBOOKS.glob("*.md")}

    assert [name for name, text in asking.items() if "Task timed out" in text or "Runtime exited" in text] == []
    assert {name for name, text in asking.items() if 'record.status != "success"' in text} == {
        "dead-letters", "function-errors", "undelivered",
    }  # fmt: skip


def test_the_profiles_databases_allow_the_connections_that_the_functions_may_open() -> None:
    opened = sum(entry.max_concurrency for entry in TOPOLOGY.functions if entry.database_role is not None)

    for profile in Profile:
        assert most_connections(read_config({"profile": profile.value})) > opened


@pytest.mark.parametrize("entry", TOPOLOGY.functions, ids=lambda entry: str(entry.name))
def test_a_run_near_its_limit_is_told_of_and_one_that_stops_by_itself_is_not(entry: Function) -> None:
    """A run is measured once, when it ends; workers of long work stop 15 s before their limit."""
    [alarm] = [each for each in _table("prod") if each.name == f"{logical(entry.name)}Duration"]

    is_run_once = any(isinstance(trigger, DeploymentTrigger) for trigger in entry.triggers)
    assert alarm.threshold < entry.timeout * 1000
    assert entry.timeout < 300 or alarm.threshold > (entry.timeout - 15) * 1000
    assert alarm.minutes * 60 >= entry.timeout
    assert alarm.periods == (1 if is_run_once else 3)


def test_a_measurement_that_comes_hours_apart_leaves_its_alarm_as_it_was() -> None:
    [storage] = [alarm for alarm in _table("prod") if alarm.name == "DatabaseStorage"]

    assert storage.missing is Missing.AS_BEFORE


def test_a_schedule_that_is_stretched_is_silent_only_after_as_many_of_its_own_intervals() -> None:
    [usual] = [alarm for alarm in _table("prod") if alarm.name == "SweepSilent"]
    [stretched] = [alarm for alarm in _table("prod", scheduleStretch="12") if alarm.name == "SweepSilent"]

    assert (stretched.minutes, stretched.periods) == (12 * usual.minutes, usual.periods)


def test_the_dashboard_shows_what_functions_measure_of_themselves(service: Template) -> None:
    [page] = service.of_type("AWS::CloudWatch::Dashboard").values()
    body = str(page["DashboardBody"])

    for name in ("OldestPendingFact", "OldestDueWork", "FailedWork", "ModelCost", "ServerErrors", "ParkedTenants"):
        assert name in body
    assert "bank" not in body.lower().replace("/banks/{bank_id}", "")
