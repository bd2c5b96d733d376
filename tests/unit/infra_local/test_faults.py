"""Fault rules strike exactly where they were told, and commits are seen in the bytes of a wire."""

import struct

import pytest

from infra.local.faults import Action, FaultRules, Rule
from infra.local.faults.messages import FrontendMessages


def hit(rules: FaultRules, point: str, function: str = "f") -> Action:
    return rules.decide(point, function, 1).action


def test_a_rule_strikes_at_the_nth_hit_and_no_other() -> None:
    rules = FaultRules()
    rules.rules.append(Rule("retain.before_commit", Action.KILL, nth=2))

    actions = [hit(rules, "retain.before_commit") for _ in range(4)]

    assert actions == [Action.CONTINUE, Action.KILL, Action.CONTINUE, Action.CONTINUE]


def test_a_rule_counts_only_what_it_matches() -> None:
    rules = FaultRules()
    rules.rules.append(Rule("retain.*", Action.RAISE, function="ingest", times=2))

    seen = [hit(rules, *each) for each in (("recall.x", "ingest"), ("retain.x", "retain"), ("retain.y", "ingest"))]

    assert seen == [Action.CONTINUE, Action.CONTINUE, Action.RAISE]
    assert [each.point for each in rules.hits] == ["recall.x", "retain.x", "retain.y"]


def test_the_first_rule_that_strikes_decides() -> None:
    rules = FaultRules()
    rules.rules += [Rule("p", Action.PAUSE), Rule("p", Action.KILL)]

    assert [hit(rules, "p"), hit(rules, "p")] == [Action.PAUSE, Action.CONTINUE]


def test_cleared_rules_strike_no_more() -> None:
    rules = FaultRules()
    rules.rules.append(Rule("p", Action.KILL, times=9))

    rules.clear()

    assert hit(rules, "p") is Action.CONTINUE
    assert len(rules.hits) == 1


STARTUP = struct.pack("!ii", 19, 3 << 16) + b"user\0hind\0\0"
NEWER_STARTUP = struct.pack("!ii", 19, (3 << 16) + 2) + b"user\0hind\0\0"
SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def query(text: bytes) -> bytes:
    return b"Q" + struct.pack("!i", len(text) + 5) + text + b"\0"


def parse(text: bytes) -> bytes:
    return b"P" + struct.pack("!i", len(text) + 8) + b"\0" + text + b"\0\0\0"


@pytest.mark.parametrize("startup", [STARTUP, NEWER_STARTUP, SSL_REQUEST + STARTUP])
@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_commit_is_found_however_the_bytes_are_cut(startup: bytes, size: int) -> None:
    stream = startup + query(b"INSERT " + b"COMMIT " * 500) + parse(b"SELECT 1") + query(b"commit")
    messages = FrontendMessages()

    found = [messages.commits(stream[start : start + size]) for start in range(0, len(stream), size)]

    assert sum(found) == 1
    assert found[-1]


def test_a_commit_in_a_pipeline_is_found() -> None:
    messages = FrontendMessages()
    messages.commits(STARTUP)

    assert messages.commits(parse(b"INSERT") + parse(b"COMMIT"))


def test_a_statement_that_only_mentions_commit_is_none() -> None:
    messages = FrontendMessages()
    messages.commits(STARTUP)

    assert not messages.commits(query(b"SELECT 'COMMIT'"))
