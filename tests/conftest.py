"""What every test shares: the dose it runs in, the seed of its randomness, and walls around the machine.

`make test` runs small doses from a fixed seed, so that a red gate is red again. `make test-deep` sets
HINDSIGHT_TEST_DOSE=deep and a fresh --hypothesis-seed; the header prints both, and `SEED=n` repeats a run.
"""

import gc
import os
import sys
from collections.abc import Generator
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

if TYPE_CHECKING:
    from tests.support.scheduling import SchedulingByWhatIsShared

pytest_plugins = ["tests.support.database", "tests.support.stack"]

Dose = Literal["small", "deep"]

settings.register_profile("small", max_examples=25, derandomize=True)
settings.register_profile("deep", max_examples=1_000, print_blob=True)
for _profile in ("small", "deep"):
    # A shared machine is slow at times, and a stored example would make one run differ from the next.
    settings.register_profile(
        _profile,
        settings.get_profile(_profile),
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )

_AWS_WITHOUT_AN_ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "eu-central-1",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--cases PATH`: another file for tests/cases to play."""
    parser.addoption("--cases", metavar="PATH", help="play the cases of this file (tests/cases)")


def pytest_configure(config: pytest.Config) -> None:
    """Loads the dose's Hypothesis profile and shuts out the developer's own settings, account and network."""
    settings.load_profile(chosen_dose())
    if chosen_dose() == "small":
        _draw_the_same_whatever_is_imported()
    for name in list(os.environ):
        if name.startswith(("AWS_", "HINDSIGHT_")) and not name.startswith("HINDSIGHT_TEST_"):
            del os.environ[name]
    os.environ.update(_AWS_WITHOUT_AN_ACCOUNT)
    # Some tests start ten processes over the same modules: each would compile them anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.addaudithook(_refuse_all_but_loopback)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without looking for garbage among millions of things that all stay, and never looks at them again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> "SchedulingByWhatIsShared | None":
    """Keeps what shares a stack, or templates, on one worker, where whole files are handed out."""
    if config.getoption("dist") != "loadfile":
        return None
    from tests.support.scheduling import SchedulingByWhatIsShared

    return SchedulingByWhatIsShared(config, log)


def pytest_report_header(config: pytest.Config) -> str:
    """Prints what is needed to run the same tests again."""
    return f"dose: {chosen_dose()}, seed: {_chosen_seed(config)}"


@pytest.fixture(scope="session")
def dose() -> Dose:
    """The amount of work asked for: `small` in the gate, `deep` for the doses the issues name."""
    return chosen_dose()


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The seed for a test's own `random.Random`; 0 in the gate, printed in the header."""
    return _chosen_seed(pytestconfig)


def chosen_dose() -> Dose:
    """The dose that the environment asks for."""
    dose = os.environ.get("HINDSIGHT_TEST_DOSE", "small")
    if dose == "small":
        return "small"
    if dose == "deep":
        return "deep"
    raise pytest.UsageError(f"HINDSIGHT_TEST_DOSE is {dose!r}; it must be 'small' or 'deep'")


def _chosen_seed(config: pytest.Config) -> int:
    return int(config.getoption("--hypothesis-seed") or 0)


def _draw_the_same_whatever_is_imported() -> None:
    """Keeps constants of the product's modules out of Hypothesis's draws.

    It takes those of whatever is imported by then, so that examples would change with the order of the test files and
    with every edit of any module; finding them takes each process two seconds as well.
    """
    none = Constants()
    providers._get_local_constants = lambda: none


def _refuse_all_but_loopback(event: str, arguments: tuple[object, ...]) -> None:
    if event != "socket.connect":
        return
    address = arguments[1]
    if isinstance(address, tuple) and not _is_loopback(str(address[0])):
        pytest.fail(f"a test reached for {address[0]}:{address[1]}; only loopback is allowed")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in {"", "localhost"}
