"""Names that PATCH config refuses with a reason of their own: settings of the server, and secrets."""

from __future__ import annotations

from hindsight_aws.settings import Settings

_SECRET_ENDINGS = (
    "_key",
    "_base_url",
    "_secret",
    "_password",
    "_token",
    "_credentials",
    "_access_key_id",
    "database_url",
)
_SERVER_PREFIXES = (
    "database_",
    "db_",
    "embeddings_",
    "file_storage_",
    "llm_",
    "log_",
    "reranker_",
    "tenant_",
    "worker_",
)
# fmt: off
_SERVER_NAMES = frozenset(
    {
        "audit_log_retention_days", "bank_alias_cache_ttl_seconds", "bank_info_cache_ttl_seconds",
        "bank_stats_cache_ttl_seconds", "bm25_max_query_terms", "bm25_min_score", "bm25_selective_terms",
        "consolidation_batch_size", "consolidation_dedup_threshold", "consolidation_max_attempts",
        "consolidation_max_completion_tokens", "consolidation_max_tokens", "consolidation_recall_budget",
        "consolidation_reconcile_interval_seconds", "consolidation_wall_timeout", "default_bank_template",
        "enable_bank_config_api", "enable_bank_llm_health", "enable_document_export_api",
        "enable_document_import_api", "enable_dry_run_extract", "enable_file_upload_api",
        "enable_mental_model_history", "enable_observation_history", "entity_intrabatch_merge_similarity",
        "entity_merge_min_similarity", "entity_trgm_similarity_threshold", "fail_on_extraction_errors",
        "file_conversion_max_batch_size", "file_conversion_max_batch_size_mb", "file_delete_after_retain",
        "file_parser", "graph_retriever", "graph_seed_min_similarity", "gzip_min_size",
        "link_expansion_per_entity_limit", "link_expansion_timeout", "llm_output_language", "llm_trace_enabled",
        "llm_trace_max_chars", "llm_trace_retention_days", "mcp_enabled", "mcp_stateless",
        "mental_model_history_max_entries", "mental_model_refresh_tick_seconds",
        "observation_history_max_entries", "operation_retention_days", "recall_boost_level",
        "recall_max_candidates_per_source", "recall_max_concurrent", "recall_max_query_tokens",
        "recency_decay_function", "recency_decay_halflife_days",
        "recency_decay_linear_window_days", "reflect_max_completion_tokens", "reflect_max_context_tokens",
        "reflect_max_iterations", "reflect_wall_timeout", "reranker_max_candidates",
        "reranker_max_candidates_low", "retain_attachment_max_count", "retain_attachment_max_size_mb",
        "retain_batch_enabled", "retain_batch_tokens", "retain_entity_lookup", "retain_extract_causal_links",
        "retain_max_completion_tokens", "retain_max_concurrent", "retain_memory_budget_mb",
        "retain_wall_timeout", "semantic_link_min_similarity", "semantic_min_similarity",
        "temporal_semantic_min_similarity", "text_search_extension", "text_search_extension_native_language",
        "tokenizer_encoding", "webhook_expose_response_body", "worker_enabled", "worker_max_retries",
        "worker_task_retry_backoff_seconds",
    }
)
# fmt: on
_OWN_NAMES = frozenset(name.removeprefix("hindsight_api_").removeprefix("hindsight_") for name in Settings.model_fields)


def is_credential(name: str) -> bool:
    """Whether the name is that of a secret, or of an address that a secret is sent to."""
    return name.endswith(_SECRET_ENDINGS)


def is_server_level(name: str) -> bool:
    """Whether the name is that of a setting of the whole server."""
    return name in _SERVER_NAMES or name in _OWN_NAMES or name.startswith(_SERVER_PREFIXES)
