"""Which policy a scope gets: the golden table, the rules of matching, and the strict door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.errors import InvalidRequest
from hindsight_aws.model.strategy import BankPolicy, ScopeRule, parse, parse_limits, policy_for

GOLDEN = json.loads((Path(__file__).parents[2] / "fixtures" / "strategy-resolution.json").read_text())
BANK = BankPolicy(
    mission=GOLDEN["bank"]["observations_mission"],
    max_observations=GOLDEN["bank"]["max_observations_per_scope"],
    source_facts_max_tokens=GOLDEN["bank"]["consolidation_source_facts_max_tokens"],
    source_facts_max_tokens_per_observation=GOLDEN["bank"]["consolidation_source_facts_max_tokens_per_observation"],
    limits=parse_limits(GOLDEN["observation_scope_limits"]),
)
PLAIN = BankPolicy("BANK", -1, 4096, 256)
TAGS = st.lists(
    st.sampled_from(["user:dana", "user:rosa", "team:exec", "company:acme", "company:globex"]), max_size=4, unique=True
)


@pytest.mark.parametrize("row", GOLDEN["rows"], ids=lambda row: "+".join(row["scope"]) or "untagged")
def test_golden_resolution(row: dict[str, object]) -> None:
    policy = policy_for(row["scope"], parse(GOLDEN["strategies"]), BANK)  # type: ignore[arg-type]  # JSON

    found = (policy.strategy_index, policy.mission, policy.max_observations)
    assert found == (row["winner"], row["mission"], row["cap"])
    assert policy.source_facts_max_tokens == row["sf_total"]
    assert policy.source_facts_max_tokens_per_observation == row["sf_per_obs"]


def test_no_glob_reaches_the_untagged_scope() -> None:
    strategies = parse([{"scopes": [{"tags": ["*"]}], "observations_mission": "STAR"}])

    assert policy_for([], strategies, PLAIN).mission == "BANK"


def test_an_untagged_rule_claims_exactly_the_untagged_scope() -> None:
    strategies = parse([{"scopes": [{"untagged": True}], "observations_mission": "GLOBAL"}])

    assert policy_for([], strategies, PLAIN).mission == "GLOBAL"
    assert policy_for(["a"], strategies, PLAIN).mission == "BANK"


def test_none_excludes_scopes_with_such_a_tag() -> None:
    strategies = parse([{"scopes": [{"tags": ["company:*"], "none": ["user:*"]}], "observations_mission": "TRENDS"}])

    assert policy_for(["company:acme", "team:exec"], strategies, PLAIN).mission == "TRENDS"
    assert policy_for(["company:acme", "user:dana"], strategies, PLAIN).mission == "BANK"


@given(TAGS, st.lists(st.sampled_from(["user:*", "company:acme", "*", "team:?xec"]), min_size=1, max_size=3))
def test_exact_matches_no_more_than_all(scope: list[str], globs: list[str]) -> None:
    exact, containing = ScopeRule(tuple(globs), "exact"), ScopeRule(tuple(globs), "all")

    assert not exact.matches(scope) or containing.matches(scope)


@given(TAGS)
def test_tag_order_never_matters(scope: list[str]) -> None:
    strategies = parse(GOLDEN["strategies"])

    assert policy_for(scope, strategies, BANK) == policy_for(scope[::-1], strategies, BANK)


def test_entries_that_set_nothing_neither_claim_nor_block() -> None:
    draft = {"scopes": [{"tags": ["team:*"]}], "observations_mission": "  "}
    strategies = parse([draft, {"scopes": [{"tags": ["team:*"]}], "max_observations_per_scope": 3}])

    policy = policy_for(["team:exec"], strategies, PLAIN)

    assert (policy.strategy_index, policy.max_observations) == (1, 3)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"scopes": []}, "must be a list"),
        (["x"], "consolidation_strategies[0] must be an object"),
        ([{"scope": []}], "consolidation_strategies[0] has unknown key 'scope'"),
        ([{"scopes": {}}], "consolidation_strategies[0].scopes must be a list"),
        ([{"scopes": [{"tags": "a:*"}]}], "consolidation_strategies[0].scopes[0].tags must be a list of strings"),
        ([{}, {"scopes": [{"tags": ["a", 1]}]}], "consolidation_strategies[1].scopes[0].tags"),
        ([{"scopes": [{"tags": ["a"], "tags_match": "any"}]}], "tags_match must be 'all' or 'exact'"),
        ([{"scopes": [{"tags": ["a"], "tags_match": ""}]}], "tags_match"),
        ([{"scopes": [{"tags": ["a"], "colour": 1}]}], "unknown key 'colour'"),
        ([{"scopes": [{"untagged": True, "tags": ["a"]}]}], "untagged rule takes neither"),
        ([{"max_observations_per_scope": "5"}], "max_observations_per_scope must be an integer"),
        ([{"max_observations_per_scope": 5.0}], "must be an integer"),
        ([{"max_observations_per_scope": True}], "must be an integer"),
        ([{"observations_mission": {"a": 1}}], "observations_mission must be a string"),
    ],
)
def test_wrong_shapes_are_refused_by_entry_and_key(value: object, named: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse(value)

    assert named in str(refused.value)


def test_the_hash_follows_what_shapes_observations_and_nothing_else() -> None:
    first = parse([{"scopes": [{"tags": ["a"]}], "observations_mission": "M"}])
    moved = parse([{}, {"scopes": [{"tags": ["*"]}], "observations_mission": "M"}])
    other = parse([{"scopes": [{"tags": ["a"]}], "observations_mission": "N"}])

    assert policy_for(["a"], first, PLAIN).hash == policy_for(["a"], moved, PLAIN).hash
    assert policy_for(["a"], first, PLAIN).hash != policy_for(["a"], other, PLAIN).hash
