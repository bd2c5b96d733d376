"""The order of locks: work and citations by id, operations before their runs, answers before the bank written to."""

import re

import pytest

from hindsight_aws.store.queries import queries
from tests.lint.repository import ROOT
from tests.support.statements import topics

_PACKAGE = ROOT / "shared" / "hindsight_aws"
_FORGETS, _TOUCHES = ".reflect.forget_answers(", ".memories.touch_bank("
_WRITERS = {
    path.relative_to(_PACKAGE).as_posix(): text
    for path in sorted(_PACKAGE.rglob("*.py"))
    if _TOUCHES in (text := path.read_text(encoding="utf-8"))
}


def test_a_bank_is_marked_as_written_in_one_place_after_its_answers() -> None:
    """The other way round in one place, and two writers wait for each other."""
    [(writer, text)] = _WRITERS.items()

    assert writer == "operations/written.py"
    assert -1 < text.index(_FORGETS) < text.index(_TOUCHES)


_WRITES_WORK = re.compile(r"\b(?:UPDATE|DELETE FROM) consolidation_work\b")
_LOCKS_IN_ORDER = re.compile(r"ORDER BY (?:\w+\.)?work_id\s+FOR UPDATE\b")
_LOCKED_BEFORE = {
    "observations.finish_work": "lock_work",
    "observations.overlook_work": "lock_work",
    "observations.requeue_sources": "lock_touched_work",
    "curation.reopen_work": "lock_touched_work",
    "rebuilds.settle_scope": "lock_work_of_scopes",
}
"""Statements whose rows are locked by another, which the same unit of work runs first."""


def _writing_work() -> dict[str, str]:
    return {
        f"{topic}.{name}": query.text.decode()
        for topic in topics()
        for name, query in queries(topic).items()
        if _WRITES_WORK.search(query.text.decode())
    }


def test_the_statements_that_write_work_are_found() -> None:
    assert len(_writing_work()) >= 18
    assert _LOCKED_BEFORE.keys() <= _writing_work().keys()


@pytest.mark.parametrize("statement", sorted(_writing_work().keys() - _LOCKED_BEFORE.keys()))
def test_work_is_locked_in_order_before_it_is_written(statement: str) -> None:
    """An UPDATE meets its rows in the order of its plan: two of them that share two rows may wait for each other."""
    assert _LOCKS_IN_ORDER.search(_writing_work()[statement])


@pytest.mark.parametrize("lock", sorted(set(_LOCKED_BEFORE.values())))
def test_what_locks_work_for_other_statements_does_so_in_order(lock: str) -> None:
    found = [query.text.decode() for topic in topics() for name, query in queries(topic).items() if name == lock]

    assert [bool(_LOCKS_IN_ORDER.search(text)) for text in found] == [True]


@pytest.mark.parametrize(
    ("module", "first", "then"),
    [
        ("observations", "lock_work", "finish_work"),
        ("observations", "lock_touched_work", "requeue_sources"),
        ("curation", "self._end_resting(bank_id, fact)", "self._reopen(bank_id, fact"),
        ("rebuilds", "self._hold(", "self._put_in_place("),
        ("memories", ".sweep(", '_SQL["remove"]'),
    ],
)
def test_the_lock_comes_before_what_relies_on_it(module: str, first: str, then: str) -> None:
    text = (_PACKAGE / "store" / f"{module}.py").read_text(encoding="utf-8")

    assert -1 < text.index(first) < text.index(then)


_WRITES_CITATIONS = re.compile(r"\b(?:UPDATE|DELETE FROM) mental_model_citations\b")
_CITED_IN_ORDER = re.compile(r"ORDER BY k\.cited_id, [\w., ]+\s+FOR (?:NO KEY )?UPDATE\b")


def _writing_citations() -> dict[str, str]:
    return {
        f"{topic}.{name}": query.text.decode()
        for topic in topics()
        for name, query in queries(topic).items()
        if _WRITES_CITATIONS.search(query.text.decode())
    }


def test_the_statements_that_write_citations_are_found() -> None:
    assert {"mental_models.prune", "mental_models.trim_citations", "curation.unsay_former_words"} <= (
        _writing_citations().keys()
    )


@pytest.mark.parametrize("statement", sorted(_writing_citations()))
def test_what_pages_rest_on_is_locked_by_memory_before_it_is_written(statement: str) -> None:
    """A deletion meets the same rows one memory after the other, in id order."""
    assert _CITED_IN_ORDER.search(_writing_citations()[statement])


@pytest.mark.parametrize(
    ("module", "first", "then"),
    [
        ("mental_models/start.py", "tx.refreshes.put_off(", "tx.reflect.fail("),
        ("mental_models/triggers.py", "RefreshRequest(None, mends=True)", "tx.mental_models.purge("),
        ("mental_models/manage.py", "tx.mental_models.remove(", "tx.refreshes.stop_all("),
        ("store/mental_models.py", '_SQL["put_off_mending"]', "self._trim(bank_id, page_id)\n\n    def move"),
        ("reflect/steps/finish.py", ".failed(tx, run", "tx.reflect.fail("),
        ("knowledge/manage.py", "tx.refreshes.open(", "tx.mental_models.lock("),
        ("knowledge/manage.py", "tx.mental_models.lock(", "tx.knowledge.change(bank.bank_id, after)"),
        ("mental_models/manage.py", "tx.knowledge.lock_tree(", "tx.mental_models.lock("),
        ("banks/template.py", "tx.knowledge.lock_tree(", "tx.refreshes.open("),
    ],
)
def test_an_operation_is_locked_before_its_page_and_its_run(module: str, first: str, then: str) -> None:
    text = (_PACKAGE / module).read_text(encoding="utf-8")

    assert -1 < text.index(first) < text.index(then)


@pytest.mark.parametrize(
    ("module", "first", "then"),
    [
        ("reflect/steps/finish.py", "ports.pages.failed(", "tx.reflect.fail("),
        ("reflect/steps/finish.py", "_body(ports, tx, run, composed)", "tx.reflect.complete("),
        ("mental_models/start.py", "tx.refreshes.lock(", "tx.reflect.fail("),
        ("mental_models/manage.py", "tx.mental_models.remove(", "tx.reflect.forget_answers("),
        ("operations/cancel.py", "tx.operations.cancel(", "tx.refreshes.stop("),
    ],
)
def test_a_run_is_locked_after_the_operation_and_the_page_it_works_for(module: str, first: str, then: str) -> None:
    text = (_PACKAGE / module).read_text(encoding="utf-8")

    assert -1 < text.index(first) < text.index(then)
