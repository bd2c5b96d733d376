"""What an archive holds, as data: each kind of row, which of its columns hold ids, and when it is carried.

Read by the rest of this package; the statements that read and write a kind have its name (store/sql/transfer_*.sql).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from hindsight_aws.ports.model_gateway import JsonValue

Part = Literal["data", "whole", "pages", "config", "history"]
"""`data`: documents with their facts; `whole`: all else that a bank remembers; `pages`: mental models."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of row.  A row comes after those of the kinds before it, which it may refer to.

    `parts`: all of them must be wanted for it to be carried.  `ids` are columns of one id or a list of ids; `nested`
    are columns of JSON in which every text that is an id is one.  `objects`, `lists`: columns that hold such JSON.
    `embeds`: the column whose text its vector stands for.  `bare`: what its columns hold when no data is carried.
    """

    name: str
    parts: frozenset[Part]
    ids: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    embeds: str | None = None
    bare: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def member(self) -> str:
        """The name of its member of the archive."""
        return f"{self.name}.jsonl"


def _of(*parts: Part) -> frozenset[Part]:
    return frozenset(parts)


_WITHOUT_TEXT: Final[Mapping[str, JsonValue]] = {
    "content": "",
    "structure": None,
    "response": None,
    "vector": None,
    "embedding_model": None,
    "version": 0,
    "written_query": None,
    "last_refreshed_at": None,
    "last_full_refreshed_at": None,
    "last_memory_seen_at": None,
}
"""Of a mental model that is carried without the memories it was written from: its question, not its answer."""

BANK: Final = Kind("bank", _of("config"))
DOCUMENTS: Final = Kind("documents", _of("data"), ("document_id",), objects=("retain_params",))
CHUNKS: Final = Kind("chunks", _of("data"), ("document_id",))
MEMORIES: Final = Kind(
    "memories",
    _of("data"),
    ("id", "document_id", "scope_id", "causes"),
    ("created_by", "last_by"),
    objects=("metadata", "postings"),
    lists=("tags", "called", "causes"),
    embeds="text",
)

KINDS: Final[tuple[Kind, ...]] = (
    BANK,
    DOCUMENTS,
    CHUNKS,
    Kind("scopes", _of("data", "whole"), ("scope_id",), lists=("tags",)),
    Kind("entities", _of("data", "whole"), ("entity_id",)),
    Kind("entity_keys", _of("data", "whole"), ("entity_id",)),
    Kind("entity_spellings", _of("data", "whole"), ("entity_id",)),
    Kind("entity_cooccurrences", _of("data", "whole"), ("entity_id_1", "entity_id_2")),
    MEMORIES,
    Kind("mentions", _of("data", "whole"), ("unit_id", "entity_id")),
    Kind(
        "invalidated",
        _of("data", "whole"),
        ("id", "document_id", "entity_ids"),
        ("causal_links",),
        objects=("metadata",),
        lists=("tags", "causal_links"),
        embeds="text",
    ),
    Kind("links", _of("data", "whole"), ("from_unit", "to_unit")),
    Kind("link_queue", _of("data", "whole"), ("entry_id", "item_id")),
    Kind("evidence", _of("data", "whole"), ("observation_id", "fact_id", "run_id")),
    Kind("near_duplicates", _of("data", "whole"), ("first_id", "second_id", "scope_id")),
    Kind("work", _of("data", "whole"), ("work_id", "fact_id", "scope_id", "run_id")),
    Kind("runs", _of("data", "whole", "history"), ("run_id", "scope_id"), objects=("counts",)),
    Kind(
        "revisions",
        _of("data", "whole", "history"),
        ("revision_id", "observation_id", "scope_id", "added_fact_ids", "merged_into", "run_id"),
        ("evidence", "provenance"),
        objects=("provenance",),
        lists=("evidence",),
        embeds="text",
    ),
    Kind("revision_facts", _of("data", "whole", "history"), ("fact_id", "revision_id")),
    Kind(
        "document_revisions",
        _of("data", "history"),
        ("document_id", "revision_id"),
        ("detail",),
        objects=("detail",),
    ),
    Kind(
        "mental_models",
        _of("pages"),
        ("page_id",),
        ("structure", "response"),
        objects=("trigger", "creator"),
        embeds="content",
        bare=_WITHOUT_TEXT,
    ),
    Kind("mental_model_citations", _of("pages", "data", "whole"), ("page_id", "cited_id", "memory_id")),
    Kind(
        "mental_model_revisions",
        _of("pages", "data", "whole", "history"),
        ("page_id", "revision_id"),
        ("response",),
    ),
    Kind("knowledge_pages", _of("pages"), ("page_id",), ("named_by",)),
    Kind("directives", _of("config"), ("directive_id",)),
    Kind("webhooks", _of("config"), ("webhook_id",), objects=("params",)),
)
"""Every kind, in the order in which rows can be written.  A new one stands here and in the two SQL files."""

BY_MEMBER: Final[Mapping[str, Kind]] = {kind.member: kind for kind in KINDS}

NOT_CARRIED: Final[Mapping[str, str]] = {
    "audit_log": "who called what, here",
    "bank_aliases": "names are a tenant's: another bank may have them where the archive goes",
    "bank_counters": "counted anew from what is written",
    "banks": "the bank itself is made anew; its name and settings are the kind `bank`",
    "compactions": "opened anew by the sweep",
    "erasures": "is the receipt of what was done to this bank",
    "kept_extractions": "belongs to an operation",
    "kept_files": "their bytes stay in this deployment's bucket: an archive holds the text that was read from them",
    "operations": "work that was asked for here",
    "reembedded_vectors": "half-made vectors of an operation; those in use go with their rows",
    "reflect_runs": "answers to callers of this bank",
    "reflect_steps": "goes with its run",
    "sealed_generations": "is under seal until it is deleted, and must not outlive that anywhere",
    "transfers": "belongs to an operation",
    "unit_tags": "made anew from the tags of what is written",
    "unit_terms": "carried as the postings of the memories, and made anew from them",
    "uploads": "belongs to an operation",
    "usage_ledger": "what calls cost, here",
    "webhook_deliveries": "what was told to hooks of this bank",
    "webhook_events": "belongs to an operation",
}
"""The tables of banks of which an archive holds no rows, and why.  A test holds them and the kinds to the schema."""
