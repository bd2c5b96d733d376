"""What somebody may ask of one memory.  Made by the API; cleaned and checked here, pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from hindsight_aws.errors import InvalidField, InvalidRequest, TooLarge
from hindsight_aws.ports.memories import State
from hindsight_aws.retain.intake import limits
from hindsight_aws.text.sanitise import clean, is_blank

Field = Literal["text", "context", "occurred_start", "occurred_end", "mentioned_at", "fact_type", "entities"]

LONGEST_TEXT_BYTES: Final = 65_536
LONGEST_REASON_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class Edit:
    """New values for the fields in `given`; the others mean nothing.

    None and an empty text clear a context or a date.  `resolve_entities` False takes the names literally.
    """

    given: frozenset[Field]
    text: str = ""
    context: str | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    fact_type: str = "world"
    entities: tuple[str, ...] = ()
    resolve_entities: bool = True


@dataclass(frozen=True, slots=True)
class Correction:
    """An edit, a change of state, or both: back to `valid` comes before the edit, `invalidated` after it."""

    edit: Edit | None = None
    state: State | None = None
    reason: str | None = None


def checked(correction: Correction) -> Correction:
    """The correction with clean texts.  Raises: InvalidRequest and its kinds, naming the field."""
    edit = None if correction.edit is None else _checked(correction.edit)
    reason = clean(correction.reason or "").strip() or None
    _check_size(reason or "", LONGEST_REASON_BYTES, "reason")
    return Correction(edit, correction.state, reason)


def _checked(edit: Edit) -> Edit:
    text, context = clean(edit.text), clean(edit.context or "")
    if "text" in edit.given and is_blank(text):
        raise InvalidRequest("text must not be blank")
    if "fact_type" in edit.given and edit.fact_type not in ("world", "experience"):
        raise InvalidField("fact_type", "must be 'world' or 'experience'")
    _check_size(text, LONGEST_TEXT_BYTES, "text")
    _check_size(context, limits.LONGEST_CONTEXT_BYTES, "context")
    return replace(edit, text=text, context=context or None, entities=tuple(_names(edit.entities)))


def _names(entities: Iterable[str]) -> Iterable[str]:
    names = [" ".join(clean(name).split()) for name in entities]
    if len(names) > limits.MOST_ENTITIES:
        raise InvalidField("entities", f"must hold at most {limits.MOST_ENTITIES} entities")
    for at, name in enumerate(names):
        if len(name) > limits.LONGEST_ENTITY_CHARS:
            raise InvalidField(f"entities[{at}]", f"must be at most {limits.LONGEST_ENTITY_CHARS} characters")
    return [name for name in names if not is_blank(name)]


def _check_size(text: str, most: int, field: str) -> None:
    if len(text.encode()) > most:
        raise TooLarge(f"{field} must be at most {most} bytes of UTF-8")
