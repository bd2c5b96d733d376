"""CloudFormation's own rules: cfn-lint finds no error in any template that is synthesised for the tests."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import Dose
from tests.infra.combinations import pairwise
from tests.infra.conftest import ROOT, Synthesis, combine
from tests.infra.templates import DATA, SERVICE

pytestmark = [pytest.mark.synth, pytest.mark.timeout(1200)]

# W3005: the CDK writes dependencies down that follow from references as well.
_PASSED_OVER = "W3005"


def test_cfn_lint_finds_nothing_in_what_a_deployment_begins_with(prod: Synthesis) -> None:
    assert _found([prod.folder]) == ""


def test_cfn_lint_finds_nothing_with_whatever_option(dose: Dose, options: Path, tmp_path: Path) -> None:
    if dose == "small":
        pytest.skip("two templates are enough for the gate")
    combine(tmp_path, *pairwise())

    folders = [options / "everything", options / "theirs", *(tmp_path / name for name in pairwise())]

    assert _found(folders) == ""


def _found(folders: Sequence[Path]) -> str:
    templates = [str(folder / f"{stack}.template.json") for folder in folders for stack in (DATA, SERVICE)]

    linted = subprocess.run(
        [str(Path(sys.executable).parent / "cfn-lint"), "--ignore-checks", _PASSED_OVER, "--", *templates],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    return linted.stdout + linted.stderr
