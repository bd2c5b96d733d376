"""Screens single texts under a policy: redacts them, refuses them, and never repeats what it found.

Called by all who store a text that a caller wrote, before anything is written, and by error answers; calls look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight_aws.errors import ContentRefused
from hindsight_aws.model.screening import Screening, ScreeningPolicy
from hindsight_aws.screening.look import Look


def screen_fields(policy: ScreeningPolicy, texts: Mapping[str, str]) -> tuple[dict[str, str], Screening]:
    """Texts by the name of their field, as they may be stored.

    Raises: ContentRefused where the policy blocks one; InvalidField when a detector failed.
    """
    look = Look(0, policy)
    stored = {field: look.text(text, field) for field, text in texts.items()}
    if look.violations:
        raise ContentRefused(tuple(look.violations))
    return stored, Screening(look.redacted, ())


def refuse_labels(policy: ScreeningPolicy, labels: Mapping[str, Sequence[str]]) -> None:
    """Lets labels pass, by the name of their field, that hold nothing the policy asks for.

    They tell things apart and are never redacted.  Raises: ContentRefused; InvalidField when a detector failed.
    """
    look = Look(0, policy)
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
    return Look(0, policy).text(text, "text", named)
