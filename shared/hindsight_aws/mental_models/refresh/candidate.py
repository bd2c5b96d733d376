"""What a page becomes by what a model said to the endings of its refresh.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hindsight_aws.mental_models.refresh.document import PageDocument, render
from hindsight_aws.mental_models.refresh.edits import REMOVALS, Edited, apply, read_edits
from hindsight_aws.mental_models.refresh.kept import Kept
from hindsight_aws.mental_models.refresh.reply import read_document
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.loop.state import DOCUMENT_TASK, EDITS_TASK, RETRACT_TASK, STRUCTURE_TASK
from hindsight_aws.text.tokens import count_tokens

Said = Mapping[str, JsonObject]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What would be written.

    `outcome` is as operations tell it; with a `failure` nothing is written.  `edits` and `retraction` are what became
    of the edits of a delta.
    """

    outcome: str
    failure: str | None
    content: str
    document: PageDocument
    edits: Edited | None = None
    retraction: Edited | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_written(self) -> bool:
        """Whether the text changes."""
        return self.outcome == "content_written"


def candidate_of(kept: Kept, said: Said, max_tokens: int) -> Candidate:
    """The page after the refresh; what was said passed the checks."""
    made = _full(kept, said) if kept.effective == "full" else _delta(kept, said)
    lacks_structure = kept.wants_structure and STRUCTURE_TASK not in said
    if made.failure is None and made.is_written and made.content and lacks_structure:
        return Candidate("refresh_failed_structured_output", "structured_output_failed", kept.content, kept.document)
    tokens = count_tokens(made.content)
    if made.is_written and tokens > max_tokens:
        note = f"the text has about {tokens} tokens, {max_tokens} were wished"
        return Candidate(
            made.outcome, made.failure, made.content, made.document, made.edits, made.retraction, (*made.warnings, note)
        )
    return made


def retracted(kept: Kept, said: Said) -> Edited | None:
    """The page without what rested on what is gone; None where that was not asked."""
    if RETRACT_TASK not in said:
        return None
    edits, _ = read_edits(said[RETRACT_TASK], REMOVALS)
    return apply(kept.document, edits)


def _full(kept: Kept, said: Said) -> Candidate:
    if DOCUMENT_TASK not in said:
        if kept.is_emptied:
            return Candidate("content_written", None, "", PageDocument())
        return Candidate("content_preserved_no_new_facts", None, kept.content, kept.document)
    document = read_document(said[DOCUMENT_TASK].get("document")).document
    content = render(document)
    if not content.strip():
        return Candidate("refresh_failed_empty_candidate", "empty_candidate", kept.content, kept.document)
    outcome = "content_unchanged" if content == kept.content else "content_written"
    return Candidate(outcome, None, content, document)


def _delta(kept: Kept, said: Said) -> Candidate:
    before = retracted(kept, said)
    document = kept.document if before is None else before.document
    edited = None
    if EDITS_TASK in said:
        edits, _ = read_edits(said[EDITS_TASK])
        edited = apply(document, edits)
        if edits and not edited.applied and not (before and before.applied):
            return Candidate(
                "refresh_failed_delta_not_applied", "delta_ops_all_skipped", kept.content, kept.document, edited, before
            )
        document = edited.document
    both = [one for one in (before, edited) if one is not None]
    if not any(one.applied for one in both):
        outcome = "content_unchanged" if both else "content_preserved_no_new_facts"
        return Candidate(outcome, None, kept.content, kept.document, edited, before)
    content = render(document)
    if not content.strip() and before is None:
        return Candidate("refresh_failed_empty_candidate", "empty_candidate", kept.content, kept.document, edited)
    skipped = [str(one["reason"]) for edits_ in both for one in edits_.skipped]
    return Candidate("content_written", None, content, document, edited, before, tuple(skipped))


def edits_as_json(edited: Edited | None) -> JsonObject | None:
    """What became of a list of edits, as it is told."""
    if edited is None:
        return None
    applied: list[JsonValue] = [*edited.applied]
    skipped: list[JsonValue] = [*edited.skipped]
    return {"applied": applied, "skipped": skipped}
