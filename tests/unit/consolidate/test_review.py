"""What a save is warned about, and what passes without a word."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from hindsight_aws.configuration.config import BankConfig
from hindsight_aws.consolidate.review import MOST_WARNINGS, review

GOLDEN = json.loads((Path(__file__).parents[2] / "fixtures" / "strategy-resolution.json").read_text())
S = "consolidation_strategies"
MISSION = {"observations_mission": "M"}


def _entry(*rules: dict[str, object], **settings: object) -> dict[str, object]:
    return {"scopes": list(rules), **(settings or MISSION)}


def _codes(strategies: list[dict[str, object]], limits: list[object] | None = None) -> list[tuple[str, str]]:
    found = review(BankConfig(consolidation_strategies=strategies, observation_scope_limits=limits))
    return [(warning["field"], warning["code"]) for warning in found]


def test_a_bank_without_strategies_is_warned_of_nothing() -> None:
    assert review(BankConfig()) == []


def test_a_sound_list_is_warned_of_nothing() -> None:
    sound = [
        _entry(
            {"tags": ["company:acme"], "tags_match": "exact"}, max_observations_per_scope=5, observations_mission="A"
        ),
        _entry({"tags": ["company:*"]}, max_observations_per_scope=20, observations_mission="B"),
        _entry({"untagged": True}),
        _entry({"tags": ["team:*"], "none": ["user:*"]}),
    ]

    assert _codes(sound) == []


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({}, f"{S}[0]"),
        ({"scopes": []}, f"{S}[0]"),
        ({"scopes": [{"tags": ["a"]}]}, f"{S}[0]"),
        (_entry({"tags": ["a"]}, {"tags": []}), f"{S}[0].scopes[1]"),
        (_entry({"tags": ["a"]}, {"tags": [""]}), f"{S}[0].scopes[1]"),
        (
            _entry({"tags": ["a"]}, max_observations_per_scope=1, observations_mission=" "),
            f"{S}[0].observations_mission",
        ),
    ],
)
def test_a_draft_is_named(entry: dict[str, object], field: str) -> None:
    assert (field, "draft") in _codes([entry])


@pytest.mark.parametrize("rule", [{"tags": ["user:[z-a]"]}, {"tags": ["user:dana"], "none": ["user:*"]}])
def test_a_rule_that_can_claim_nothing_is_named(rule: dict[str, object]) -> None:
    assert _codes([_entry(rule)]) == [(f"{S}[0].scopes[0]", "claims_nothing")]


@pytest.mark.parametrize("rule", [{"tags": ["*"]}, {"tags": ["*"], "tags_match": "exact"}])
def test_a_star_alone_does_not_claim_the_scope_without_tags(rule: dict[str, object]) -> None:
    assert _codes([_entry(rule)]) == [(f"{S}[0].scopes[0]", "untagged_not_claimed")]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ({"tags": ["company:*"]}, {"tags": ["company:acme"], "tags_match": "exact"}),
        ({"tags": ["company:*"]}, {"tags": ["company:ac*", "team:*"]}),
        ({"tags": ["*"], "tags_match": "exact"}, {"tags": ["a", "b"], "tags_match": "exact"}),
        ({"untagged": True}, {"untagged": True}),
    ],
)
def test_an_entry_that_earlier_ones_hide_is_named(first: dict[str, object], later: dict[str, object]) -> None:
    assert (f"{S}[1]", "hidden") in _codes([_entry(first), _entry(later)])


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ({"tags": ["company:*"], "tags_match": "exact"}, {"tags": ["company:acme"]}),
        ({"tags": ["company:*"], "none": ["user:*"]}, {"tags": ["company:acme"]}),
        ({"tags": ["company:acme"]}, {"tags": ["company:*"]}),
        ({"untagged": True}, {"tags": ["a"]}),
    ],
)
def test_an_entry_with_a_scope_of_its_own_is_not_said_to_be_hidden(
    first: dict[str, object], later: dict[str, object]
) -> None:
    assert "hidden" not in {code for _, code in _codes([_entry(first), _entry(later)])}


def test_a_narrow_entry_that_leaves_out_the_wide_ones_mission_is_told() -> None:
    """[C077] the author of the narrow entry is told of the instruction that its facts are now written without."""
    found = review(BankConfig(consolidation_strategies=GOLDEN["strategies"]))

    (told,) = [warning for warning in found if warning["field"] == f"{S}[1]"]
    assert told["code"] == "partly_hidden"
    assert "company:acme" in told["message"]
    assert "observations_mission" in told["message"]


def test_a_limit_that_is_ported_without_exact_is_told() -> None:
    limits: list[object] = [{"scope": ["team:*"], "limit": 7}]

    ported = _codes([_entry({"tags": ["team:*"]}, max_observations_per_scope=7)], limits)
    exact = _codes([_entry({"tags": ["team:*"], "tags_match": "exact"}, max_observations_per_scope=7)], limits)

    assert ported == [("observation_scope_limits", "deprecated"), (f"{S}[0].scopes[0]", "wider_than_limit")]
    assert exact == [("observation_scope_limits", "deprecated")]


@pytest.mark.parametrize(
    "strategies",
    [
        [{}] * 5_000,
        [{"scopes": [{"tags": [f"a:{n}*"]} for n in range(100)], **MISSION} for _ in range(100)],
        [_entry({"tags": [f"a:{n}*" for n in range(5_000)], "none": [f"b:{n}*" for n in range(5_000)]})],
    ],
    ids=["entries", "rules", "patterns"],
)
def test_a_long_list_is_reviewed_in_bounds(strategies: list[dict[str, object]]) -> None:
    started = time.process_time()

    found = _codes(strategies)

    assert len(found) <= MOST_WARNINGS
    assert time.process_time() - started < 6
