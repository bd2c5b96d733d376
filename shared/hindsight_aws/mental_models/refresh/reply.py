"""Reads what a model says to the endings of a refresh, and says what is wrong with it.  Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_aws.mental_models.refresh.document import PageDocument, written
from hindsight_aws.mental_models.refresh.edits import apply, known_ids, read_edits
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

NOTHING_APPLIED = "None of the operations can be applied."
_MOST_ENCODINGS = 2
_MOST_PROBLEMS = 10
_DEFAULT_LEVEL = 2


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that a model wrote, or what is wrong with it."""

    document: PageDocument
    problems: tuple[str, ...] = ()


def read_document(value: JsonValue) -> ReadDocument:
    """The document of a reply: an object with sections, one of them alone, or a list; also as JSON in a string.

    JSON that is cut off is never mended.
    """
    for _ in range(_MOST_ENCODINGS):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except ValueError:
            return _refused("document must be an object with `sections`; the text is not complete JSON.")
    if isinstance(value, dict) and "sections" not in value and ("blocks" in value or "heading" in value):
        value = [value]
    sections = value.get("sections") if isinstance(value, dict) else value
    if not isinstance(sections, list):
        return _refused("document.sections must be a list.")
    read = [_section(section, f"document.sections[{index}]") for index, section in enumerate(sections)]
    problems = [problem for _, found in read for problem in found]
    if problems:
        return ReadDocument(PageDocument(), tuple(problems[:_MOST_PROBLEMS]))
    return ReadDocument(written([section for section, _ in read]))


def check_document(reply: JsonObject) -> str | None:
    """What is wrong with a whole page, for the model."""
    problems = read_document(reply.get("document")).problems
    return _sentence(problems) if problems else None


def check_edits(reply: JsonObject, document: PageDocument, allowed: frozenset[str] | None = None) -> str | None:
    """What is wrong with a list of edits of this document, for the model: also when not one of them fits."""
    edits, problems = read_edits(reply) if allowed is None else read_edits(reply, allowed)
    if problems:
        return _sentence(problems[:_MOST_PROBLEMS])
    edited = apply(document, edits)
    if not edits or edited.applied:
        return None
    reasons = [str(skipped["reason"]) for skipped in edited.skipped[:_MOST_PROBLEMS]]
    return f"{NOTHING_APPLIED} {'; '.join(reasons)}. {known_ids(document)}."


def _section(value: JsonValue, at: str) -> tuple[tuple[str, int, Sequence[str]], list[str]]:
    if not isinstance(value, dict):
        return ("", 0, ()), [f"{at} must be an object."]
    heading, level, blocks = value.get("heading", ""), value.get("level", _DEFAULT_LEVEL), value.get("blocks", [])
    problems = []
    if not isinstance(heading, str):
        problems.append(f"{at}.heading must be a string.")
    if not isinstance(level, int) or isinstance(level, bool):
        problems.append(f"{at}.level must be a whole number.")
    if not isinstance(blocks, list):
        problems.append(f"{at}.blocks must be a list of strings.")
    texts = [block for block in blocks if isinstance(block, str)] if isinstance(blocks, list) else []
    if isinstance(blocks, list):
        wrong = (index for index, block in enumerate(blocks) if not isinstance(block, str))
        problems += [f"{at}.blocks[{index}] must be a string." for index in wrong]
    return (str(heading), level if isinstance(level, int) else 1, texts), problems


def _refused(problem: str) -> ReadDocument:
    return ReadDocument(PageDocument(), (problem,))


def _sentence(problems: Sequence[str]) -> str:
    return " ".join(problems)
