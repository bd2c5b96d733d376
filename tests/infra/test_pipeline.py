"""The pipeline that a customer copies: valid, in the right order, pinned, and without a secret of AWS."""

import re
from typing import Any

import pytest
import yaml

from infra.smoke import main as smoke
from tests.infra.conftest import ROOT

_TEXT = (ROOT / "docs" / "pipeline" / "github-actions.yml").read_text(encoding="utf-8")


def _jobs() -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(_TEXT)["jobs"]
    return jobs


def test_what_is_deployed_was_synthesised_compared_and_tried_before() -> None:
    jobs = _jobs()
    commands = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}

    order = ("synth", "diff", "dev", "prod-diff", "prod")
    assert [jobs[name].get("needs") for name in order] == [None, *order[:-1]]
    for name in ("dev", "prod"):
        assert [command.split()[0] for command in commands[name]] == ["npx", "npx", "make"]
        assert tuple(command.split()[3] for command in commands[name][:2]) == ("diff", "deploy")
        assert jobs[name]["environment"] == name


def test_whoever_approves_production_has_seen_its_own_difference() -> None:
    compared = _jobs()["prod-diff"]

    assert compared["steps"][-1]["run"].endswith("diff --all -c profile=prod")
    assert compared["environment"] == "prod-diff"  # that of `prod` would ask for the approval first


def test_every_action_is_pinned_by_a_commit() -> None:
    used = [step["uses"] for job in _jobs().values() for step in job["steps"] if "uses" in step]

    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used)


def test_access_to_aws_is_lent_by_identity_and_to_those_jobs_alone_that_need_it() -> None:
    everybody = yaml.safe_load(_TEXT)["permissions"]
    trusted = {name for name, job in _jobs().items() if "id-token" in job.get("permissions", {})}

    assert everybody == {"contents": "read"}
    assert trusted == {"diff", "dev", "prod-diff", "prod"}
    assert set(re.findall(r"secrets\.(\w+)", _TEXT)) == {"SMOKE_KEY"}


def test_smoke_without_an_address_asks_for_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["smoke"])

    assert smoke() == 1
    assert "make smoke URL=" in capsys.readouterr().err
