"""Which strategy a scope falls under, case by case: (mission, cap), over a bank whose own are ("BANK", 100)."""

from __future__ import annotations

import pytest

from hindsight_aws.model.strategy import BankPolicy, parse, parse_limits, policy_for

LIMITS = [{"scope": ["team:*"], "limit": 7}]
BANK = BankPolicy("BANK", 100, 4096, 256, parse_limits(LIMITS))


def _rule(*tags: str, match: str | None = None) -> dict[str, object]:
    return {"tags": list(tags), "tags_match": match}


def _strategy(mission: str | None, cap: int | None, *rules: dict[str, object]) -> dict[str, object]:
    return {"scopes": list(rules), "observations_mission": mission, "max_observations_per_scope": cap}


COMPANY = _strategy("X", None, _rule("company:*"))


@pytest.mark.parametrize(
    ("strategies", "scope", "policy"),
    [
        pytest.param([_strategy(None, 5, _rule("company:acme")), COMPANY], ["company:acme"], ("BANK", 5), id="C077"),
        pytest.param([_strategy(None, None, _rule("a")), _strategy("X", 3, _rule("a"))], ["a"], ("X", 3), id="C078"),
        pytest.param([_strategy("X", 3, _rule("*"))], [], ("BANK", 100), id="C079-no-pattern-claims-it"),
        pytest.param([_strategy("X", 3, {"untagged": True})], [], ("X", 3), id="C079-a-rule-of-its-own-does"),
        pytest.param([_strategy("X", 3, _rule("company:*", "*:acme"))], ["company:acme"], ("X", 3), id="C080"),
        pytest.param(
            [_strategy("X", 3, _rule("company:*", match="exact"))], ["company:a", "company:b"], ("X", 3), id="C081"
        ),
        pytest.param(
            [_strategy("X", 3, _rule("c", "t", match="exact"))], ["c", "t", "user:d"], ("BANK", 100), id="C082"
        ),
        pytest.param([COMPANY], ["Company:acme"], ("BANK", 100), id="C083"),
        pytest.param(
            [_strategy("X", None, _rule("team:exec")), _strategy("Y", 3, _rule("team:*"))],
            ["team:exec"],
            ("X", 7),
            id="C084",
        ),
        pytest.param([_strategy("X", -1, _rule("team:*"))], ["team:exec"], ("X", -1), id="C085"),
        pytest.param([_strategy(None, 0, _rule("team:*"))], ["team:exec"], ("BANK", 0), id="a-cap-of-0-is-a-setting"),
        pytest.param([COMPANY], ["company:"], ("X", 100), id="an-empty-end-matches"),
        pytest.param(
            [_strategy("X", 3, _rule("env:[prod]"))], ["env:[prod]"], ("BANK", 100), id="brackets-are-a-class"
        ),
        pytest.param([_strategy("X", 3, _rule("env:[[]prod]"))], ["env:[prod]"], ("X", 3), id="a-bracket-can-be-meant"),
        pytest.param(
            [_strategy("X", 3, _rule("company:*", "[!u]*", match="exact"))],
            ["company:acme", "user:dana"],
            ("BANK", 100),
            id="a-class-excludes",
        ),
    ],
)
def test_a_scope_falls_under_the_first_strategy_that_claims_it(
    strategies: list[dict[str, object]], scope: list[str], policy: tuple[str, int]
) -> None:
    found = policy_for(scope, parse(strategies), BANK)

    assert (found.mission, found.max_observations) == policy
