"""Accepts a request: cleans every string, checks every limit, dates the items, groups them into documents.

Called by `retain` and `submit`.  Pure; raises InvalidRequest that names the field before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from hindsight_aws.errors import InvalidField, InvalidRequest, TooLarge
from hindsight_aws.model.scope import SCOPE_MODES, ObservationScopes, TooManyScopes, resolve_scopes
from hindsight_aws.retain.intake import limits
from hindsight_aws.retain.intake.accepted import DocumentTask, Part
from hindsight_aws.retain.intake.requests import USUAL_ENTITY_TYPE, EntityHint, RetainItem, RetainRequest
from hindsight_aws.retain.intake.timestamps import check_timestamp
from hindsight_aws.text.sanitise import clean, is_blank
from hindsight_aws.text.tags import check_tags

_DIVIDE: Final = "; divide a larger text into several documents"


def accept(request: RetainRequest, now: datetime, *, may_fold: bool) -> list[DocumentTask]:
    """The request as documents of parts.

    Items of one document id become one document, in order, when `may_fold`.  Items without an id share a generated
    document with those of their strategy when no item has an id; otherwise each is a document of its own.  So a
    document has one strategy.

    Raises: InvalidField, TooLarge, InvalidRequest.
    """
    if not request.items:
        raise InvalidField("items", "must hold at least one item")
    if len(request.items) > limits.MOST_ITEMS:
        raise TooLarge(f"items: at most {limits.MOST_ITEMS} in one request, not {len(request.items)}")
    shared = check_tags(request.document_tags, "document_tags")
    parts = [_part(position, item, now, shared) for position, item in enumerate(request.items)]
    named = [_document_id(f"items[{position}].document_id", item) for position, item in enumerate(request.items)]
    modes = [item.update_mode for item in request.items]
    for position, (mode, name) in enumerate(zip(modes, named, strict=True)):
        if mode == "append" and name is None:
            raise InvalidRequest(f"items[{position}].update_mode 'append' requires a document_id")
    if not any(named):
        return _unnamed(parts)
    groups: dict[str, DocumentTask] = {}
    for part, name, mode in zip(parts, named, modes, strict=True):
        key = f"id:{name}" if name is not None else f"item:{part.position}"
        group = groups.get(key)
        if group is not None and not may_fold:
            raise InvalidRequest(
                f"{part.path}.document_id: {name!r} occurs twice; an async request takes each document once"
            )
        if group is not None and group.parts[0].strategy != part.strategy:
            raise InvalidRequest(f"{part.path}.strategy must be that of the document's other items")
        before = (
            DocumentTask(name, mode, (), part.position, request.items[part.position].file) if group is None else group
        )
        groups[key] = replace(before, parts=(*before.parts, part))
    return list(groups.values())


def _unnamed(parts: Sequence[Part]) -> list[DocumentTask]:
    """A document of each strategy among the parts."""
    groups: dict[str | None, list[Part]] = {}
    for part in parts:
        groups.setdefault(part.strategy, []).append(part)
    return [DocumentTask(None, "replace", tuple(group), group[0].position) for group in groups.values()]


def _part(position: int, item: RetainItem, now: datetime, shared_tags: Sequence[str]) -> Part:
    at = f"items[{position}]"
    tags = _distinct([*check_tags(item.tags, f"{at}.tags"), *shared_tags])
    timestamp = item.timestamp
    happened = check_timestamp(timestamp, f"{at}.timestamp") if isinstance(timestamp, datetime) else None
    return Part(
        position=position,
        content=_content(item.content, f"{at}.content"),
        happened=now if timestamp is None else happened,
        is_dated=timestamp is not None,
        context=_context(item.context, f"{at}.context"),
        metadata=_metadata(item.metadata, f"{at}.metadata"),
        entities=_entities(item.entities, f"{at}.entities"),
        entity_types=_entity_types(item.entities, f"{at}.entities"),
        tags=tags,
        observation_scopes=check_scopes(item.observation_scopes, tags, f"{at}.observation_scopes"),
        strategy=clean(item.strategy).strip() or None if item.strategy is not None else None,
        resolve_entities=item.resolve_entities,
    )


def _content(content: str, field: str) -> str:
    cleaned = clean(content)
    if is_blank(cleaned):
        raise InvalidField(field, "must hold text")
    _check_size(cleaned, limits.LONGEST_CONTENT_BYTES, field, _DIVIDE)
    return cleaned


def _context(context: str | None, field: str) -> str | None:
    cleaned = clean(context or "")
    _check_size(cleaned, limits.LONGEST_CONTEXT_BYTES, field)
    return None if is_blank(cleaned) else cleaned


def _document_id(field: str, item: RetainItem) -> str | None:
    cleaned = clean(item.document_id or "")
    if len(cleaned.encode()) > limits.LONGEST_DOCUMENT_ID_BYTES:
        raise InvalidField(field, f"must be at most {limits.LONGEST_DOCUMENT_ID_BYTES} bytes of UTF-8")
    return cleaned or None


def _metadata(metadata: Mapping[str, str | None], field: str) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in metadata.items():
        if value is None:
            continue
        if not isinstance(value, str):
            raise InvalidField(f"{field}.{name}", "must be a string")
        kept[clean(name)] = clean(value)
    if len(kept) > limits.MOST_METADATA_KEYS:
        raise InvalidField(field, f"must hold at most {limits.MOST_METADATA_KEYS} keys")
    _check_size("".join((*kept, *kept.values())), limits.LONGEST_METADATA_BYTES, field)
    return kept


def _entities(hints: Sequence[EntityHint], field: str) -> tuple[str, ...]:
    if len(hints) > limits.MOST_ENTITIES:
        raise InvalidField(field, f"must hold at most {limits.MOST_ENTITIES} entities")
    names: list[str] = []
    for position, hint in enumerate(hints):
        name = " ".join(clean(hint.text).split())
        if len(name) > limits.LONGEST_ENTITY_CHARS:
            raise InvalidField(f"{field}[{position}].text", f"must be at most {limits.LONGEST_ENTITY_CHARS} characters")
        if not is_blank(name):
            names.append(name)
    return tuple(names)


def _entity_types(hints: Sequence[EntityHint], field: str) -> dict[str, str]:
    """The types that the caller gave to names, but for the one that names have anyway."""
    types: dict[str, str] = {}
    for position, hint in enumerate(hints):
        name, kind = " ".join(clean(hint.text).split()), clean(hint.type).strip()
        if len(kind) > limits.LONGEST_ENTITY_TYPE_CHARS:
            most = limits.LONGEST_ENTITY_TYPE_CHARS
            raise InvalidField(f"{field}[{position}].type", f"must be at most {most} characters")
        if name and kind and kind != USUAL_ENTITY_TYPE:
            types[name] = kind
    return types


def check_scopes(asked: ObservationScopes | None, tags: Sequence[str], field: str) -> ObservationScopes | None:
    """The scopes cleaned, as an item with these tags may ask for them.  Raises InvalidField."""
    if isinstance(asked, str) and asked not in SCOPE_MODES:
        raise InvalidField(field, f"must be one of {', '.join(SCOPE_MODES)}, or a list of tag lists")
    scopes = asked
    if isinstance(asked, tuple):
        scopes = tuple(check_tags(entry, f"{field}[{place}]") for place, entry in enumerate(asked))
    try:
        resolved = resolve_scopes(tags, scopes)
    except TooManyScopes as too_many:
        raise InvalidField(field, str(too_many)) from None
    if len(resolved) > limits.MOST_SCOPES and asked != "per_tag":
        raise InvalidField(field, f"must ask for at most {limits.MOST_SCOPES} scopes")
    return scopes


def _check_size(text: str, most: int, field: str, instead: str = "") -> None:
    if len(text) > most or len(text.encode()) > most:
        raise TooLarge(f"{field} must be at most {most} bytes of UTF-8{instead}")


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
