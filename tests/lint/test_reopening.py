"""Work that becomes pending again begins anew, whichever statement says so."""

import re

import pytest

from hindsight_aws.store.queries import queries
from tests.support.statements import topics

_CLEAN_SLATE = {
    "outcome": "NULL",
    "done_at": "NULL",
    "failed_at": "NULL",
    "error": "NULL",
    "attempts": "0",
    "looks": "0",
    "calls": "0",
    "deferrals": "0",
    "revivals": "0",
    "refused_delete": "false",
}
_REVIVAL = "consolidation.revive_work"
"""Tries again what failed, and so must know how often and why it did."""
_REOPENED = re.compile(r"UPDATE consolidation_work\b[^;]*?SET (state = 'pending'.*?)(?:FROM|WHERE) ", re.DOTALL)


def _reopening() -> dict[str, dict[str, str]]:
    """What each statement that makes work pending sets, by the statement."""
    found = {}
    for topic in topics():
        for name, query in queries(topic).items():
            for assignments in _REOPENED.findall(query.text.decode()):
                found[f"{topic}.{name}"] = dict(re.findall(r"(\w+) = (\w+)", assignments))
    return found


def test_the_statements_are_found() -> None:
    assert len(_reopening()) >= 9
    assert _REVIVAL in _reopening()


@pytest.mark.parametrize("statement", sorted(_reopening().keys() - {_REVIVAL}))
def test_work_that_is_pending_again_has_a_clean_slate(statement: str) -> None:
    assert _CLEAN_SLATE.items() - _reopening()[statement].items() == set()
