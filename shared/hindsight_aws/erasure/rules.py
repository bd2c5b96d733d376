"""What an erasure does with each table of the schema: data that docs/howto/erasure.md and a test are held to.

A table without a rule fails the test: whoever adds one says here what becomes of its rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

OfBank = Literal["goes", "stays"]
OfTags = Literal["goes", "blanked", "stays"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What becomes of a table's rows when their bank is erased, and when tags are; `because` says how or why."""

    of_bank: OfBank
    of_tags: OfTags
    because: str


_WITH_FACTS: Final = "goes with the facts"
_WITH_DOCUMENTS: Final = "goes with its document"
_WITH_OPERATIONS: Final = "goes with the operation"
_TENANTS: Final = "is the tenant's: numbers and times"
_SETTINGS: Final = "says how the bank works, not what it remembers"

RULES: Final[Mapping[str, Rule]] = {
    "api_keys": Rule("stays", "stays", "is the tenant's; its limits may name banks and tags, and hold no memory"),
    "audit_log": Rule("stays", "stays", "who called what and when, with ids of ours alone; ends by its own retention"),
    "bank_aliases": Rule("goes", "stays", _SETTINGS),
    "bank_counters": Rule("goes", "stays", "numbers, kept right as facts go"),
    "banks": Rule("goes", "stays", _SETTINGS),
    "chunks": Rule("goes", "goes", _WITH_DOCUMENTS),
    "compactions": Rule("goes", "goes", "goes with the scope"),
    "consolidation_runs": Rule("goes", "goes", "goes with the scope; of others it holds numbers"),
    "consolidation_work": Rule("goes", "goes", "goes with the facts, and with scopes that carry the tags"),
    "directives": Rule("goes", "goes", "goes if it carries the tags"),
    "document_revisions": Rule("goes", "goes", _WITH_DOCUMENTS),
    "documents": Rule("goes", "goes", "goes if it, one of its items or one of its facts carries the tags"),
    "entities": Rule("goes", "goes", "goes when nothing mentions it any more"),
    "entity_cooccurrences": Rule("goes", "goes", "goes with its entities, and is counted anew for those that stay"),
    "entity_keys": Rule("goes", "goes", "goes with the entity"),
    "entity_spellings": Rule("goes", "goes", "goes with the entity"),
    "erasures": Rule("stays", "stays", "is the receipt, and what late messages find; holds no memory"),
    "invalidated_memory_units": Rule("goes", "goes", "goes with its document, or if it carries the tags"),
    "kept_extractions": Rule("goes", "goes", _WITH_OPERATIONS),
    "kept_files": Rule("goes", "goes", _WITH_DOCUMENTS + ", and its stored file with it"),
    "key_uses": Rule("stays", "stays", "when a key was last used"),
    "knowledge_pages": Rule("goes", "goes", "goes with its mental model; a folder stays with the bank"),
    "limit_alerts": Rule("stays", "stays", _TENANTS),
    "link_maintenance": Rule("goes", "stays", "holds ids alone; what is gone is skipped"),
    "memory_links": Rule("goes", "goes", _WITH_FACTS),
    "memory_units": Rule(
        "goes", "goes", "facts that carry the tags, what rests on one, and what a scope of theirs holds"
    ),
    "mental_model_citations": Rule("goes", "blanked", "what is gone stays known by id, so that the page is mended"),
    "mental_model_revisions": Rule("goes", "blanked", "versions that rest on what is gone lose their text"),
    "mental_models": Rule("goes", "goes", "goes if it carries the tags; loses its text if that rests on what is gone"),
    "near_duplicates": Rule("goes", "goes", "goes with the observations"),
    "observation_evidence": Rule("goes", "goes", _WITH_FACTS),
    "observation_revisions": Rule("goes", "goes", "goes if it rested on what is gone, or is of a scope with the tags"),
    "operations": Rule(
        "goes", "goes", "goes if it wrote what is gone alone, or was accepted before and holds the tags"
    ),
    "reembedded_vectors": Rule("goes", "goes", "goes with what it was made of, or with the operation"),
    "reflect_runs": Rule("goes", "goes", "every run from before goes: an answer may rest on anything that was read"),
    "reflect_steps": Rule("goes", "goes", "goes with the run"),
    "revision_facts": Rule("goes", "goes", "goes with the revision"),
    "scopes": Rule("goes", "goes", "goes if it carries the tags and nothing new is in it"),
    "sealed_generations": Rule("goes", "goes", "goes if a fact in it is gone, or with its scope"),
    "spend_days": Rule("stays", "stays", _TENANTS),
    "spend_holds": Rule("stays", "stays", _TENANTS),
    "tenant_limits": Rule("stays", "stays", _TENANTS),
    "tenant_parking": Rule("stays", "stays", _TENANTS),
    "tenants": Rule("stays", "stays", "is the customer"),
    "transfers": Rule("goes", "goes", "goes, and its archive with it: that holds all of the bank"),
    "unit_entities": Rule("goes", "goes", _WITH_FACTS),
    "unit_tags": Rule("goes", "goes", _WITH_FACTS),
    "unit_terms": Rule("goes", "goes", _WITH_FACTS),
    "uploads": Rule("goes", "goes", _WITH_OPERATIONS + ", and its stored file with it"),
    "usage_ledger": Rule("stays", "stays", "what calls cost: numbers and ids"),
    "webhook_deliveries": Rule("goes", "goes", _WITH_OPERATIONS),
    "webhook_events": Rule("goes", "goes", _WITH_OPERATIONS),
    "webhooks": Rule("goes", "stays", _SETTINGS),
}
