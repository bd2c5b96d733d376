"""Settings of what a bank remembers: retain and consolidation.  Called by configuration/fields.py."""

from __future__ import annotations

from hindsight_aws.configuration.field import BankField, Kind, at_least
from hindsight_aws.configuration.shapes import (
    check_default_scopes,
    check_defense,
    check_labels,
    check_scope_limits,
    check_strategies,
)

UNLIMITED = "-1 = unlimited"
_NEEDS_DECISIONS = "there is no decision model: every decision is the task's own model's"

_POSITIVE = at_least(1)

RETAIN = (
    BankField(
        "retain_chunk_size",
        Kind.INTEGER,
        "Most characters of one extraction chunk.",
        _POSITIVE,
        "1 or more, below the extraction's output limit",
    ),
    BankField(
        "retain_structured_chunk_size",
        Kind.INTEGER,
        "Most characters of a conversation turn or JSON line that is kept whole; null: retain_chunk_size.",
        _POSITIVE,
        "1 or more",
    ),
    BankField(
        "retain_extraction_mode",
        Kind.STRING,
        "How facts are made of text: `concise`, `verbose` and `custom` ask the model for facts, `verbatim` keeps each "
        "chunk word for word and asks what it is about, `chunks` stores each chunk as it is.",
        accepts="any; an unknown one works as concise",
    ),
    BankField("retain_mission", Kind.STRING, "Steering text shown to extraction."),
    BankField(
        "retain_custom_instructions",
        Kind.STRING,
        "Extraction rules of mode `custom`, in place of the built-in ones; without them it works as `concise`.",
    ),
    BankField("retain_default_strategy", Kind.STRING, "Strategy of items that name none."),
    BankField(
        "retain_strategies",
        Kind.OBJECT,
        "Named bundles of these settings, laid over the bank's for the items that name them.",
        accepts="name to an object of these settings",
    ),
    BankField(
        "retain_chunk_batch_size",
        Kind.INTEGER,
        "Chunks of a long document handled at a time; 0: all.",
        at_least(0),
        "0 or more",
        without_effect="a retain works on a fixed number of chunks at once",
    ),
    BankField(
        "retain_max_attachments_per_chunk",
        Kind.INTEGER,
        "Most attachments of one extraction call.",
        _POSITIVE,
        "1 or more",
        without_effect="attachments are not accepted yet",
    ),
    BankField("store_document_text", Kind.BOOLEAN, "Whether the text of documents and chunks is kept."),
    BankField(
        "entity_labels",
        Kind.LIST,
        "Controlled vocabulary: what a fact is found to say of it becomes entities `key:value`, and tags where a group "
        "says so.",
        check_labels,
        "label groups",
    ),
    BankField(
        "entities_allow_free_form",
        Kind.BOOLEAN,
        "Whether extraction names entities outside the vocabulary; those that a caller names are always kept.",
    ),
    BankField(
        "memory_defense",
        Kind.OBJECT,
        "Rules by which text is redacted or refused before it is stored; null: secrets are redacted "
        "(howto/screening.md).",
        check_defense,
        "`enabled` and `rules`, each {`on`: detector or group, `action`: allow, redact or block}",
    ),
)

CONSOLIDATION = (
    BankField("enable_observations", Kind.BOOLEAN, "Whether facts are consolidated into observations at all."),
    BankField(
        "enable_auto_consolidation",
        Kind.BOOLEAN,
        "Whether a retain, edit or delete wakes consolidation by itself.",
    ),
    BankField(
        "observations_mission",
        Kind.STRING,
        "What is worth an observation, in place of the built-in rules.",
    ),
    BankField(
        "default_observation_scopes",
        Kind.STRING_OR_LIST,
        "Scopes of items that send none; null: `combined`.",
        check_default_scopes,
        "`per_tag`, `combined`, `all_combinations`, `shared` or a list of tag lists",
    ),
    BankField(
        "consolidation_strategies",
        Kind.LIST,
        "Missions and limits by scope; the first strategy with a matching rule claims a scope.",
        check_strategies,
        "list of strategies",
    ),
    BankField(
        "max_observations_per_scope",
        Kind.INTEGER,
        "Most observations of one scope; at the cap they are only updated or merged.",
        at_least(-1),
        UNLIMITED,
    ),
    BankField(
        "observation_scope_limits",
        Kind.LIST,
        "Older form of per-scope caps, asked after consolidation_strategies.",
        check_scope_limits,
        "list of {scope, limit}",
    ),
    BankField(
        "consolidation_llm_batch_size",
        Kind.INTEGER,
        "Most facts of one consolidation call.",
        _POSITIVE,
        "1 or more",
    ),
    BankField(
        "consolidation_llm_parallelism",
        Kind.INTEGER,
        "Scopes of the bank consolidated at once.",
        _POSITIVE,
        "1 or more",
        without_effect="scopes run in parallel up to the consolidation function's own concurrency",
    ),
    BankField(
        "consolidation_max_memories_per_round",
        Kind.INTEGER,
        "Facts of one round; 0: unlimited.",
        at_least(0),
        "0 or more",
        without_effect="a drain works until its scope is done or its time is up",
    ),
    BankField(
        "consolidation_source_facts_max_tokens",
        Kind.INTEGER,
        "Token budget of the source facts shown to consolidation.",
        at_least(-1),
        UNLIMITED,
    ),
    BankField(
        "consolidation_source_facts_max_tokens_per_observation",
        Kind.INTEGER,
        "The same, for each observation.",
        at_least(-1),
        UNLIMITED,
    ),
    BankField(
        "consolidation_use_decision_model",
        Kind.BOOLEAN,
        "Whether a decision model screens duplicates.",
        without_effect=_NEEDS_DECISIONS,
    ),
)
