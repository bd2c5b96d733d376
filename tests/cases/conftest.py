"""Parametrises the cases of the file named by `--cases`, or of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.expected_to_fail import EXPECTED_TO_FAIL
from tests.cases.reading import Case, in_small, read_cases
from tests.conftest import chosen_dose

OURS = Path(__file__).with_name("handed.jsonl")
_LINES_IN_SMALL = 100


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per case; those of our own file that wait for a later issue must fail until taken off the list."""
    if "case" in metafunc.fixturenames:
        given = metafunc.config.getoption("--cases")
        cases = read_cases(Path(given or OURS))
        if given is None and chosen_dose() == "small":
            cases = [in_small(case, _LINES_IN_SMALL) for case in cases]
        metafunc.parametrize("case", [_marked(case, is_ours=given is None) for case in cases])


def _marked(case: Case, *, is_ours: bool) -> object:
    waits = EXPECTED_TO_FAIL.get(case.id) if is_ours else None
    marks = [pytest.mark.xfail(reason=waits, strict=True, raises=AssertionError)] if waits else []
    return pytest.param(case, id=case.id, marks=marks)
