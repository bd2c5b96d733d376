"""The locks against pyproject.toml: current, hashed, of one mind. Needs no network; `make lock` mends a failure."""

import re
import tomllib
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from tests.lint.repository import ROOT

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_GROUPS: dict[str, list[str | dict[str, str]]] = _PROJECT["dependency-groups"]
_REQUIREMENTS = ROOT / "requirements"


class Pin(NamedTuple):
    """One locked version, with what asked for it and how many archives it may come from."""

    requirement: Requirement
    asked_for_by: str
    hashes: int

    @property
    def name(self) -> NormalizedName:
        return canonicalize_name(self.requirement.name)


def _declared(group: str) -> list[Requirement]:
    declared = []
    for entry in _GROUPS[group]:
        if isinstance(entry, str):
            declared.append(Requirement(entry))
        else:
            declared.extend(_declared(entry["include-group"]))
    return declared


def _pins(group: str) -> list[Pin]:
    text = (_REQUIREMENTS / f"{group}.lock").read_text(encoding="utf-8")
    pins = []
    for block in re.split(r"\n(?=\S)", text.strip()):
        head, *rest = block.splitlines()
        comments = " ".join(line.strip() for line in rest if line.strip().startswith("#"))
        pins.append(Pin(Requirement(head.rstrip(" \\")), comments, block.count("--hash=sha256:")))
    return pins


@pytest.fixture(params=sorted(_GROUPS))
def group(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_lock_belongs_to_a_group() -> None:
    assert {path.stem for path in _REQUIREMENTS.glob("*.lock")} == set(_GROUPS)


def test_a_lock_holds_what_its_group_declares_and_nothing_it_no_longer_does(group: str) -> None:
    declared = {canonicalize_name(requirement.name) for requirement in _declared(group)}

    locked = {pin.name for pin in _pins(group) if f"(pyproject.toml:{group})" in pin.asked_for_by}

    assert locked == declared


def test_a_locked_version_is_one_its_group_allows(group: str) -> None:
    allowed = {canonicalize_name(requirement.name): requirement.specifier for requirement in _declared(group)}

    outside = [
        str(pin.requirement)
        for pin in _pins(group)
        if pin.name in allowed and not all(allowed[pin.name].contains(s.version) for s in pin.requirement.specifier)
    ]

    assert outside == []


def test_every_locked_version_is_exact_and_hashed(group: str) -> None:
    loose = [
        str(pin.requirement)
        for pin in _pins(group)
        if pin.hashes == 0 or [s.operator for s in pin.requirement.specifier] != ["=="]
    ]

    assert loose == []


def test_groups_agree_on_versions_with_what_is_tested(group: str) -> None:
    if group == "ecosystem":
        pytest.skip("is installed apart from all others")
    tested: dict[NormalizedName, set[str]] = {}
    for pin in _pins("dev"):
        tested.setdefault(pin.name, set()).add(str(pin.requirement.specifier))

    differing = [
        str(pin.requirement)
        for pin in _pins(group)
        if pin.name in tested and str(pin.requirement.specifier) not in tested[pin.name]
    ]

    assert differing == []


def test_locks_name_no_place_to_fetch_from(group: str) -> None:
    text = (_REQUIREMENTS / f"{group}.lock").read_text(encoding="utf-8")

    assert re.findall(r"\w+://|--(?:extra-)?index-url|--find-links|--trusted-host", text) == []


def test_a_lock_that_names_hosts_cannot_be_committed_by_accident() -> None:
    assert "/uv.lock" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_build_backend_is_the_locked_one() -> None:
    backend = {str(Requirement(entry)) for entry in _PROJECT["build-system"]["requires"]}

    assert backend <= {str(pin.requirement) for pin in _pins("build")}


def test_workers_are_locked_without_a_web_framework() -> None:
    """A web framework costs a worker half a second of cold start."""
    assert {"fastapi", "mangum", "starlette"} & {pin.name for pin in _pins("worker")} == set()


def test_what_reads_files_is_locked_for_the_convert_function_alone() -> None:
    """Its layer is larger than all that the other functions carry; two small packages are in both."""
    others = {pin.name for group in ("api", "worker", "migrate") for pin in _pins(group)}

    assert {pin.name for pin in _pins("convert")} & others == {"six", "typing-extensions"}
    assert {"lxml", "openpyxl", "pypdf"} <= {pin.name for pin in _pins("convert")}
