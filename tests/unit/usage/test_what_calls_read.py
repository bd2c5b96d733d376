"""The estimate of a month against calls as they are really made: what a call reads, counted by the estimator."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from hindsight_aws.consolidate.ask import Caller, Revision, revision_call
from hindsight_aws.model.plan import ShownEvidence, ShownFact, ShownObservation
from hindsight_aws.model.strategy import Policy
from hindsight_aws.ports.model_gateway import ModelCall
from hindsight_aws.prompts.contract.reflect import TASKS
from hindsight_aws.prompts.registry import prompt
from hindsight_aws.retain.chunking.chunk import chunk_text
from hindsight_aws.retain.extraction.passages import passages_of
from hindsight_aws.retain.extraction.request import Extractor, call_for
from hindsight_aws.retain.intake.accepted import Part
from hindsight_aws.text.tokens import count_tokens
from hindsight_aws.usage import month

_NOW = datetime(2026, 11, 29, 9, 30, tzinfo=UTC)
_FACT = "Mina moved the launch of the shop to Thursday because the caterer had cancelled on Monday evening."
_BELIEF = "Mina decides the dates of launches by when the caterer can come, and moved this one to Thursday."
_FACTS, _BELIEFS = 6, 9
_TOOL_USE = 346
"""About what Anthropic's models add to a call with tools; others may add nothing.

Documented for those of 2024: 235 to 340 where a tool is forced, 159 to 530 where none is.
"""


def _read(call: ModelCall) -> int:
    tools = [{"name": tool.name, "says": tool.description, "schema": tool.schema} for tool in call.tools]
    return (
        count_tokens(call.system) + sum(count_tokens(block) for block in call.blocks) + count_tokens(json.dumps(tools))
    )


def test_an_extraction_reads_what_is_reckoned_with() -> None:
    text = " ".join([_FACT] * 12)
    part = Part(0, text, _NOW, True, "a letter", {})

    call = call_for(Extractor("m"), passages_of([(part, piece) for piece in chunk_text(text, 3000)])[0], None)

    read = _read(call) + _TOOL_USE - count_tokens(text)
    assert read == pytest.approx(month.EXTRACT_READS, rel=0.1)


def test_a_consolidation_reads_what_is_reckoned_with() -> None:
    source = ShownEvidence(_FACT, mentioned_at=_NOW)
    facts = [ShownFact(uuid4(), _FACT, 1, mentioned_at=_NOW) for _ in range(_FACTS)]
    beliefs = [ShownObservation(uuid4(), _BELIEF, 2, _NOW, _NOW, _NOW, (source, source)) for _ in range(_BELIEFS)]

    call = revision_call(Caller("m", "t", "b"), Policy(None, -1, 4096, 256, None, ""), Revision(facts, beliefs, 20))

    reckoned = month.CONSOLIDATE_READS + _FACTS * month.CONSOLIDATE_READS_PER_FACT
    assert _read(call) + _TOOL_USE == pytest.approx(reckoned, rel=0.1)


def test_a_reflect_reads_its_instructions_and_what_it_found() -> None:
    tools = [{"name": tool.name, "says": tool.description, "schema": tool.schema} for tool in TASKS[0].tools]
    fixed = count_tokens(prompt("reflect_turn").text) + count_tokens(json.dumps(tools)) + _TOOL_USE

    # The rest is what a first round brings: some forty facts and beliefs, each once.
    assert fixed + 40 * 90 == pytest.approx(month.REFLECT_READS, rel=0.1)
