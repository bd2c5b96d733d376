"""What a rule may look at: the records of a call's data blocks and of its tool results, and nothing else.

Called by every rule; calls `shapes`. Prose is never read, so text in a block cannot give orders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.blocks import Documents
from infra.local.bedrock.shapes import a_count, a_text

_ALIAS_KINDS = {"f": "memory", "o": "observation", "p": "mental_model"}
_LIST_KINDS = {"observations": "observation", "mental_models": "mental_model", "memories": "memory", "facts": "memory"}
_NOT_EVIDENCE = frozenset({"directives", "document", "question", "mission", "context"})
_TEXT_KEYS = ("text", "content", "snippet", "answer", "claim")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A thing with an id and a text; `kind` is memory, observation or mental_model."""

    kind: str
    id: str
    text: str
    date: str


@dataclass(frozen=True, slots=True)
class Material:
    """The documents by kind, and the results of the tools used so far."""

    documents: Documents
    results: tuple[JsonValue, ...] = ()

    def records(self, kind: str) -> list[JsonObject]:
        """The objects in the blocks of that kind, whether a block holds one or a list."""
        found: list[JsonObject] = []
        for document in self.documents.get(kind, []):
            items = document if isinstance(document, list) else [document]
            found += [item if isinstance(item, dict) else {"text": str(item)} for item in items]
        return found

    def text(self, kind: str) -> str:
        """The texts of the blocks of that kind, joined."""
        return "\n".join(text_of(record) for record in self.records(kind) if text_of(record))

    @property
    def question(self) -> str:
        """What is asked; a call may say it twice."""
        asked = [*self.records("question"), *self.records("query")]
        return "\n".join(dict.fromkeys(filter(None, map(text_of, asked))))

    @property
    def limit(self) -> int | None:
        """The smallest `max_…` count of any block."""
        counts = [
            count
            for kind in self.documents
            for record in self.records(kind)
            for name, value in record.items()
            if name.startswith("max_") and (count := a_count(value)) is not None
        ]
        return min(counts, default=None)

    def evidence(self) -> list[Evidence]:
        """Each thing with an id and a text, once, in the order in which it was shown."""
        shown: dict[str, Evidence] = {}
        for result in self.results:
            for item in _evidence_in(result, "memory"):
                shown.setdefault(item.id, item)
        for kind, documents in self.documents.items():
            if kind not in _NOT_EVIDENCE:
                for item in _evidence_in(documents, _LIST_KINDS.get(kind, "memory")):
                    shown.setdefault(item.id, item)
        return list(shown.values())


def text_of(record: JsonValue) -> str:
    """The text of a record, by whichever of its usual names."""
    if isinstance(record, str):
        return record
    if not isinstance(record, dict):
        return ""
    return next((text for key in _TEXT_KEYS if (text := a_text(record.get(key)))), "")


def _evidence_in(value: JsonValue, kind: str) -> Iterator[Evidence]:
    if isinstance(value, list):
        for item in value:
            yield from _evidence_in(item, kind)
    elif isinstance(value, dict):
        identity, text = a_text(value.get("id")), text_of(value)
        if identity and text:
            alias = re.fullmatch(r"([fop])\d+", identity)
            dates = (a_text(value.get(key)) for key in ("mentioned_at", "occurred_start", "date"))
            yield Evidence(_ALIAS_KINDS[alias[1]] if alias else kind, identity, text, next(filter(None, dates), ""))
            return
        for name, inner in value.items():
            if isinstance(inner, dict | list) and name not in _NOT_EVIDENCE:
                yield from _evidence_in(inner, _LIST_KINDS.get(name, kind))
