"""Whom a module's docstring names as its caller imports it. Run by `make check` and `make test`."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.lint.repository import ROOT, repository_files

_ROOTS = (Path("shared"), Path())
_DOCSTRING = re.compile(r'\A"""(.*?)"""', re.DOTALL)
_BY = re.compile(r"(?:Called|Made|Put [\w ]+) by ((?:[^.;:]|\.(?=\w))*)")
_FILE = re.compile(r"(?:\w+/)*\w+\.py|(?:\w+/)+\w*")
_FROM = re.compile(r"^ *from ([\w.]+) import (?:\(([^)]*)\)|(.+))", re.MULTILINE)


@cache
def _sources() -> Mapping[str, str]:
    """The text of each module of the product and its doors, by its dotted name."""
    sources = {}
    for file in repository_files():
        if file.suffix == ".py" and file.parts[0] in ("shared", "functions"):
            parts = file.with_suffix("").parts[1 if file.parts[0] == "shared" else 0 :]
            name = ".".join(parts).removesuffix(".__init__")
            sources[name] = (ROOT / file).read_text("utf-8")
    return sources


@cache
def _imports() -> Mapping[str, frozenset[str]]:
    """What each module imports; a name that a package passes on is its own module's as well."""
    named = {
        importer: {
            (found[1], name.split(" as ")[0].strip()) for found in _FROM.finditer(text) for name in _names(found)
        }
        for importer, text in _sources().items()
    }
    passed_on = {(package, name): module for package, names in named.items() for module, name in names}
    return {
        importer: frozenset(
            each
            for module, name in names
            for each in (module, f"{module}.{name}", passed_on.get((module, name), module))
        )
        for importer, names in named.items()
    }


def _names(found: re.Match[str]) -> list[str]:
    return [name for name in (found[2] or found[3]).split("#")[0].split(",") if name.strip()]


def _callers(text: str) -> Iterator[str]:
    """The files and folders that a module's docstring names as what calls or makes it."""
    docstring = _DOCSTRING.match(text)
    for said in _BY.finditer(" ".join(docstring[1].split()) if docstring else ""):
        yield from _FILE.findall(said[1])


def _meant(caller: str, module: str) -> set[str]:
    """The modules that may be meant: of the package, of one around it, or of a root."""
    path = caller.removesuffix(".py").strip("/").replace("/", ".")
    around = module.split(".")
    places = {".".join([*around[:size], path]) for size in range(len(around) + 1)}
    return {each for each in _sources() if any(each == place or each.startswith(f"{place}.") for place in places)}


def _false(module: str, text: str) -> list[str]:
    """The callers that are not there, or import neither the module nor one of its package."""

    def is_called_by(importer: str) -> bool:
        return any(each == module or each.startswith(f"{module}.") for each in _imports()[importer])

    return [caller for caller in _callers(text) if not any(is_called_by(each) for each in _meant(caller, module))]


def test_docstrings_name_modules_that_import_them() -> None:
    # What a port promises is asked for through a parameter; nobody imports it for that.
    modules = {name: text for name, text in _sources().items() if not name.startswith("hindsight_aws.ports.")}

    assert sum(len(list(_callers(text))) for text in modules.values()) > 100
    assert {name: false for name, text in modules.items() if (false := _false(name, text))} == {}


def test_a_caller_that_does_not_import_the_module_is_found() -> None:
    assert _false("hindsight_aws.recall.fusion", '"""Fuses.  Called by ranking.py and recall/recall.py."""') == [
        "recall/recall.py"
    ]
    assert _false("hindsight_aws.recall.fusion", '"""Fuses.  Called by nobody.py."""') == ["nobody.py"]
