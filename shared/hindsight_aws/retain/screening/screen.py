"""Applies a bank's policy to the documents of a request: redacts, drops items, counts, and never repeats what it found.

Called by intake/admit before anything is written; calls the detectors.  Fails closed: what could not be looked at, or
is under a policy that cannot be read, is not stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict

from hindsight_aws.errors import ContentRefused, InvalidField, Violation
from hindsight_aws.model.document import SourceFile
from hindsight_aws.model.screening import DETECTORS, Screening, ScreeningPolicy
from hindsight_aws.retain.intake.accepted import DocumentTask, Part
from hindsight_aws.retain.screening.detectors import BUILT_IN, Detector
from hindsight_aws.retain.screening.readings import joined, readings
from hindsight_aws.retain.screening.secrets import Span

PolicyOf = Callable[[str | None], ScreeningPolicy]
"""The policy of items under a strategy, None being the bank's own."""

_FAULTS: Final = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
_RANK: Final = {name: rank for rank, name in enumerate(DETECTORS)}


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
            look = _Look(part.position, policy_of(part.strategy), detectors)
            screened = look.part(part, task.external_id)
            file = None if file is None else look.file(file)
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


def screen_fields(
    policy: ScreeningPolicy, texts: Mapping[str, str], detectors: Mapping[str, Detector] = BUILT_IN
) -> tuple[dict[str, str], Screening]:
    """Texts by the name of their field, as they may be stored.

    Raises: ContentRefused where the policy blocks one; InvalidField when a detector failed.
    """
    look = _Look(0, policy, detectors)
    stored = {field: look.text(text, field) for field, text in texts.items()}
    if look.violations:
        raise ContentRefused(tuple(look.violations))
    return stored, Screening(look.redacted, ())


def refuse_labels(policy: ScreeningPolicy, labels: Mapping[str, Sequence[str]]) -> None:
    """Lets labels pass, by the name of their field, that hold nothing the policy asks for.

    They tell things apart and are never redacted.  Raises: ContentRefused; InvalidField when a detector failed.
    """
    look = _Look(0, policy, BUILT_IN)
    for field, texts in labels.items():
        for text in texts:
            look.label(text, field)
    if look.violations:
        raise ContentRefused(tuple(look.violations))


def redacted(policy: ScreeningPolicy, text: str, field: str) -> str:
    """One text as it may be stored.  Raises: as `screen_fields` does."""
    return screen_fields(policy, {field: text})[0][field]


def without_finds(policy: ScreeningPolicy, text: str, named: str = "") -> str:
    """The text, which stands under a name or not, as an answer may show it: every find of the policy is redacted."""
    return _Look(0, policy, BUILT_IN).text(text, "text", named)


class _Entities(TypedDict):
    entities: tuple[str, ...]
    entity_types: dict[str, str]


class _Look:
    """One item under its policy; notes what it finds."""

    def __init__(self, item: int, policy: ScreeningPolicy, detectors: Mapping[str, Detector]) -> None:
        self._item = item
        self._policy = policy
        self._detectors = {name: detectors[name] for name in policy.asked if name in detectors}
        self.redacted: Counter[str] = Counter()
        self.violations: list[Violation] = []

    def part(self, part: Part, document_id: str | None) -> Part:
        """The part with its texts redacted; only good when there are no violations."""
        if not self._detectors:
            return part
        for field, text in _labels_of(part, document_id):
            self.label(text, field)
        return replace(
            part,
            content=self.text(part.content, "content"),
            context=None if part.context is None else self.text(part.context, "context"),
            metadata={name: self.text(value, f"metadata.{name}", name) for name, value in part.metadata.items()},
            **self._entities(part),
        )

    def file(self, file: SourceFile) -> SourceFile:
        """The file with its name and its type as they may be stored."""
        return SourceFile(self.text(file.name, "file"), self.text(file.content_type, "file"))

    def text(self, text: str, field: str, named: str = "") -> str:
        """The text, which stands under a name of the caller's or not, with placeholders for what is to be redacted."""
        finds = self._finds(text, field, named)
        self._refuse(field, (name for name, _ in finds if self._policy.action(name) == "block"))
        pieces: list[str] = []
        at = 0
        for name, (start, end) in _apart(finds):
            self.redacted[name] += 1
            pieces += (text[at:start], f"[redacted:{name}]")
            at = end
        return "".join((*pieces, text[at:])) if pieces else text

    def _entities(self, part: Part) -> _Entities:
        """The entities without those that hold a find; one whose type does has no type of its own."""
        kept: list[str] = []
        types: dict[str, str] = {}
        for at, name in enumerate(part.entities):
            kind = part.entity_types.get(name, "")
            if self.text(name, f"entities[{at}]", kind) != name:
                continue
            kept.append(name)
            if kind and self.text(kind, f"entities[{at}].type") == kind:
                types[name] = kind
        return {"entities": tuple(kept), "entity_types": types}

    def label(self, text: str, field: str) -> None:
        """Notes any find in a text that tells things apart."""
        self._refuse(field, (name for name, _ in self._finds(text, field)))

    def _refuse(self, field: str, names: Iterable[str]) -> None:
        for name, times in Counter(names).items():
            self.violations.append(Violation(self._item, field, name, times))

    def _finds(self, text: str, field: str, named: str = "") -> list[tuple[str, Span]]:
        try:
            as_it_stands, *others = readings(text, named)
            finds: list[tuple[str, Span]] = []
            for name, find in self._detectors.items():
                spans = list(find(as_it_stands.text))
                for other in others:
                    spans = joined([*spans, *other.to_source(list(find(other.text)))])
                finds += [(name, span) for span in spans]
            return finds
        except _FAULTS as fault:
            # The fault's own words may hold the text.
            kind = type(fault).__name__
            raise InvalidField(f"items[{self._item}].{field}", f"could not be screened ({kind})") from None


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


def _apart(finds: Iterable[tuple[str, Span]]) -> Iterator[tuple[str, Span]]:
    """The finds in order, those that overlap as one under the name of the first."""
    joined: tuple[str, Span] | None = None
    for name, (start, end) in sorted(finds, key=lambda find: (find[1][0], _RANK.get(find[0], len(_RANK)))):
        if joined is not None and start < joined[1][1]:
            joined = joined[0], (joined[1][0], max(joined[1][1], end))
            continue
        if joined is not None:
            yield joined
        joined = name, (start, end)
    if joined is not None:
        yield joined
