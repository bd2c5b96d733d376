"""The contract of the tasks that keep mental models current: `refresh_document`, `refresh_ops`, `retract`.

Called by mental_models and by the registry; calls `shapes`.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, Tool
from hindsight_aws.prompts.contract.reflect import DIRECTIVES, EVIDENCE, PROBLEM, QUESTION, ending
from hindsight_aws.prompts.contract.shapes import Block, Task, any_of, array, closed, integer, one_of, text

DOCUMENT = Block(
    "document",
    "The page as it stands.",
    closed(
        "sections",
        sections=array(
            closed(
                "id heading level blocks",
                id=text(),
                heading=text(),
                level=integer(),
                blocks=array(closed("id text", id=text(), text=text())),
            )
        ),
    ),
)
LENGTH = Block("length", "How long the page should be at most.", closed("tokens", tokens=integer()))
RETRACTED = Block("retracted", "What the page rested on and is gone.", array(closed("id text", id=text(), text=text())))

_SECTION = text("Id of a section shown in the block `document`.")
_BLOCK = text("Id of a block of that section.")


def _operation(name: str, required: str, **fields: JsonObject) -> JsonObject:
    return closed(f"op {required}".strip(), op=one_of(name), **fields)


_REMOVALS = (
    _operation("replace_block", "section_id block_id text", section_id=_SECTION, block_id=_BLOCK, text=text()),
    _operation("remove_block", "section_id block_id", section_id=_SECTION, block_id=_BLOCK),
    _operation("remove_section", "section_id", section_id=_SECTION),
    _operation("replace_section_blocks", "section_id blocks", section_id=_SECTION, blocks=array(text("Markdown."))),
)
_ADDITIONS = (
    _operation("append_block", "section_id text", section_id=_SECTION, text=text()),
    _operation(
        "insert_block",
        "section_id text",
        section_id=_SECTION,
        after_block_id=text("Absent: before the first block."),
        text=text(),
    ),
    _operation(
        "add_section",
        "heading level blocks",
        heading=text(),
        level=integer(),
        blocks=array(text("Markdown.")),
        after_section_id=text("Absent: at the end."),
        new_id=text(),
    ),
    _operation("rename_section", "section_id heading", section_id=_SECTION, heading=text()),
)


def _edit(name: str, description: str, operations: tuple[JsonObject, ...]) -> Tool:
    return Tool(name, description, closed("operations", operations=array(any_of(*operations))))


_PAGE_IDS = (
    ("section_id, after_section_id", "id of a section shown in the block `document`"),
    ("block_id, after_block_id", "id of a block of that section"),
)

TASKS = (
    Task(
        "refresh_document",
        "Writes the whole page.",
        (ending("refresh_document", document=True, directives=True),),
        "forced",
        (QUESTION, DIRECTIVES, LENGTH, EVIDENCE, PROBLEM),
        (("memory_ids[], observation_ids[], mental_model_ids[]", "aliases shown in the block `evidence`"),),
    ),
    Task(
        "refresh_ops",
        "Edits the page so that it says what the new evidence adds or changes.",
        (_edit("refresh_ops", "Lists the edits; an empty list when the page needs none.", _ADDITIONS + _REMOVALS),),
        "forced",
        (QUESTION, DIRECTIVES, DOCUMENT, EVIDENCE, PROBLEM),
        _PAGE_IDS,
    ),
    Task(
        "retract",
        "Takes out of the page what rested only on things that are gone.",
        (_edit("retract", "Lists the edits; an empty list when nothing rests on them.", _REMOVALS),),
        "forced",
        (QUESTION, DOCUMENT, RETRACTED, PROBLEM),
        _PAGE_IDS,
    ),
)
