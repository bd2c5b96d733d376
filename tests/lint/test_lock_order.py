"""The order in which a write ends: cached answers are forgotten, then the bank is noted as written to."""

import pytest

from tests.lint.repository import ROOT

_PACKAGE = ROOT / "shared" / "hindsight_aws"
_FORGETS, _TOUCHES = ".reflect.forget_answers(", ".memories.touch_bank("
_WRITERS = {
    path.relative_to(_PACKAGE).as_posix(): text
    for path in sorted(_PACKAGE.rglob("*.py"))
    if _TOUCHES in (text := path.read_text(encoding="utf-8"))
}


def test_the_writers_are_found() -> None:
    assert {"retain/commit.py", "documents/delete.py", "curation/settle.py"} <= _WRITERS.keys()


@pytest.mark.parametrize("writer", _WRITERS)
def test_the_bank_is_locked_after_the_answers(writer: str) -> None:
    """The other way round in one place, and two writers wait for each other."""
    calls = [call for line in _WRITERS[writer].splitlines() for call in (_FORGETS, _TOUCHES) if call in line]

    assert len(calls) % 2 == 0
    assert calls == [_FORGETS, _TOUCHES] * (len(calls) // 2)
