"""Reads a file of cases and refuses what this harness does not know: a word skipped in silence would be a hole.

Called by conftest and by the tests of the harness. Pure but for reading the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tests.cases.checking import known_expectation

_STEP_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "retain": frozenset({"bank", "items", "async", "operation_id", "generate", "document_id", "document_tags"}),
    "consolidate": frozenset({"bank", "observation_scopes"}),
    "recall": frozenset(
        {"bank", "query", "types", "tags", "tags_match", "tag_groups", "trace", "budget", "max_tokens", "include"}
    ),
    "reflect": frozenset({"bank", "query", "tags", "tags_match", "budget", "context", "include", "response_schema"}),
    "config": frozenset({"bank", "updates"}),
    "stats": frozenset({"bank"}),
    "get_config": frozenset({"bank"}),
    "get_document": frozenset({"bank", "document_id"}),
    "delete_document": frozenset({"bank", "document_id"}),
    "clear_memories": frozenset({"bank", "type"}),
    "delete_bank": frozenset({"bank"}),
    "get_operation": frozenset({"bank", "operation_id"}),
    "directive": frozenset({"bank", "name", "content", "tags", "priority", "is_active"}),
    "dry_run": frozenset({"bank", "items", "content"}),
    "drain": frozenset(),
    "parallel": frozenset({"steps"}),
    "sqs_event": frozenset({"records"}),
    "api_event": frozenset({"call"}),
    "redeliver": frozenset(),
    "kill_db_sockets": frozenset(),
    "stub_recovers": frozenset(),
    "start_consolidation_blocked": frozenset({"bank"}),
    "unblock": frozenset(),
}
_INPUT: Final = frozenset({"setup", "steps", "stub_llm", "expect", "config"})
_SETUP: Final = frozenset({"bank", "observations", "vectors"})
_TASKS: Final = frozenset({"extract", "consolidate", "judge", "reflect", "embed"})
_SCRIPTS: Final = _TASKS | {f"{task}_after" for task in _TASKS}
_CONFIG: Final = frozenset({"chunk_size_small"})


class UnknownWord(ValueError):
    """The file uses a word that the harness does not know; the message names case and word."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do; `inner` holds the steps of `parallel` and the call of `api_event`."""

    do: str
    bank: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    inner: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One case as the file gives it."""

    id: str
    area: str
    steps: tuple[Step, ...]
    scripts: Mapping[str, Any]
    expect: Mapping[str, Any]
    setup: Mapping[str, Any]
    config: Mapping[str, Any]

    @property
    def banks(self) -> list[str]:
        """The names of all banks it touches, in order of appearance."""
        named = [step.bank for step in flattened(self.steps)]
        return list(
            dict.fromkeys(name for name in [self.setup.get("bank"), *self.setup.get("vectors", {}), *named] if name)
        )


def in_small(case: Case, most_lines: int) -> Case:
    """The case with generated texts of fewer lines, and with as many facts expected."""
    steps: list[Step] = []
    expect = dict(case.expect)
    for step in case.steps:
        generate = step.fields.get("generate", {})
        lines = generate.get("lines", 0)
        if lines > most_lines:
            expect = {key: most_lines if value == lines else value for key, value in expect.items()}
            fields = {**step.fields, "generate": {**generate, "lines": most_lines}}
            steps.append(replace(step, fields=fields))
        else:
            steps.append(step)
    return replace(case, steps=tuple(steps), expect=expect)


def flattened(steps: Sequence[Step]) -> list[Step]:
    """The steps and those inside them."""
    return [found for step in steps for found in (step, *flattened(step.inner))]


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, in order. Raises: UnknownWord, ValueError for what is not JSON."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [read_case(json.loads(line)) for line in lines if line.strip()]


def read_case(document: Mapping[str, Any]) -> Case:
    """One case. Raises: UnknownWord."""
    name, given = str(document["id"]), document["input"]
    _known(name, "input", given, _INPUT)
    _known(name, "setup", given.get("setup", {}), _SETUP)
    _known(name, "stub_llm", given.get("stub_llm", {}), _SCRIPTS)
    _known(name, "config", given.get("config", {}), _CONFIG)
    for key in given["expect"]:
        if not known_expectation(key):
            raise UnknownWord(f"{name}: nothing checks the expectation {key!r}")
    return Case(
        id=name,
        area=str(document.get("area", "")),
        steps=tuple(_step(name, step) for step in given["steps"]),
        scripts=given.get("stub_llm", {}),
        expect=given["expect"],
        setup=given.get("setup", {}),
        config=given.get("config", {}),
    )


def _step(case: str, given: Mapping[str, Any]) -> Step:
    do = given["do"]
    if do not in _STEP_FIELDS:
        raise UnknownWord(f"{case}: nothing does {do!r}")
    fields = {key: value for key, value in given.items() if key != "do"}
    _known(case, do, fields, _STEP_FIELDS[do])
    inner = [*fields.pop("steps", []), *([fields.pop("call")] if "call" in fields else [])]
    return Step(do, fields.pop("bank", None), fields, tuple(_step(case, each) for each in inner))


def _known(case: str, where: str, given: Mapping[str, Any], words: frozenset[str]) -> None:
    unknown = sorted(given.keys() - words)
    if unknown:
        raise UnknownWord(f"{case}: {where} holds {', '.join(map(repr, unknown))}, which this harness does not know")
