"""Settings of what a bank answers: recall, reflect, identity and the rest.  Called by configuration/fields.py."""

from __future__ import annotations

from hindsight_aws.configuration.field import BankField, Kind, above_zero, at_least, between, one_of, strings
from hindsight_aws.configuration.shapes import check_boosts, check_default_options, check_trigger

_NEEDS_DECISIONS = "there is no decision model: every decision is the task's own model's"
_POSITIVE = at_least(1)
_TRAIT = between(1, 5)
RECALL = (
    BankField("enable_text_search", Kind.BOOLEAN, "Whether recall uses its keyword arm."),
    BankField("enable_temporal_retrieval", Kind.BOOLEAN, "Whether recall uses its temporal arm."),
    BankField("enable_graph_retrieval", Kind.BOOLEAN, "Whether recall uses its graph arm."),
    BankField(
        "enable_reranking",
        Kind.BOOLEAN,
        "Whether a rerank model orders the candidates, where one is configured.",
    ),
    BankField(
        "recall_prefer_observations",
        Kind.BOOLEAN,
        "Whether observations stand for the facts they rest on when a call does not say.",
    ),
    BankField(
        "recall_budget_function",
        Kind.STRING,
        "How a budget becomes a number of candidates.",
        one_of("fixed", "adaptive"),
        "`fixed` or `adaptive`",
    ),
    BankField("recall_budget_fixed_low", Kind.INTEGER, "Candidates of budget low.", _POSITIVE, "1 or more"),
    BankField("recall_budget_fixed_mid", Kind.INTEGER, "Candidates of budget mid.", _POSITIVE, "1 or more"),
    BankField("recall_budget_fixed_high", Kind.INTEGER, "Candidates of budget high.", _POSITIVE, "1 or more"),
    BankField(
        "recall_budget_adaptive_low",
        Kind.NUMBER,
        "Candidates of budget low per token asked for.",
        above_zero,
        "above 0",
    ),
    BankField(
        "recall_budget_adaptive_mid",
        Kind.NUMBER,
        "Candidates of budget mid per token asked for.",
        above_zero,
        "above 0",
    ),
    BankField(
        "recall_budget_adaptive_high",
        Kind.NUMBER,
        "Candidates of budget high per token asked for.",
        above_zero,
        "above 0",
    ),
    BankField(
        "recall_budget_min",
        Kind.INTEGER,
        "Least candidates of an adaptive budget.",
        _POSITIVE,
        "1 or more, at most recall_budget_max",
    ),
    BankField("recall_budget_max", Kind.INTEGER, "Most candidates of an adaptive budget.", _POSITIVE, "1 or more"),
    BankField(
        "recall_include_chunks",
        Kind.BOOLEAN,
        "Whether reflect's own recalls bring chunk text.",
    ),
    BankField(
        "recall_max_tokens",
        Kind.INTEGER,
        "Token budget of reflect's own recalls.",
        at_least(0),
        "0 or more",
    ),
    BankField(
        "recall_chunks_max_tokens",
        Kind.INTEGER,
        "Chunk budget of reflect's own recalls.",
        at_least(0),
        "0 or more",
    ),
)

REFLECT = (
    BankField("reflect_mission", Kind.STRING, "The identity reflect answers with; the `mission` of a bank's profile."),
    BankField("disposition_skepticism", Kind.INTEGER, "Trait of reflect's answers; null: 3.", _TRAIT, "1 to 5"),
    BankField("disposition_literalism", Kind.INTEGER, "Trait of reflect's answers; null: 3.", _TRAIT, "1 to 5"),
    BankField("disposition_empathy", Kind.INTEGER, "Trait of reflect's answers; null: 3.", _TRAIT, "1 to 5"),
    BankField(
        "reflect_source_facts_max_tokens",
        Kind.INTEGER,
        "Budget of source facts in reflect's observation search; -1 off, 0 unlimited.",
        at_least(-1),
        "-1 or more",
    ),
    BankField(
        "reflect_default_options",
        Kind.OBJECT,
        "Options of reflect calls that set none.",
        check_default_options,
        "reflect_search_observations_max_tokens, reflect_search_observations_include_entities",
    ),
    BankField(
        "mental_model_min_refresh_interval_seconds",
        Kind.INTEGER,
        "Seconds from one refresh of a mental model to the next that comes by itself; it waits, and is not dropped.",
        at_least(0),
        "0 or more",
    ),
    BankField(
        "knowledge_page_default_trigger",
        Kind.OBJECT,
        "Trigger laid over the one that new pages of the knowledge base have (howto/knowledge-base.md).",
        check_trigger,
        "trigger fields",
    ),
    BankField(
        "reflect_use_decision_model",
        Kind.BOOLEAN,
        "Whether a decision model steers reflect.",
        without_effect=_NEEDS_DECISIONS,
    ),
    BankField(
        "mental_model_refresh_use_decision_model",
        Kind.BOOLEAN,
        "Whether a decision model steers refreshes.",
        without_effect=_NEEDS_DECISIONS,
    ),
    BankField(
        "mental_model_delta_use_decision_model",
        Kind.BOOLEAN,
        "Whether a decision model steers delta refreshes.",
        without_effect=_NEEDS_DECISIONS,
    ),
)

OTHER = (
    BankField(
        "mcp_enabled_tools",
        Kind.LIST,
        "Tools an MCP client of this bank may use; null: all.",
        strings,
        "list of tool names",
    ),
    BankField(
        "audit_log_enabled",
        Kind.BOOLEAN,
        "Whether calls on this bank that may change something are recorded (howto/audit.md).",
    ),
    BankField(
        "llm_gemini_safety_settings",
        Kind.LIST,
        "Safety settings of a model we do not call.",
        without_effect="Bedrock models have no such setting",
    ),
)

OWN = (
    BankField(
        "volatile_tags",
        Kind.LIST,
        "Patterns of tags that make no scope by themselves, when every pattern of an item's explicit scopes missed.",
        strings,
        "list of globs",
    ),
    BankField(
        "near_duplicates",
        Kind.STRING,
        "What becomes of observations of a scope that are nearly the same, which are looked for from time to time: "
        "they are shown, merged where the model finds them the same, or not looked for.",
        one_of("suggest", "merge", "off"),
        "`suggest`, `merge` or `off`",
    ),
    BankField(
        "verify_directives",
        Kind.BOOLEAN,
        "Whether an answer that directives bind is checked against them by a model call of its own, and mended once.",
    ),
    BankField(
        "recall_strategy_boosts",
        Kind.OBJECT,
        "Arms of recall whose finds count more: in which candidates are kept where there are too many, and beside what "
        "a rerank model says.",
        check_boosts,
        "arm (`semantic`, `keyword`, `graph`, `temporal`) to level (`low`, `medium`, `high`)",
    ),
)
"""Settings that the product whose clients we serve does not have."""
