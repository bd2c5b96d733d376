"""A bank's controlled vocabulary: which labels a fact may carry, and how they are shown to the model.

Made by recipes of the setting `entity_labels`; read by labels and by the model call.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.text.sanitise import clean, is_blank

LabelKind = Literal["value", "multi-values", "text", "multi-text", "map"]

_KINDS: Final = frozenset({"value", "multi-values", "text", "multi-text", "map"})
_DEEPEST: Final = 5


@dataclass(frozen=True, slots=True)
class LabelField:
    """What may stand in one place: one value or several, of a closed list or free, or fields of its own (`map`).

    `values` maps each allowed value to what it means.
    """

    kind: LabelKind
    description: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, LabelField] = field(default_factory=dict)

    @property
    def is_closed(self) -> bool:
        """Whether only the listed values count."""
        return self.kind in ("value", "multi-values")

    @property
    def is_single(self) -> bool:
        """Whether only the first value counts."""
        return self.kind in ("value", "text")


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """One label: `is_tag` copies what is found to the fact's tags, `is_required` asks for it on every fact."""

    key: str
    holds: LabelField
    is_required: bool = False
    is_tag: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The labels of a bank, and whether names outside them count as entities (`free_form`)."""

    groups: tuple[LabelGroup, ...] = ()
    free_form: bool = True

    def as_document(self) -> list[JsonValue]:
        """The groups as the model is shown them."""
        return [_group_shown(group) for group in self.groups]


def vocabulary_of(entity_labels: Sequence[object] | None, free_form: bool) -> Vocabulary:
    """The vocabulary in a bank's settings; of two groups with one key the first counts, an unfinished one is left out.

    Older words are read too: `free_values` makes a text, `multi_value` takes several.
    """
    groups: dict[str, LabelGroup] = {}
    for raw in _flat(entity_labels or (), 0):
        key = _text(raw.get("key"))
        if key:
            is_required, is_tag = raw.get("optional") is False, raw.get("tag") is True
            groups.setdefault(key.casefold(), LabelGroup(key, _field(raw, "value", 0), is_required, is_tag))
    return Vocabulary(tuple(groups.values()), free_form)


def _flat(entries: Sequence[object], depth: int) -> Iterator[Mapping[str, object]]:
    """The groups, those gathered under `attributes` too."""
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        inner = entry.get("attributes")
        if isinstance(inner, list) and depth < _DEEPEST:
            yield from _flat(inner, depth + 1)
        elif inner is None:
            yield entry


def _field(raw: Mapping[str, object], default: LabelKind, depth: int) -> LabelField:
    kind = _kind(raw, default)
    inner = raw.get("fields")
    fields = {
        name: _field(each, "text", depth + 1)
        for key, each in (inner.items() if isinstance(inner, Mapping) and depth < _DEEPEST else ())
        if isinstance(each, Mapping) and (name := _text(key))
    }
    return LabelField(kind, _text(raw.get("description")), dict(_values(raw.get("values"))), fields)


def _kind(raw: Mapping[str, object], default: LabelKind) -> LabelKind:
    kind = raw.get("type", default)
    if kind not in _KINDS:
        return default
    if kind == "value" and raw.get("free_values") is True:
        return "multi-text" if raw.get("multi_value") is True else "text"
    if kind == "value" and raw.get("multi_value") is True:
        return "multi-values"
    return cast("LabelKind", kind)


def _values(raw: object) -> Iterator[tuple[str, str]]:
    for entry in raw if isinstance(raw, list) else ():
        described = entry if isinstance(entry, Mapping) else {"value": entry}
        value = _text(described.get("value"))
        if value:
            yield value, _text(described.get("description"))


def _text(value: object) -> str:
    text = " ".join(clean(value).split()) if isinstance(value, str) else ""
    return "" if is_blank(text) else text


def _group_shown(group: LabelGroup) -> JsonObject:
    shown: JsonObject = {"key": group.key, **_field_shown(group.holds)}
    return {**shown, "required": True} if group.is_required else shown


def _field_shown(holds: LabelField) -> JsonObject:
    shown: JsonObject = {"type": holds.kind}
    if holds.description:
        shown["description"] = holds.description
    if holds.is_closed:
        shown["values"] = [
            {"value": value, "description": meaning} if meaning else {"value": value}
            for value, meaning in holds.values.items()
        ]
    if holds.kind == "map":
        shown["fields"] = {name: _field_shown(inner) for name, inner in holds.fields.items()}
    return shown
