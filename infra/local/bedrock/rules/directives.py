"""`verify_directives` by rule: knows directives that forbid or demand a term.

Called by the table in `rules` and by `reflect`; calls `material` and `language`. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import JsonObject
from infra.local.bedrock.rules.language import sentences
from infra.local.bedrock.rules.material import Material, text_of
from infra.local.bedrock.shapes import a_text

_QUOTED = r"[\"“'‘](?P<quoted>[^\"”'’]+)[\"”'’]"
_VERB = r"(?:mention|say|use|name|reveal|include|write|discuss)(?: the (?:word|term|name))?"
_FORBIDS = re.compile(
    rf"\b(?:never|do not|don't|don’t|must not|not)\b[^\"“'‘]*?"
    rf"(?:{_QUOTED}|{_VERB}\s+(?P<plain>[\w-]+(?: [A-Z][\w-]+)*))",
    re.IGNORECASE,
)
_DEMANDS = re.compile(rf"\b(?:always|must)\b(?! not)[^\"“'‘]*?{_QUOTED}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive as far as it is understood; a term is None where it is not."""

    id: str
    forbidden: str | None
    demanded: str | None


def directives_of(material: Material) -> list[Directive]:
    """The directives of a call."""
    found = []
    for record in material.records("directives"):
        content = a_text(record.get("content")) or text_of(record)
        forbids = _FORBIDS.search(content)
        demands = None if forbids else _DEMANDS.search(content)
        forbidden = (forbids["quoted"] or forbids["plain"]) if forbids else None
        found.append(Directive(a_text(record.get("id")), forbidden, demands["quoted"] if demands else None))
    return found


def broken(directive: Directive, answer: str) -> str | None:
    """How the answer breaks the directive, or None."""
    said = answer.casefold()
    if directive.forbidden and directive.forbidden.casefold() in said:
        return f"the answer says {directive.forbidden!r}"
    if directive.demanded and directive.demanded.casefold() not in said:
        return f"the answer does not say {directive.demanded!r}"
    return None


def without_forbidden(text: str, directives: list[Directive]) -> str:
    """The text without the sentences that say a forbidden term."""
    terms = [d.forbidden.casefold() for d in directives if d.forbidden]
    if not any(term in text.casefold() for term in terms):
        return text
    return " ".join(s for s in sentences(text) if not any(term in s.casefold() for term in terms))


def verify_directives(material: Material) -> JsonObject:
    """The input of `verify_directives`."""
    answer = material.text("answer")
    found = [(directive.id, broken(directive, answer)) for directive in directives_of(material)]
    return {"violations": [{"directive_id": i, "reason": reason} for i, reason in found if reason is not None]}
