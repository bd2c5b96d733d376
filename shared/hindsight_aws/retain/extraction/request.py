"""Says what is asked of the model for one passage, and under which key the answer is kept.

Called by extraction and by retain's plan; calls prompts.  Pure.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Final

from hindsight_aws.ports.model_gateway import ModelCall, Tool
from hindsight_aws.prompts import (
    ExtractionMode,
    Prompt,
    extraction_blocks,
    extraction_prompt,
    owner_blocks,
    problem_block,
)
from hindsight_aws.prompts.contract.retain import FIELDS, record_facts
from hindsight_aws.retain.extraction.passages import Passage
from hindsight_aws.retain.extraction.vocabulary import Vocabulary

TEMPERATURE: Final = 0.1
LONGEST_PROBLEM: Final = 500
"""Characters of what was wrong that go into the next request: it quotes the model, which may have quoted the text."""
LEAST_ROOM: Final = 8_192
ROOM_PER_CHARACTER: Final = 4
"""Tokens of output asked for, at least and for each character of the text.

Bedrock sets the output limit of a call aside from the account's quota until the call ends: the highest limit for every
small chunk would throttle a handful of calls.  A reply that is cut all the same is asked for in parts.
"""
_NOT_VERBATIM: Final = frozenset({"what", "where", "who", "why", "caused_by"})


@dataclass(frozen=True, slots=True)
class Extractor:
    """How facts are asked for in one bank: constant over an operation, and part of each kept result's key.

    `re_asks` is how often a reply that lost too much is asked for again.
    """

    model: str
    mode: ExtractionMode = "concise"
    mission: str | None = None
    max_tokens: int = 64_000
    tenant: str = ""
    bank: str = ""
    instructions: str | None = None
    language: str | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    asks_causes: bool = True
    nullable: bool = False
    re_asks: int = 1

    @property
    def without(self) -> frozenset[str]:
        """The fields of a fact that are not asked for."""
        left_out = set(_NOT_VERBATIM) if self.mode == "verbatim" else set[str]()
        left_out |= set() if self.vocabulary.groups else {"labels"}
        left_out |= set() if self.vocabulary.free_form else {"entities"}
        left_out |= set() if self.asks_causes else {"caused_by"}
        return frozenset(left_out)

    @property
    def prompt(self) -> Prompt:
        """The system text of every call."""
        return extraction_prompt(self.mode, self.without)

    @property
    def tool(self) -> Tool:
        """The tool that every call forces."""
        return record_facts(self.without, self.nullable)


def extraction_key(extractor: Extractor, passage: Passage) -> str:
    """SHA-256 (hex) of what decides the answer; the same key means that the kept answer may be used again.

    Position, neighbours, metadata and the moment of submission are left out, so that a chunk that did not change costs
    no call when the text around it did: its facts then stay as they were read, and dated, the first time.
    """
    decisive = [
        extractor.prompt.ref,
        sorted(extractor.without),
        extractor.model,
        extractor.mission,
        extractor.instructions,
        extractor.language,
        extractor.vocabulary.as_document(),
        [group.key for group in extractor.vocabulary.groups if group.is_tag],
        extractor.max_tokens,
        passage.text,
        _dated(passage),
        passage.context,
    ]
    return hashlib.sha256(json.dumps(decisive, ensure_ascii=True).encode()).hexdigest()


def call_for(extractor: Extractor, passage: Passage, problem: str | None = None) -> ModelCall:
    """The request for the passage's facts; with `problem`, asked again because of what was wrong with the last reply.

    The system text and the tool are the same for every passage and never hold a word of the bank or its texts.
    """
    owner = owner_blocks(
        extractor.mission, extractor.instructions, extractor.language, extractor.vocabulary.as_document()
    )
    blocks = extraction_blocks(
        passage.text,
        position=passage.position,
        total=passage.total,
        happened=passage.happened,
        context=passage.context,
        metadata=passage.metadata,
        before=passage.before,
        after=passage.after,
    )
    fields = [name for name in FIELDS if name not in extractor.without]
    again = (problem_block(problem[:LONGEST_PROBLEM], fields),) if problem is not None else ()
    tool = extractor.tool
    return ModelCall(
        task="extract_facts",
        prompt=extractor.prompt.ref,
        model=extractor.model,
        system=extractor.prompt.text,
        blocks=(*owner, *blocks, *again),
        max_tokens=min(extractor.max_tokens, LEAST_ROOM + ROOM_PER_CHARACTER * len(passage.text)),
        tenant=extractor.tenant,
        bank=extractor.bank,
        tools=(tool,),
        forced_tool=tool.name,
        temperature=TEMPERATURE,
    )


def _dated(passage: Passage) -> str | None:
    if passage.happened is None:
        return None
    return passage.happened.isoformat() if passage.is_dated else "on submission"
