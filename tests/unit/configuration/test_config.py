"""Settings of a bank: resolved, changed, and refused with the field's name and what it wants."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.configuration.config import DEFAULTS, changed, resolve
from hindsight_aws.configuration.fields import FIELDS
from hindsight_aws.errors import InvalidRequest
from hindsight_aws.settings import Settings, WrongSetting
from tests.support.golden import probes

SETTINGS = Settings()
OWN = {"volatile_tags", "near_duplicates", "recall_strategy_boosts", "verify_directives"}
OTHERWISE = {"audit_log_enabled", "mental_model_min_refresh_interval_seconds"}
"""Fields whose default is ours: a refresh storm costs too much to be the default."""
STRATEGY = {"scopes": [{"tags": ["user:*"], "tags_match": "all"}], "observations_mission": "m"}


def test_the_fields_are_the_recorded_ones_with_the_recorded_defaults() -> None:
    recorded = next(
        probe.answer["config"] for probe in probes() if probe.method == "DELETE" and "/config" in probe.path
    )

    ours = resolve(SETTINGS, {}).as_mapping()

    assert set(ours) - OWN == set(recorded)
    assert {name: value for name, value in ours.items() if name not in OWN | OTHERWISE} == {
        name: value for name, value in recorded.items() if name not in OTHERWISE
    }
    assert ours["mental_model_min_refresh_interval_seconds"] == 300
    assert set(FIELDS) == set(DEFAULTS)


@pytest.mark.parametrize(
    ("updates", "sentence"),
    [
        ({"nope": 1}, "Unknown configuration fields: ['nope']"),
        ({"llm_api_key": 1}, "Cannot set credential fields via API: ['llm_api_key']"),
        ({"worker_id": "x"}, "Cannot override static (server-level) fields: ['worker_id']"),
        ({"HINDSIGHT_API_LLM_TIMEOUT": 1}, "Cannot override static (server-level) fields: ['llm_timeout']"),
        ({"retain_chunk_size": "x"}, "retain_chunk_size must be an integer, got str"),
        ({"retain_chunk_size": True}, "retain_chunk_size must be an integer, got bool"),
        (
            {"recall_strategy_boosts": {"grpah": "high"}},
            "recall_strategy_boosts must name arms of recall (semantic, keyword, graph, temporal), got 'grpah'",
        ),
        (
            {"recall_strategy_boosts": {"graph": 3}},
            "recall_strategy_boosts.graph must be one of low, medium, high, got 3",
        ),
        ({"retain_chunk_size": 1.5}, "retain_chunk_size must be an integer, got float"),
        ({"retain_chunk_size": 0}, "retain_chunk_size must be an integer of at least 1, got 0"),
        ({"HINDSIGHT_API_RETAIN_CHUNK_SIZE": "x"}, "retain_chunk_size must be an integer, got str"),
        ({"enable_observations": 1}, "enable_observations must be a boolean, got int"),
        ({"recall_budget_adaptive_low": "x"}, "recall_budget_adaptive_low must be a number, got str"),
        ({"recall_budget_adaptive_low": 0}, "recall_budget_adaptive_low must be a number above 0, got 0"),
        ({"observations_mission": {"a": 1}}, "observations_mission must be a string, got dict"),
        ({"consolidation_strategies": {}}, "consolidation_strategies must be a list, got dict"),
        ({"retain_strategies": []}, "retain_strategies must be an object, got list"),
        ({"disposition_empathy": 7}, "disposition_empathy must be an integer between 1 and 5, got 7"),
        ({"recall_budget_function": "x"}, "recall_budget_function must be one of fixed, adaptive, got 'x'"),
        pytest.param({"default_observation_scopes": "sharde"}, "default_observation_scopes must be one of", id="C017"),
        ({"default_observation_scopes": [["a", 1]]}, "default_observation_scopes[0] must be a list of strings"),
        ({"recall_budget_min": 3000}, "recall_budget_min (3000) must be at most recall_budget_max (2000)"),
        ({"retain_strategies": {" ": {}}}, "retain_strategies must not have a blank name"),
        ({"retain_strategies": {"s": 1}}, "retain_strategies['s'] must be an object, got int"),
        ({"retain_strategies": {"s": {"nope": 1}}}, "retain_strategies['s'] has unknown keys: ['nope']"),
        ({"retain_strategies": {"s": {"retain_chunk_size": "x"}}}, "retain_strategies['s'].retain_chunk_size must be"),
        ({"entity_labels": [{}]}, "entity_labels[0].key must be a string"),
        ({"entity_labels": [{"key": "k", "type": "x"}]}, "entity_labels[0].type must be one of"),
        ({"memory_defense": {"rules": [{"on": "x", "action": "burn"}]}}, "memory_defense.rules[0].action must be"),
        ({"reflect_default_options": {"x": 1}}, "reflect_default_options has unknown keys: ['x']"),
        ({"knowledge_page_default_trigger": {"mode": "x"}}, "knowledge_page_default_trigger.mode must be one of"),
        (
            {"knowledge_page_default_trigger": {"fact_types": ["x"]}},
            "knowledge_page_default_trigger.fact_types[0] must be one of",
        ),
        ({"knowledge_page_default_trigger": {"refresh_cron": "x"}}, "knowledge_page_default_trigger: trigger.refresh"),
        ({"knowledge_page_default_trigger": {"tag_groups": [1]}}, "knowledge_page_default_trigger: trigger.tag_groups"),
        ({"mcp_enabled_tools": [1]}, "mcp_enabled_tools must be a list of strings, got int in it"),
        ({"retain_mission": "a\x00b"}, "retain_mission must not contain NUL characters"),
        ({"retain_mission": "\ud83d"}, "retain_mission holds text or a number that cannot be stored"),
        ({"recall_budget_adaptive_low": float("nan")}, "recall_budget_adaptive_low must be a number above 0, got nan"),
        ({"retain_chunk_size": 10**400}, "retain_chunk_size must be an integer of at most 32 bits"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_refused_by_name(updates: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        changed(SETTINGS, {}, updates)

    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    "entry",
    [
        {"scope": [{"tags": ["a:*"]}], "observations_mission": "x"},
        {"scopes": [{"tags": ["a:*"], "tags_match": "any"}], "observations_mission": "x"},
        {"scopes": [{"tags": "a:*"}], "observations_mission": "x"},
        {"scopes": [{"tags": ["a"]}], "max_observations_per_scope": "5"},
        {"scopes": [{"tags": ["a"]}], "max_observations_per_scope": 5.0},
        {"scopes": [{"tags": ["a"]}], "max_observations_per_scope": True},
        {"scopes": [{"tags": ["a"]}], "observations_mission": 1},
        {"scopes": [{"untagged": 1}]},
        {"scopes": [{"untagged": True, "tags": ["a"]}]},
        {"scopes": [{"tags": ["a"], "none": "b"}]},
        {"scopes": [["a"]]},
        {"scopes": {"tags": ["a"]}},
        "x",
    ],
)
def test_a_strategy_of_the_wrong_shape_is_refused_at_both_doors(entry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidRequest, match=r"consolidation_strategies\[1\]"):
        changed(SETTINGS, {}, {"consolidation_strategies": [STRATEGY, entry]})

    monkeypatch.setenv("HINDSIGHT_API_CONSOLIDATION_STRATEGIES", json.dumps([STRATEGY, entry]))
    with pytest.raises(WrongSetting, match=r"HINDSIGHT_API_CONSOLIDATION_STRATEGIES\[1\]"):
        resolve(Settings(), {})


@pytest.mark.parametrize(
    "draft",
    [{}, {"scopes": []}, {"scopes": [{}]}, {"scopes": [{"tags": []}]},
     {"scopes": [{"tags": ["a"], "tags_match": None}]},
     {"scopes": [{"untagged": True}]},
     {"scopes": [{"tags": ["*"], "none": ["a"]}], "observations_mission": ""}],
)  # fmt: skip
def test_an_unfinished_strategy_is_kept_as_it_was_sent(draft: dict[str, Any]) -> None:
    after = changed(SETTINGS, {}, {"consolidation_strategies": [draft]})

    assert after == {"consolidation_strategies": [draft]}


def test_null_takes_an_override_away_and_nothing_else() -> None:
    before = {"retain_chunk_size": 2000, "retain_mission": "m"}

    after = changed(SETTINGS, before, {"retain_chunk_size": None, "reflect_mission": "r"})

    assert after == {"retain_mission": "m", "reflect_mission": "r"}


def test_a_chunk_must_fit_the_extraction_limit_inside_strategies_too() -> None:
    limit = SETTINGS.hindsight_api_retain_max_completion_tokens

    for updates in ({"retain_chunk_size": limit}, {"retain_strategies": {"s": {"retain_chunk_size": limit}}}):
        with pytest.raises(InvalidRequest, match="RETAIN_MAX_COMPLETION_TOKENS"):
            changed(SETTINGS, {}, updates)


def test_a_servers_own_chunk_must_fit_the_extraction_limit() -> None:
    settings = SETTINGS.model_copy(update={"bank_defaults": (("retain_chunk_size", "64000"),)})

    with pytest.raises(WrongSetting, match="HINDSIGHT_API_RETAIN_CHUNK_SIZE"):
        resolve(settings, {})


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"a": []}, "fields['a'] must be an object"),
        ({"a": {"type": "x"}}, "fields['a'].type must be one of"),
        (
            {"a": {"type": "map", "fields": {"b": {"values": [1]}}}},
            "fields['a'].fields['b'].values[0] must be an object",
        ),
    ],
)
def test_the_fields_of_a_label_are_checked_as_deep_as_they_go(fields: object, sentence: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        changed(SETTINGS, {}, {"entity_labels": [{"key": "place", "type": "map", "fields": fields}]})

    assert sentence in str(refused.value)


def test_a_wrong_value_that_is_stored_already_does_not_stop_the_bank() -> None:
    stored = {"observations_mission": {"a": 1}, "retain_chunk_size": "x", "gone": 1, "retain_mission": "kept"}

    config = resolve(SETTINGS, stored)

    assert (config.observations_mission, config.retain_chunk_size, config.retain_mission) == (None, 3000, "kept")


def test_the_environment_sets_what_banks_do_not_override(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_RETAIN_CHUNK_SIZE", "500")
    monkeypatch.setenv("HINDSIGHT_API_ENABLE_TEXT_SEARCH", "false")
    monkeypatch.setenv("HINDSIGHT_API_OBSERVATIONS_MISSION", "42")
    monkeypatch.setenv("HINDSIGHT_API_DEFAULT_OBSERVATION_SCOPES", '[["a"]]')
    monkeypatch.setenv("HINDSIGHT_API_ENABLE_OBSERVATIONS", "false")

    config = resolve(Settings(), {"retain_chunk_size": 700})

    assert config.retain_chunk_size == 700
    assert config.enable_text_search is False
    assert config.observations_mission == "42"
    assert config.default_observation_scopes == [["a"]]
    assert config.enable_observations is False


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("RETAIN_CHUNK_SIZE", "many"),
        ("RETAIN_CHUNK_SIZE", "-1"),
        ("ENABLE_TEXT_SEARCH", "perhaps"),
        ("RETAIN_STRATEGIES", "{"),
    ],
)
def test_a_wrong_variable_stops_with_its_name(variable: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"HINDSIGHT_API_{variable}", text)

    with pytest.raises(WrongSetting, match=f"HINDSIGHT_API_{variable} must be"):
        resolve(Settings(), {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(FIELDS)), JSON, max_size=4))
def test_whatever_is_sent_is_refused_or_comes_back_as_it_is(updates: dict[str, Any]) -> None:
    try:
        after = changed(SETTINGS, {}, updates)
    except InvalidRequest:
        return

    kept = {name: value for name, value in updates.items() if value is not None}
    assert after == kept
    assert {name: resolve(SETTINGS, after).as_mapping()[name] for name in kept} == kept
