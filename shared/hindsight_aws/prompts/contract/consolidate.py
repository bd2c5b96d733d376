"""The contract of consolidation's tasks: `consolidate` and `judge_duplicate`.

Called by consolidate and by the registry; calls `shapes`.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, Tool
from hindsight_aws.prompts.contract.retain import MISSION
from hindsight_aws.prompts.contract.shapes import Block, Task, array, closed, integer, one_of, text

_DATES = closed("", occurred_start=text(), occurred_end=text(), mentioned_at=text())

FACTS = Block(
    "facts",
    "The new facts.",
    array(closed("id text", id=text(), text=text(), occurred_start=text(), occurred_end=text(), mentioned_at=text())),
)
OBSERVATIONS = Block(
    "observations",
    "What is already believed in this scope, each with some of its evidence.",
    array(
        closed(
            "id text proof_count evidence",
            id=text(),
            text=text(),
            proof_count=integer(),
            dates=_DATES,
            evidence=array(closed("text", text=text(), dates=_DATES)),
        )
    ),
)
CAPACITY = Block(
    "capacity",
    "How many observations may still be created; absent when there is no bound.",
    closed("remaining", remaining=integer()),
    optional=True,
)
REFUSED = Block(
    "refused",
    "What an earlier reply asked for and was not granted, with the reason; only when facts are asked about again.",
    array(closed("action reason", action=text(), reason=text())),
    optional=True,
)

_QUOTES = array(closed("fact_id quote", fact_id=text(), quote=text("An exact piece of that fact's text.")))


def _change(required: str, **first: JsonObject) -> JsonObject:
    return closed(
        required,
        **first,
        text=text("The whole observation as it should read."),
        source_fact_ids=array(text(), "Ids of the new facts it rests on."),
        quotes=_QUOTES,
        reason=text(),
    )


REVISE_OBSERVATIONS = Tool(
    "revise_observations",
    "Creates, updates and merges observations so that they say what the new facts change.",
    closed(
        "creates updates deletes",
        creates=array(_change("text source_fact_ids")),
        updates=array(_change("observation_id text source_fact_ids", observation_id=text())),
        deletes=array(
            closed(
                "observation_id",
                observation_id=text(),
                merged_into=text("The shown observation that takes its evidence."),
                reason=text(),
            )
        ),
        skipped=array(closed("fact_id reason", fact_id=text(), reason=text()), "Facts not worth an observation."),
    ),
)

CONSOLIDATE = Task(
    "consolidate",
    "Turns new facts of one scope into changes of its observations.",
    (REVISE_OBSERVATIONS,),
    "forced",
    (MISSION, CAPACITY, REFUSED, FACTS, OBSERVATIONS),
    (
        ("fact_id, source_fact_ids[]", "UUID of a fact shown in the block `facts`"),
        ("observation_id, merged_into", "UUID of an observation shown in the block `observations`"),
    ),
)

_SIDE = closed("text", text=text())
JUDGE_DUPLICATE = Task(
    "judge_duplicate",
    "Says whether two observations make the same claim.",
    (
        Tool(
            "judge_duplicate",
            "Merges two texts that make the same claim, or keeps both.",
            closed(
                "action",
                action=one_of("merge", "keep"),
                text=text("For merge: one text with every detail of both."),
            ),
        ),
    ),
    "forced",
    (Block("candidates", "The two texts.", closed("new existing", new=_SIDE, existing=_SIDE)),),
)

TASKS = (CONSOLIDATE, JUDGE_DUPLICATE)
