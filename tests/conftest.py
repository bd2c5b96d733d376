"""What every test shares: the dose it runs in and the seed of its randomness.

`make test` runs small doses from a fixed seed, so that a red gate is red again. `make test-deep` sets
HINDSIGHT_TEST_DOSE=deep and a fresh --hypothesis-seed; the header prints both, and `SEED=n` repeats a run.
"""

import os
from typing import Literal

import pytest
from hypothesis import HealthCheck, Verbosity, settings

Dose = Literal["small", "deep"]

pytest_plugins = ["tests.support.database"]

_SLOW_MACHINE = (HealthCheck.too_slow,)

settings.register_profile(
    "small",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=_SLOW_MACHINE,
)
settings.register_profile(
    "deep",
    max_examples=1_000,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=_SLOW_MACHINE,
    verbosity=Verbosity.normal,
)


def _chosen_dose() -> Dose:
    dose = os.environ.get("HINDSIGHT_TEST_DOSE", "small")
    if dose == "small":
        return "small"
    if dose == "deep":
        return "deep"
    raise pytest.UsageError(f"HINDSIGHT_TEST_DOSE is {dose!r}; it must be 'small' or 'deep'")


def _chosen_seed(config: pytest.Config) -> int:
    return int(config.getoption("--hypothesis-seed") or 0)


def pytest_configure(config: pytest.Config) -> None:
    """Loads the Hypothesis profile of the chosen dose."""
    settings.load_profile(_chosen_dose())


def pytest_report_header(config: pytest.Config) -> str:
    """Prints what is needed to run the same tests again."""
    return f"dose: {_chosen_dose()}, seed: {_chosen_seed(config)}"


@pytest.fixture(scope="session")
def dose() -> Dose:
    """The amount of work asked for: `small` in the gate, `deep` for the doses the issues name."""
    return _chosen_dose()


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The seed for a test's own `random.Random`; 0 in the gate, printed in the header."""
    return _chosen_seed(pytestconfig)
