"""Reads the few missions that the rules can honour: decisions only, trends only, several reports, no names, no amounts.

Called by `consolidate`; calls `language`. Pure. A mission it does not understand changes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from infra.local.bedrock.rules.language import names

_NO_NAMES = re.compile(
    r"\b(?:no|without|omit|hide|remove|never (?:use|give|mention|name)|(?:do not|don't) (?:use|give|mention)) "
    r"(?:any |personal |people'?s |customers?'? |individual )*(?:names?|persons?|people|individuals?)\b|\banonym",
    re.IGNORECASE,
)
_NO_AMOUNTS = re.compile(
    r"\b(?:no|without|omit|hide|remove|never|not)\b[^.;]*\b(?:amounts?|prices?|sums?|deal sizes?|revenues?)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:more than (?:once|one)|at least (?:two|twice)|several|recurring|repeated(?:ly)?)\b", re.IGNORECASE
)
_TRENDS = re.compile(r"\btrends?\b|\bpatterns? across\b|\baggregat", re.IGNORECASE)
_DECISIONS = re.compile(
    r"\bonly\b[^.;]*\bdecisions?\b|\bdecisions?\b[^.;]*\bonly\b|^\W*(?:(?:keep|track|record|note)\W+)?decisions?\b"
    r"|\bnothing but decisions?\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:deci(?:de[sd]?|sions?|ding)|agreed?|chose|chosen|approved?|rejected?|adopt(?:s|ed)?|(?:going|went) with|"
    r"settled on|switch(?:es|ed)? to|resolved to|picked|selected|signed off)\b",
    re.IGNORECASE,
)
_SOMEONE = "someone"
_ORGANISATION = "an organisation"
_ORGANISATIONS = frozenset(
    """agency airlines bakery bank books bros brothers cafe clinic club co college company corp dairy design electric
    energy factory farm florist flowers foods foundation furniture garage gmbh group count_contents hospital hotel inc
    industries kitchen labs library limited llc logistics ltd market media ministry motors museum partners pharmacy
    plc press restaurant robotics school services shop software solutions sons store stores studio supplies systems
    technologies university works""".split()
)
_FIGURE = r"\d(?:[\d.,]*\d)?(?:\s?(?:k|m|bn|thousand|million|billion)\b)?"
_AMOUNT = re.compile(rf"[€$£¥]\s?{_FIGURE}|\b{_FIGURE}\s?(?:euros?|dollars?|pounds?|francs?|yen|EUR|USD|GBP|CHF)\b")
_UNDISCLOSED = "an undisclosed amount"
_COUNT = re.compile(r"^Trend \(\d+ reports?\): ")


@dataclass(frozen=True, slots=True)
class Mission:
    """What the rules make of a mission's text."""

    hides_names: bool = False
    hides_amounts: bool = False
    wants_several: bool = False
    wants_trends: bool = False
    wants_decisions: bool = False

    def reason_to_skip(self, fact: str) -> str | None:
        """Why the mission has no use for this fact, or None."""
        if self.wants_decisions and not _DECIDED.search(fact):
            return "not a decision, and the mission asks for decisions only"
        return None

    def worded(self, text: str, proofs: int = 1) -> str:
        """The text as the mission allows it to be said."""
        said = self.bare(text)
        return f"Trend ({proofs} report{'s' if proofs != 1 else ''}): {said}" if self.wants_trends else said

    def bare(self, text: str) -> str:
        """The text without what must not be said and without the count of a trend: what to compare."""
        said = _COUNT.sub("", text)
        if self.hides_amounts:
            said = _AMOUNT.sub(_UNDISCLOSED, said)
        return _without_names(said) if self.hides_names else said


def read_mission(text: str) -> Mission:
    """What of this mission can be honoured."""
    return Mission(
        hides_names=bool(_NO_NAMES.search(text)),
        hides_amounts=bool(_NO_AMOUNTS.search(text)),
        wants_several=bool(_SEVERAL.search(text)),
        wants_trends=bool(_TRENDS.search(text)),
        wants_decisions=bool(_DECISIONS.search(text)),
    )


def _without_names(text: str) -> str:
    for name in sorted(set(names(text)) - {_SOMEONE.capitalize()}, key=len, reverse=True):
        instead = _ORGANISATION if name.split()[-1].casefold() in _ORGANISATIONS else _SOMEONE
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", instead, text)
    text = re.sub(rf"\b{_SOMEONE}(?:(?:,| and|, and) {_SOMEONE})+\b", "several people", text)
    return text[:1].upper() + text[1:]
