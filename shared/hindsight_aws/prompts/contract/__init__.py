"""The model contract: every task with its tools, data blocks and id kinds, so that any model can stand behind the wire.

Called by the use cases for their tools, by `hindsight-aws model-contract`, and by the local model.
"""

from __future__ import annotations

import json

from hindsight_aws.ports.model_gateway import JsonObject
from hindsight_aws.prompts.contract import consolidate, mental_models, reflect, retain
from hindsight_aws.prompts.contract.shapes import Block, Task

__all__ = ["TASKS", "Block", "Task", "as_document", "as_json"]

TASKS: dict[str, Task] = {
    task.name: task for task in (*retain.TASKS, *consolidate.TASKS, *reflect.TASKS, *mental_models.TASKS)
}
"""By name, in the order in which a memory meets them."""


def as_document() -> JsonObject:
    """The whole contract as plain JSON."""
    return {
        "data_block": '<data kind="KIND">\\nONE JSON DOCUMENT, with < > & escaped as \\u003c \\u003e \\u0026\\n</data>',
        "request_metadata": ["task", "prompt", "tenant", "bank"],
        "tasks": [task.as_document() for task in TASKS.values()],
    }


def as_json() -> str:
    """The whole contract as indented JSON text."""
    return json.dumps(as_document(), ensure_ascii=False, indent=2)
