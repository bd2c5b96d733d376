"""Applies a bank's policy to the documents of a request: redacts, drops items, and counts.

Called by admit and by the dry run before anything is written; calls screening.  Fails closed: what could not be looked
at, or is under a policy that cannot be read, is not stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from hindsight_aws.errors import ContentRefused, Violation
from hindsight_aws.model.document import SourceFile
from hindsight_aws.model.screening import Screening, ScreeningPolicy
from hindsight_aws.retain.intake.accepted import DocumentTask, Part
from hindsight_aws.screening import BUILT_IN, Detector, Look

PolicyOf = Callable[[str | None], ScreeningPolicy]
"""The policy of items under a strategy, None being the bank's own."""


def screen(
    policy_of: PolicyOf,
    tasks: Sequence[DocumentTask],
    detectors: Mapping[str, Detector] = BUILT_IN,
) -> tuple[list[DocumentTask], Screening]:
    """The documents as they may be stored, and what was done to them.

    Text is redacted in place; an entity, or its type, that holds a find is left out.  Tags, scopes, metadata keys,
    strategies and document ids tell things apart: a placeholder would make two of them one, so a find in them drops
    the item as `block` does.  A find is one too where it is spelled in JSON escapes, or where only the name of the
    metadata tells that the value is a secret.

    Raises: ContentRefused when no item is left; InvalidField when a detector failed.
    """
    counted: Counter[str] = Counter()
    violations: list[Violation] = []
    kept: list[DocumentTask] = []
    for task in tasks:
        parts: list[Part] = []
        file = task.file
        for part in task.parts:
            look = Look(part.position, policy_of(part.strategy), detectors)
            screened = _part(look, part, task.external_id)
            file = None if file is None else _file(look, file)
            if look.violations:
                violations += look.violations
            else:
                counted.update(look.redacted)
                parts.append(screened)
        if parts:
            kept.append(replace(task, parts=tuple(parts), file=file))
    if violations and not kept:
        raise ContentRefused(tuple(violations))
    return kept, Screening(counted, tuple(violations))


class _Entities(TypedDict):
    entities: tuple[str, ...]
    entity_types: dict[str, str]


def _part(look: Look, part: Part, document_id: str | None) -> Part:
    """The part with its texts redacted; only good when `look` noted no violations."""
    if not look.is_needed:
        return part
    for field, text in _labels_of(part, document_id):
        look.label(text, field)
    return replace(
        part,
        content=look.text(part.content, "content"),
        context=None if part.context is None else look.text(part.context, "context"),
        metadata={name: look.text(value, f"metadata.{name}", name) for name, value in part.metadata.items()},
        **_entities(look, part),
    )


def _file(look: Look, file: SourceFile) -> SourceFile:
    """The file with its name and its type as they may be stored."""
    return replace(file, name=look.text(file.name, "file"), content_type=look.text(file.content_type, "file"))


def _entities(look: Look, part: Part) -> _Entities:
    """The entities without those that hold a find; one whose type does has no type of its own."""
    kept: list[str] = []
    types: dict[str, str] = {}
    for at, name in enumerate(part.entities):
        kind = part.entity_types.get(name, "")
        if look.text(name, f"entities[{at}]", kind) != name:
            continue
        kept.append(name)
        if kind and look.text(kind, f"entities[{at}].type") == kind:
            types[name] = kind
    return {"entities": tuple(kept), "entity_types": types}


def _labels_of(part: Part, document_id: str | None) -> Iterator[tuple[str, str]]:
    if document_id is not None:
        yield "document_id", document_id
    if part.strategy is not None:
        yield "strategy", part.strategy
    yield from ((f"tags[{at}]", tag) for at, tag in enumerate(part.tags))
    if isinstance(part.observation_scopes, tuple):
        for at, tags in enumerate(part.observation_scopes):
            yield from ((f"observation_scopes[{at}]", tag) for tag in tags)
    yield from (("metadata", name) for name in part.metadata)
