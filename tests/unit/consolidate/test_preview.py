"""What a draft of strategies would claim: the golden answer, and the slots that entries keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindsight_aws.consolidate.preview import MOST_SCOPES, CountedScope, drafts, preview, scopes_read
from hindsight_aws.errors import InvalidField

FIXTURES = Path(__file__).parents[2] / "fixtures"
GOLDEN: dict[str, Any] = json.loads((FIXTURES / "strategy-resolution.json").read_text())
EXPECTED: dict[str, Any] = json.loads((FIXTURES / "preview-response.json").read_text())
SCOPES = [CountedScope(tuple(sorted(row["scope"])), 30 - place) for place, row in enumerate(GOLDEN["rows"])]


def test_the_golden_preview_but_for_what_an_inactive_entry_takes() -> None:
    """An entry that sets nothing takes no scope from anybody: its taken_count is 0, where the original counts 7."""
    answer: Any = preview(drafts(GOLDEN["strategies"]), SCOPES, 2, complete=True)

    original = EXPECTED["strategies"][3]["rules"][0]
    assert (original["taken_count"], answer["strategies"][3]["rules"][0]["taken_count"]) == (7, 0)
    assert answer == {
        **EXPECTED,
        "strategies": [*EXPECTED["strategies"][:3], _taking_nothing(), *EXPECTED["strategies"][4:]],
    }


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        pytest.param(
            {"scopes": [{"tags": ["a"], "tags_match": "any"}]}, "strategies[0].scopes[0].tags_match", id="C093"
        ),
        ({"scope": []}, "strategies[0]"),
        ({"max_observations_per_scope": "5"}, "strategies[0].max_observations_per_scope"),
        ({"scopes": [{"untagged": True, "tags": ["a"]}]}, "strategies[0].scopes[0]"),
    ],
)
def test_a_wrong_draft_names_its_field(wrong: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidField) as refused:
        drafts([wrong])

    assert refused.value.field == field


def test_two_rules_that_hit_one_scope_claim_it_once() -> None:
    """Case [C095]."""
    both = [{"scopes": [{"tags": ["company:*"]}, {"tags": ["*:acme"]}], "max_observations_per_scope": 1}]

    answer: Any = preview(drafts(both), [CountedScope(("company:acme",), 4)], 5, complete=True)

    (entry,) = answer["strategies"]
    assert entry["claimed_count"] == 1
    assert [rule["match_count"] for rule in entry["rules"]] == [1, 1]


def test_an_inactive_draft_keeps_its_slot() -> None:
    """Case [C096]."""
    listed = [{}, {"scopes": [{"tags": []}]}, {"scopes": [{"tags": ["a"]}], "observations_mission": "M"}]

    answer: Any = preview(drafts(listed), [CountedScope(("a",), 1)], 5, complete=True)

    assert [entry["active"] for entry in answer["strategies"]] == [False, False, True]
    assert answer["strategies"][2]["rules"][0]["samples"] == [{"tags": ["a"], "count": 1, "handled_by": 2}]


def test_no_samples_leave_the_counts_as_they_are() -> None:
    """Case [C098]."""
    answer: Any = preview(drafts(GOLDEN["strategies"]), SCOPES, 0, complete=True)

    rule = answer["strategies"][0]["rules"][0]
    assert rule == {"match_count": 1, "taken_count": 0, "observation_count": 30, "samples": []}
    assert answer["default"] == {"match_count": 1, "observation_count": 9, "samples": []}


def test_an_empty_bank_has_nothing_to_claim() -> None:
    """Case [C099]."""
    answer: Any = preview(drafts(GOLDEN["strategies"]), [], 5, complete=True)

    assert (answer["scopes_scanned"], answer["complete"], answer["default"]["match_count"]) == (0, True, 0)
    assert {entry["claimed_count"] for entry in answer["strategies"]} == {0}


def test_rules_beyond_patterns_are_previewed_too() -> None:
    listed = [
        {"scopes": [{"untagged": True}], "observations_mission": "GLOBAL"},
        {"scopes": [{"tags": ["company:*"], "none": ["user:*"]}], "observations_mission": "TRENDS"},
    ]
    scopes = [CountedScope((), 3), CountedScope(("company:acme",), 2), CountedScope(("company:acme", "user:dana"), 1)]

    answer: Any = preview(drafts(listed), scopes, 5, complete=True)

    assert [entry["claimed_count"] for entry in answer["strategies"]] == [1, 1]
    assert answer["default"]["samples"] == [{"tags": ["company:acme", "user:dana"], "count": 1, "handled_by": None}]


def test_hundreds_of_patterns_are_tried_on_fewer_scopes() -> None:
    many = drafts([{"scopes": [{"tags": [f"a{n}*" for n in range(1_000)]}]}])

    assert scopes_read(drafts(GOLDEN["strategies"])) == MOST_SCOPES
    assert scopes_read(many) == 1_000


def _taking_nothing() -> dict[str, object]:
    entry = EXPECTED["strategies"][3]
    return {**entry, "rules": [{**rule, "taken_count": 0} for rule in entry["rules"]]}
