"""Tests fail for what the code does, never for what the machine did: it may stall for seconds, or be slow.

A wait has a bound of 30 s or more, unless it waits for what must not come; nothing asserts that little wall time went
by; a plan is looked at in a database of its own, as what other tests left in the shared one changes it.
"""

import ast
import re
import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests.lint.repository import ROOT, repository_files
from tests.support.scheduling import SHARED

_LEAST_S = 30.0
_MUST_NOT_COME_S = 1.0
"""A wait of so long at most is over in any case: it looks whether something happens that must not."""
_WAITS = {"wait", "join", "result", "wait_for"}
_BOUNDS = {"timeout", "connect_for_s", "read_timeout_s", "connect_timeout_s"}
_WALL_CLOCKS = {"monotonic", "perf_counter"}
_WORTH_READING = re.compile(
    r"(timeout\w*|_for_s)=\d|timeout\(\d|\.(wait|join|result|wait_for)\(.*\d|(monotonic|perf_counter)\(\) [-+]|EXPLAIN "
)
_SHARED = {"database", "store", "read_store", "tenant"}
_EXPLAINS_ANOTHER = {"tests/integration/upgrade/test_previous_code.py"}
"""Files with tests of both kinds: the plans are of a database of their own."""


@pytest.fixture(scope="module")
def tests_read() -> dict[str, list[ast.AST]]:
    """The parts of each file of tests that waits, or measures, or asks for a plan."""
    files = [name for name in repository_files() if name.parts[0] == "tests" and name.suffix == ".py"]
    texts = {str(name): (ROOT / name).read_text(encoding="utf-8") for name in files if "bench" not in name.parts}
    return {name: list(ast.walk(ast.parse(text))) for name, text in texts.items() if _WORTH_READING.search(text)}


def test_a_wait_outlasts_a_machine_that_stalls(tests_read: dict[str, list[ast.AST]]) -> None:
    short = [
        f"{name}:{line} waits {seconds} s"
        for name, nodes in tests_read.items()
        for node in nodes
        for line, seconds in _bounds(node)
        if _MUST_NOT_COME_S < seconds < _LEAST_S
    ]

    assert short == []


def test_nothing_asserts_that_little_wall_time_went_by(tests_read: dict[str, list[ast.AST]]) -> None:
    hasty = [
        f"{name}:{node.lineno} allows {seconds} s"
        for name, nodes in tests_read.items()
        for node in nodes
        if isinstance(node, ast.Assert)
        for seconds in _elapsed(node)
        if seconds < _LEAST_S
    ]

    assert hasty == []


def test_a_plan_is_looked_at_in_a_database_of_its_own(tests_read: dict[str, list[ast.AST]]) -> None:
    shared = [
        f"{name}:{node.lineno} {node.name}"
        for name, nodes in tests_read.items()
        if name not in _EXPLAINS_ANOTHER and any(_explains(node) for node in nodes)
        for node in nodes
        if isinstance(node, ast.FunctionDef) and _is_given_fixtures(node)
        if _SHARED & {argument.arg for argument in node.args.args}
    ]

    assert shared == []


def test_no_test_is_given_up_before_a_slow_machine_has_done_it() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]

    assert options["timeout"] >= 240
    assert settings().deadline is None


def test_what_shares_a_worker_is_there() -> None:
    files = {str(name) for name in repository_files()}

    gone = [
        begins for names in SHARED.values() for begins in names if not any(name.startswith(begins) for name in files)
    ]

    assert gone == []


def test_generated_examples_do_not_depend_on_what_is_imported() -> None:
    """Fails when Hypothesis keeps what it finds in our modules elsewhere than where tests/conftest.py expects it."""
    assert len(providers._get_local_constants()) == 0


def _bounds(node: ast.AST) -> Iterator[tuple[int, float]]:
    """The line and the seconds of each bound that this part of a test sets."""
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        given = [word.value for word in node.keywords if word.arg in _BOUNDS]
        if called in _WAITS | {"timeout"}:
            given += node.args[-1:]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_reading(node.left):
        given = [node.right]
    else:
        return
    for value in given:
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            yield value.lineno, float(value.value)


def _elapsed(assertion: ast.Assert) -> Iterator[float]:
    """The seconds that an assertion allows between two readings of a clock on the wall."""
    for part in ast.walk(assertion):
        if not (isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt | ast.LtE)):
            continue
        taken, most = part.left, part.comparators[0]
        if isinstance(taken, ast.BinOp) and isinstance(taken.op, ast.Sub) and _is_reading(taken.left):
            yield float(most.value) if isinstance(most, ast.Constant) and isinstance(most.value, int | float) else 0.0


def _is_reading(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _WALL_CLOCKS


def _explains(node: ast.AST) -> bool:
    said = node.value if isinstance(node, ast.Constant) else b""
    return (said if isinstance(said, bytes) else str(said).encode(errors="replace")).lstrip().startswith(b"EXPLAIN ")


def _is_given_fixtures(node: ast.FunctionDef) -> bool:
    """Whether pytest calls it: a test or a fixture."""
    return node.name.startswith("test_") or any("fixture" in ast.dump(each) for each in node.decorator_list)
