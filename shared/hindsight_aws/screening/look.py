"""Looks at the texts of one item under a policy: gives them as they may be stored, and notes what it found.

Called by screening's functions for single texts, and by retain for whole items; calls the detectors.  Fails closed:
what could not be looked at is not stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from hindsight_aws.errors import InvalidField, Violation
from hindsight_aws.model.screening import DETECTORS, ScreeningPolicy
from hindsight_aws.screening.detectors import BUILT_IN, Detector
from hindsight_aws.screening.readings import joined, readings
from hindsight_aws.screening.secrets import Span

_FAULTS: Final = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
_RANK: Final = {name: rank for rank, name in enumerate(DETECTORS)}


class Look:
    """One item under its policy; notes what it finds."""

    def __init__(self, item: int, policy: ScreeningPolicy, detectors: Mapping[str, Detector] = BUILT_IN) -> None:
        self._item = item
        self._policy = policy
        self._detectors = {name: detectors[name] for name in policy.asked if name in detectors}
        self.redacted: Counter[str] = Counter()
        self.violations: list[Violation] = []

    @property
    def is_needed(self) -> bool:
        """Whether the policy asks for anything at all."""
        return bool(self._detectors)

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
