"""The digest of all that decides a chunk's facts, as far as the caller says it.  Called by the plan and by matching."""

from __future__ import annotations

import hashlib
import json

from hindsight_aws.retain.intake.accepted import Part


def fingerprint(text: str, part: Part) -> str:
    """SHA-256 (hex) of the chunk's text and of its item's context, entities and date, where the caller gave one.

    Tags, metadata and scopes are not in it: they are labels, and change without a new look at the text.  Nor is the
    moment of submission, or every retain would find every chunk changed.
    """
    given = None
    if part.is_dated:
        given = "unset" if part.happened is None else part.happened.isoformat()
    decisive = [text, part.context, given, [*part.entities], part.resolve_entities]
    return hashlib.sha256(json.dumps(decisive, ensure_ascii=True, default=str).encode()).hexdigest()
