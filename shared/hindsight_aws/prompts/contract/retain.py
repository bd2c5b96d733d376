"""The contract of retain's task: `extract_facts`.

Called by retain and by the registry; calls `shapes`.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import Tool
from hindsight_aws.prompts.contract.shapes import Block, Task, array, closed, integer, one_of, text

MISSION = Block("mission", "What the owner of the bank cares about.", closed("text", text=text()), optional=True)
CONTEXT = Block(
    "context",
    "Where the text comes from; `metadata` maps names to texts.",
    {"type": "object", "properties": {"text": text(), "metadata": {"type": "object"}}, "required": ["text"]},
    optional=True,
)
CHUNK = Block(
    "chunk",
    "The text to read. `position` counts from 0; `date` is a weekday and an ISO 8601 instant with offset, or null.",
    {
        "type": "object",
        "properties": {
            "text": text(),
            "position": integer(),
            "total": integer(),
            "date": {"type": ["string", "null"]},
            "zone": {"type": ["string", "null"]},
        },
        "required": ["text", "position", "total", "date", "zone"],
    },
)

FACT = closed(
    "what fact_type",
    what=text("The fact itself, so that it stands alone."),
    when=text("The time in words."),
    where=text("The place."),
    who=array(text(), "People and groups concerned."),
    why=text("The reason or purpose."),
    fact_type=one_of("world", "experience", description="experience: what the assistant itself did or said."),
    fact_kind=one_of("event", "conversation", "other"),
    occurred_start=text("ISO 8601, as exact as the text; events only."),
    occurred_end=text("ISO 8601; events only."),
    entities=array(closed("text", text=text(), type=text()), "Proper names the fact is about."),
    labels=array(closed("key value", key=text(), value=text()), "Only when labels are described."),
    caused_by=array(integer(), "Positions, from 0, of earlier facts of this list."),
)

RECORD_FACTS = Tool(
    "record_facts",
    "Records the facts found in the chunk; an empty list when nothing is worth keeping.",
    closed("facts", facts=array(FACT)),
)

EXTRACT_FACTS = Task(
    "extract_facts",
    "Turns a chunk of text into facts.",
    (RECORD_FACTS,),
    "forced",
    (MISSION, CONTEXT, CHUNK),
    (("facts[].caused_by[]", "position of an earlier fact in the same reply, from 0"),),
)

TASKS = (EXTRACT_FACTS,)
