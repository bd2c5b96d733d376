"""How tools' answers look to the model: aliases for real ids, each thing whole once, and nothing said twice.

Called by transcript.py, which tells a run's steps in order; keeps what was shown so far, and reads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.conversation.evidence import Evidence

_FACT, _OBSERVATION, _PAGE, _CHUNK = "f", "o", "p", "c"
# In the order in which aliases are given out: what an observation refers to comes before it.
_LISTS = {"source_facts": _FACT, "memories": _FACT, "observations": _OBSERVATION, "mental_models": _PAGE}
_DATES = ("mentioned_at", "occurred_start", "updated_at")


@dataclass(slots=True)
class Presentation:
    """What has been shown in a run: `ids` and `evidence` by alias, in order of appearance.

    Ids of different kinds are told apart: a caller may have given a page the id of a memory.
    """

    ids: dict[str, str] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    _given: dict[tuple[str, str], str] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def show(self, result: JsonObject) -> JsonObject:
        """A tool's answer as the model sees it."""
        again: list[JsonValue] = []
        shown: JsonObject = {}
        for name, kind in _LISTS.items():
            if name in result:
                shown[name] = [record for item in _objects(result[name]) if (record := self._record(item, kind, again))]
        if "results" in result:
            shown["results"] = [self._opened(item, again) for item in _objects(result["results"])]
        if "chunks" in result:
            shown["chunks"] = [chunk for item in _objects(result["chunks"]) if (chunk := self._chunk(item, again))]
        if "not_read" in result:
            shown["not_read"] = self._named(result["not_read"], _PAGE)
        ordered = {name: shown.get(name, value) for name, value in result.items()}
        return _without_constants({**ordered, "already_shown": again} if again else ordered)

    def _record(self, item: JsonObject, kind: str, again: list[JsonValue]) -> JsonObject | None:
        """The thing under its alias; None, and its alias among `again`, when it was shown before."""
        real, text, is_whole = str(item.get("id")), _text(item), "snippet" not in item
        alias = self._alias(real, kind)
        before = self.evidence.get(alias)
        if before is not None and (before.text == text or (before.is_whole and not is_whole)):
            again.append(alias)
            return None
        date = next((str(item[name]) for name in _DATES if item.get(name)), None)
        sources = () if before is None else before.sources
        self.evidence[alias] = Evidence(alias, real, text, date, sources, is_whole)
        record = {**item, "id": alias}
        return {**record, "rests_on": self._named(item["rests_on"], _FACT)} if "rests_on" in item else record

    def _opened(self, item: JsonObject, again: list[JsonValue]) -> JsonObject:
        """One memory opened by `expand`: what lies beneath it, and itself when it was not shown yet."""
        real = str(item.get("memory_id"))
        memory = item.get("memory")
        if not isinstance(memory, dict):
            return {**item, "memory_id": self._name(real, _FACT)}
        kind = _OBSERVATION if memory.get("type") == "observation" else _FACT
        record = self._record({**memory, "id": real}, kind, [])
        shown = {name: value for name, value in item.items() if name not in ("memory", "chunk", "document", "evidence")}
        shown["memory_id"] = self._name(real, kind)
        if record is not None:
            shown["memory"] = record
        if isinstance(chunk := item.get("chunk"), dict):
            alias = self._alias(str(chunk.get("id")), _CHUNK)
            shown["chunk"] = self._chunk({**chunk, "of": [real]}, again) or {"chunk": alias}
        if isinstance(document := item.get("document"), dict):
            shown["document"] = self._document(document, real)
        if "evidence" in item:
            facts = [(self._record(fact, _FACT, []), fact) for fact in _objects(item["evidence"])]
            shown["evidence"] = [told or _quoted(self._name(str(fact["id"]), _FACT), fact) for told, fact in facts]
        return shown

    def _chunk(self, item: JsonObject, again: list[JsonValue]) -> JsonObject | None:
        """A chunk with the facts drawn from it, whose source it then is; None when it was shown before."""
        alias, text = self._alias(str(item.get("id")), _CHUNK), str(item.get("text") or "")
        facts = self._named(item.get("of"), _FACT)
        self._lie_beneath(facts, text)
        if self._texts.get(alias) == text:
            again.append(alias)
            return None
        self._texts[alias] = text
        return {name: value for name, value in item.items() if name not in ("id", "of")} | {
            "chunk": alias,
            "memories": facts,
        }

    def _document(self, item: JsonObject, memory: str) -> JsonObject:
        name, text = f"document {item.get('id')}", str(item.get("full_text") or "")
        self._lie_beneath([self._name(memory, _FACT)], text)
        if self._texts.get(name) == text:
            return {key: value for key, value in item.items() if key != "full_text"} | {"already_shown": True}
        self._texts[name] = text
        return item

    def _lie_beneath(self, aliases: Sequence[JsonValue], text: str) -> None:
        for alias in map(str, aliases):
            piece = self.evidence.get(alias)
            if piece is not None and text and text not in piece.sources:
                self.evidence[alias] = replace(piece, sources=(*piece.sources, text))

    def _named(self, ids: JsonValue, kind: str) -> list[JsonValue]:
        return [self._name(str(one), kind) for one in (ids if isinstance(ids, list) else [])]

    def _name(self, real: str, kind: str) -> str:
        """The alias of a thing that was shown, else its own name."""
        return self._given.get((_space(kind), real), real)

    def _alias(self, real: str, kind: str) -> str:
        known = self._given.get((_space(kind), real))
        if known is not None:
            return known
        self._counts[kind] = self._counts.get(kind, 0) + 1
        alias = f"{kind}{self._counts[kind]}"
        self._given[_space(kind), real], self.ids[alias] = alias, real
        return alias


def _space(kind: str) -> str:
    """Facts and observations have ids of one kind."""
    return _FACT if kind == _OBSERVATION else kind


def _without_constants(result: JsonObject) -> JsonObject:
    """The answer with the type of its facts said once, where it is the same for all."""
    facts = [fact for fact in _objects(result.get("memories")) if "type" in fact]
    types = {str(fact["type"]) for fact in facts}
    if len(types) != 1 or len(facts) != len(_objects(result.get("memories"))):
        return result
    plain: list[JsonValue] = [{name: value for name, value in fact.items() if name != "type"} for fact in facts]
    return {**result, "memories": plain, "type": types.pop()}


def _text(item: JsonObject) -> str:
    return str(next((item[name] for name in ("text", "content", "snippet") if item.get(name)), ""))


def _quoted(alias: str, fact: JsonObject) -> JsonObject:
    return {"id": alias, "quote": fact["quote"]} if "quote" in fact else {"id": alias}


def _objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
