"""Asks the model for the facts of one chunk.

Called by the job, from several threads at once; calls the TextModel port.
An identical request is never sent twice: an unreadable reply is asked for again with what was wrong, a cut one in
halves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hindsight_aws.errors import ModelInputTooLong, ModelRefused, ModelReplyMalformed, ModelReplyTruncated
from hindsight_aws.ports.model_gateway import ModelCall, TextModel, UsageSink
from hindsight_aws.prompts import Prompt, extraction_blocks
from hindsight_aws.prompts.contract.retain import RECORD_FACTS
from hindsight_aws.retain.chunking.chunk import chunk_text
from hindsight_aws.retain.extraction.found import Extraction
from hindsight_aws.retain.extraction.record_facts import read_facts

TEMPERATURE: Final = 0.1
SMALLEST_SPLIT: Final = 200
"""A text this short is not split further: what still does not fit is an error that names it."""
_MOST_LOST: Final = 0.2


@dataclass(frozen=True, slots=True)
class Extractor:
    """How facts are asked for in one bank: constant over an operation, and part of each kept result's key."""

    model: str
    prompt: Prompt
    mission: str | None
    max_tokens: int
    tenant: str
    bank: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with what the model may know of it; `position` counts from 0 within its document."""

    text: str
    position: int
    total: int
    happened: datetime | None
    context: str | None
    metadata: Mapping[str, str]


def extraction_key(extractor: Extractor, passage: Passage) -> str:
    """SHA-256 (hex) of all that decides the answer; the same key means that the kept answer may be used again."""
    decisive = [
        extractor.prompt.ref,
        extractor.model,
        extractor.mission,
        extractor.max_tokens,
        passage.text,
        None if passage.happened is None else passage.happened.isoformat(),
        passage.context,
        dict(sorted(passage.metadata.items())),
    ]
    return hashlib.sha256(json.dumps(decisive, ensure_ascii=True).encode()).hexdigest()


def extract(model: TextModel, extractor: Extractor, passage: Passage, usage: UsageSink) -> Extraction:
    """The passage's facts, in its order; splits it as often as the model's limits ask for, and drops nothing.

    Raises: ModelReplyTruncated or ModelReplyMalformed when not even a passage of SMALLEST_SPLIT characters gets a
    usable reply; ModelThrottled, ModelUnavailable, ModelRefused, ModelDenied as the port does.
    """
    try:
        return _asked(model, extractor, passage, usage)
    except (ModelReplyTruncated, ModelInputTooLong, ModelReplyMalformed):
        halves = _halves(passage)
        if halves is None:
            raise
    first, *others = [extract(model, extractor, half, usage) for half in halves]
    for later in others:
        first = first.followed_by(later)
    return first


def _asked(model: TextModel, extractor: Extractor, passage: Passage, usage: UsageSink) -> Extraction:
    """One request, and one more when the reply lost too much.

    The second reply stands unless it gives fewer facts than the first, or cannot be read.
    """
    found: Extraction | None = None
    try:
        found = read_facts(model.ask(_call(extractor, passage), usage).tool_input, passage.happened)
        problem = "; ".join(found.problems)
        if len(found.problems) <= _MOST_LOST * (len(found.facts) + len(found.problems)):
            return found
    except ModelReplyMalformed as malformed:
        problem = str(malformed)
    try:
        again = read_facts(model.ask(_call(extractor, passage, problem), usage).tool_input, passage.happened)
    except (ModelReplyMalformed, ModelReplyTruncated, ModelRefused, ModelInputTooLong):
        if found is None:
            raise
        return found
    return again if found is None or len(again.facts) >= len(found.facts) else found


def _call(extractor: Extractor, passage: Passage, problem: str | None = None) -> ModelCall:
    system = extractor.prompt.text
    if problem is not None:
        system += f"\n\n# Your last reply could not be used\n\n{problem[:500]}\n\nRecord the facts again, as asked for."
    return ModelCall(
        task="extract_facts",
        prompt=extractor.prompt.ref,
        model=extractor.model,
        system=system,
        blocks=extraction_blocks(
            passage.text,
            position=passage.position,
            total=passage.total,
            happened=passage.happened,
            mission=extractor.mission,
            context=passage.context,
            metadata=passage.metadata,
        ),
        max_tokens=extractor.max_tokens,
        tenant=extractor.tenant,
        bank=extractor.bank,
        tools=(RECORD_FACTS,),
        forced_tool=RECORD_FACTS.name,
        temperature=TEMPERATURE,
    )


def _halves(passage: Passage) -> list[Passage] | None:
    """The passage in about two parts, cut where chunks are cut; None when it is too short to cut."""
    size = len(passage.text) // 2 + len(passage.text) // 10
    if len(passage.text) < 2 * SMALLEST_SPLIT:
        return None
    pieces = chunk_text(passage.text, size)
    if len(pieces) < 2:
        return None
    return [replace(passage, text=piece) for piece in pieces]
