"""The one-way doors' contracts name every room there is: import-linter itself checks only the rooms it is told of."""

import re
import tomllib

import pytest

from tests.lint.repository import ROOT

_CONTRACTS = {
    contract["id"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
}
_PACKAGE = ROOT / "shared" / "hindsight_aws"


def _use_cases() -> set[str]:
    """The rooms of the layers from `banks` down to `configuration`."""
    layers = _CONTRACTS["rooms"]["layers"]
    names = re.findall(r"\w+", " ".join(layers[layers.index("(banks)") : layers.index("(configuration)") + 1]))
    return {f"hindsight_aws.{name}" for name in names}


def test_the_use_cases_are_found() -> None:
    """Without them no contract could be found wanting."""
    assert len(_use_cases()) >= 23


@pytest.mark.parametrize(
    ("contract", "side"),
    [
        ("no-web-framework", "source_modules"),
        ("no-drivers", "source_modules"),
        ("adapters", "forbidden_modules"),
        ("thin-doors", "forbidden_modules"),
        ("readers-of-files", "source_modules"),
    ],
)
def test_a_contract_covers_every_use_case(contract: str, side: str) -> None:
    named = {".".join(name.split(".")[:2]) for name in _CONTRACTS[contract][side]}

    assert _use_cases() - named == set()


def test_every_folder_of_the_package_is_a_package() -> None:
    """A folder without `__init__.py` is left out of the import graph, and so of every contract."""
    bare = {
        str(source.parent.relative_to(_PACKAGE))
        for source in _PACKAGE.rglob("*.py")
        if not (source.parent / "__init__.py").exists()
    }

    assert bare == set()
