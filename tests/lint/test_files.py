"""What no file of the repository may hold, and how long a module may grow. Run by `make check` and `make test`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lint.repository import ROOT, repository_files, text_lines

_LONGEST_MODULE = 320
_LONGEST_DOOR = 60

# Spelled in pieces so that this file does not name what it forbids.
_MACHINE_PATH = re.compile(
    r"(?<![\w.{])/(?:wor" + r"k|roo" + r"t|far" + r"m|Users|home/\w+)/\w|/tm" + r"p/\w|(?<!\w)[.]librar" + r"y\b"
)
_REGISTRY_HOST = re.compile(
    r"(?:py" + r"pi\.org|pythonho" + r"sted\.org|npm" + r"js\.(?:com|org)|deb\.deb" + r"ian\.org|crates\.i" + r"o)",
    re.IGNORECASE,
)
_MERGE_MARK = re.compile(r"^(?:<{7} |>{7} |={7}$)")
_SECRET = re.compile(r"\b(?:AKIA|ASIA)(?!IOSFODNN7EXAMPLE)[A-Z0-9]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----")
_VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
_UNEXPLAINED = re.compile(
    r"#\s*(?:type:\s*ignore(?:\[[\w,\s-]+\])?|noqa(?::\s*[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)?)\s*(?:#\s*)?$"
)


def _python_files() -> list[Path]:
    return [name for name in repository_files() if name.suffix == ".py"]


def _hits(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name in repository_files()
        for number, line in text_lines(name)
        if pattern.search(line)
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(_MACHINE_PATH, id="machine path"),
        pytest.param(_REGISTRY_HOST, id="registry host"),
        pytest.param(_MERGE_MARK, id="merge mark"),
        pytest.param(_SECRET, id="secret"),
    ],
)
def test_no_file_holds(pattern: re.Pattern[str]) -> None:
    assert _hits(pattern) == []


def test_the_patterns_see_what_they_forbid() -> None:
    host = "pythonho" + "sted.org"
    folder = "/wor" + "k/main"

    assert _REGISTRY_HOST.search(f"https://files.{host}/packages")
    assert _MACHINE_PATH.search(f"cd {folder}")
    assert not _MACHINE_PATH.search(".venv/bin/python /workflow/run")
    assert _SECRET.search("AKIA" + "Q" * 16)
    assert _UNEXPLAINED.search("import x  # type: ignore" + "[import-untyped]")
    assert not _UNEXPLAINED.search("import x  # type: ignore[import-untyped]  # publishes no types")


def test_modules_outside_the_tests_stay_short() -> None:
    long = {
        str(name): lines
        for name in _python_files()
        if name.parts[0] != "tests" and (lines := sum(1 for _ in text_lines(name))) > _LONGEST_MODULE
    }

    assert long == {}


def test_a_door_is_under_sixty_lines() -> None:
    long = [
        str(name)
        for name in _python_files()
        if name.parts[0] == "functions" and sum(1 for _ in text_lines(name)) >= _LONGEST_DOOR
    ]

    assert long == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [str(name) for name in _python_files() if _VAGUE_NAMES & {name.stem, *name.parent.parts}]

    assert vague == []


def test_every_skip_says_why() -> None:
    unexplained = [
        f"{name}:{node.lineno}"
        for name in _python_files()
        if name.parts[0] == "tests"
        for node in _skips_without_reason(ast.parse((ROOT / name).read_text(encoding="utf-8")))
    ]

    assert unexplained == []


def test_every_silenced_warning_says_why() -> None:
    """A `type: ignore` or `noqa` is followed by its reason on the same line."""
    unexplained = [
        f"{name}:{number}: {line.strip()[:120]}"
        for name in _python_files()
        for number, line in text_lines(name)
        if _UNEXPLAINED.search(line)
    ]

    assert unexplained == []


def _skips_without_reason(tree: ast.Module) -> Iterator[ast.expr]:
    """Yields each pytest skip, skipif or xfail, marker or call, that gives no reason."""
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        spelled = ast.unparse(node)
        if re.fullmatch(r"pytest\.(mark\.)?(skip|skipif|xfail)", spelled) is None:
            continue
        call = called.get(id(node))
        positional = 1 if spelled.endswith("skipif") else 0
        if call is None or not (
            len(call.args) > positional or any(keyword.arg == "reason" for keyword in call.keywords)
        ):
            yield node
