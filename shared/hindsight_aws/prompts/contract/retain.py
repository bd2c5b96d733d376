"""The contract of retain's task: `extract_facts`.

Called by retain and by the registry; calls `shapes`.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Final

from hindsight_aws.ports.model_gateway import JsonObject, Tool
from hindsight_aws.prompts.contract.shapes import Block, Task, any_of, array, closed, integer, one_of, text

MISSION = Block("mission", "What the owner of the bank cares about.", closed("text", text=text()), optional=True)
INSTRUCTIONS = Block(
    "instructions",
    "Mode `custom`: the owner's rules of what is worth keeping, in place of the built-in ones.",
    closed("text", text=text()),
    optional=True,
)
LANGUAGE = Block(
    "language",
    "The language to write in; without it, the chunk's own.",
    closed("language", language=text()),
    optional=True,
)
LABELS = Block(
    "labels",
    "The bank's vocabulary. `values` are the only ones allowed, `fields` those of a map; `required`: for every fact.",
    array(
        {
            "type": "object",
            "properties": {
                "key": text(),
                "type": one_of("value", "multi-values", "text", "multi-text", "map"),
                "description": text(),
                "values": array({"type": "object", "properties": {"value": text(), "description": text()}}),
                "fields": {"type": "object"},
                "required": {"type": "boolean"},
            },
            "required": ["key", "type"],
        }
    ),
    optional=True,
)
CONTEXT = Block(
    "context",
    "Where the text comes from; `metadata` maps names to texts.",
    {"type": "object", "properties": {"text": text(), "metadata": {"type": "object"}}, "required": ["text"]},
    optional=True,
)
NEIGHBOURS = Block(
    "neighbours",
    "The end of the chunk before and the beginning of the chunk after: to understand the chunk, not to record.",
    closed("", before=text(), after=text()),
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
PROBLEM = Block(
    "problem",
    "Why the last reply to this chunk could not be used, and the fields a fact may have.",
    closed("reason fields", reason=text(), fields=array(text())),
    optional=True,
)

FIELDS: Final[dict[str, JsonObject]] = {
    "what": text("The fact itself, so that it stands alone."),
    "when": text("The time in words."),
    "where": text("The place."),
    "who": array(text(), "People and groups concerned."),
    "why": text("The reason or purpose."),
    "fact_type": one_of("world", "experience", description="experience: what the assistant itself did or said."),
    "fact_kind": one_of("event", "conversation", "other"),
    "occurred_start": text("ISO 8601, as exact as the text; events only."),
    "occurred_end": text("ISO 8601; events only."),
    "entities": array(closed("text", text=text(), type=text()), "Proper names the fact is about."),
    "labels": array(
        closed("key value", key=text(), field=text("For a map: the field, as `a` or `a.b`."), value=text()),
        "Labels from the block `labels`.",
    ),
    "caused_by": array(integer(), "Positions, from 0, of earlier facts of this list."),
}
"""Every field a fact may have; `caused_by` comes last, when all it may point at is written."""
DIMENSIONS: Final = ("when", "where", "who", "why")


@cache
def record_facts(without: Collection[str] = frozenset(), nullable: bool = False) -> Tool:
    """The tool, its facts `without` some fields; `nullable` lets a dimension be null as well as absent."""
    fields = {name: schema for name, schema in FIELDS.items() if name not in without}
    if nullable:
        fields |= {name: any_of(FIELDS[name], {"type": "null"}) for name in DIMENSIONS if name in fields}
    required = " ".join(name for name in ("what", "fact_type") if name in fields)
    return Tool(
        "record_facts",
        "Records the facts found in the chunk; an empty list when nothing is worth keeping.",
        closed("facts", facts=array(closed(required, **fields))),
    )


RECORD_FACTS = record_facts()

EXTRACT_FACTS = Task(
    "extract_facts",
    "Turns a chunk of text into facts. A bank's settings leave fields out of the tool: `labels` without a vocabulary, "
    "`entities` where only the vocabulary counts, `caused_by` without causes, `what` where the chunk is the fact.",
    (RECORD_FACTS,),
    "forced",
    (MISSION, INSTRUCTIONS, LANGUAGE, LABELS, CONTEXT, NEIGHBOURS, CHUNK, PROBLEM),
    (("facts[].caused_by[]", "position of an earlier fact in the same reply, from 0"),),
)

TASKS = (EXTRACT_FACTS,)
