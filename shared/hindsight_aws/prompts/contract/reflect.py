"""The contract of reflect's tasks: the search tools, the ways to end, and the passes around the answer.

Called by reflect and by the registry; calls `shapes`. Ids are aliases of one run, never those of the store.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, Tool
from hindsight_aws.prompts.contract.retain import MISSION
from hindsight_aws.prompts.contract.shapes import Block, Task, array, boolean, closed, integer, one_of, text

_REASON = text("Why this is needed now, in a few words.")
_QUERY = text("What to look for.")

SEARCH_MENTAL_MODELS = Tool(
    "search_mental_models",
    "Finds prepared pages about a topic.",
    closed("reason query", reason=_REASON, query=_QUERY, max_results=integer()),
)
READ_MENTAL_MODELS = Tool(
    "read_mental_models",
    "Reads pages found before, whole.",
    closed(
        "reason mental_model_ids",
        reason=_REASON,
        mental_model_ids=array(text("An alias like p1.")),
        max_tokens=integer(),
    ),
)
SEARCH_OBSERVATIONS = Tool(
    "search_observations",
    "Finds beliefs that rest on several facts.",
    closed("reason query", reason=_REASON, query=_QUERY, max_tokens=integer()),
)
RECALL = Tool(
    "recall",
    "Finds single facts, as they were said.",
    closed("reason query", reason=_REASON, query=_QUERY, max_tokens=integer(), max_chunk_tokens=integer()),
)
EXPAND = Tool(
    "expand",
    "Shows the text a fact was taken from.",
    closed(
        "reason memory_ids depth",
        reason=_REASON,
        memory_ids=array(text("An alias like f1.")),
        depth=one_of("chunk", "document"),
    ),
)
ANSWER_READY = Tool(
    "answer_ready",
    "Ends the search; the answer is asked for next.",
    closed("answer_found", answer_found=boolean("False when nothing found answers the question.")),
)
SEARCH_TOOLS = (SEARCH_MENTAL_MODELS, READ_MENTAL_MODELS, SEARCH_OBSERVATIONS, RECALL, EXPAND)

DOCUMENT: JsonObject = closed(
    "sections",
    sections=array(closed("heading level blocks", heading=text(), level=integer(), blocks=array(text("Markdown.")))),
)
_CITED: dict[str, JsonObject] = {
    "memory_ids": array(text("An alias like f1."), "Facts the answer rests on."),
    "mental_model_ids": array(text("An alias like p1."), "Pages it rests on."),
    "observation_ids": array(text("An alias like o1."), "Observations it rests on."),
}


def ending(name: str, *, document: bool = False, directives: bool = False) -> Tool:
    """The tool that gives the answer: as a text, or as a document; with a word on directives when there are any."""
    said = {"document": DOCUMENT} if document else {"answer": text("The answer, in Markdown, without ids.")}
    demanded = {"directive_compliance": text("How each directive was followed.")} if directives else {}
    required = " ".join([*said, "answer_found", *demanded])
    schema = closed(required, **said, answer_found=boolean(), **_CITED, **demanded)
    return Tool(name, "Gives the answer and what it rests on.", schema)


DONE = ending("done", directives=True)

QUESTION = Block("question", "What is asked.", closed("text", text=text()))
DIRECTIVES = Block(
    "directives",
    "Rules the answer must follow.",
    array(closed("id content", id=text(), name=text(), content=text())),
    optional=True,
)
ANSWER = Block(
    "answer", "The answer so far; `max_tokens` bounds a rewrite.", closed("text", text=text(), max_tokens=integer())
)
EVIDENCE = Block(
    "evidence",
    "What the searches found.",
    array(
        closed("id text", id=text("An alias: f1, o1 or p1."), text=text(), mentioned_at=text(), sources=array(text()))
    ),
)
CLAIMS = Block(
    "claims",
    "What was drawn from the evidence, part by part.",
    array(closed("id text", id=text("An alias."), text=text(), mentioned_at=text())),
    optional=True,
)

_ALIASES = (
    ("memory_ids[]", "f1, f2, … : facts shown in this run"),
    ("observation_ids[]", "o1, o2, … : observations shown in this run"),
    ("mental_model_ids[]", "p1, p2, … : pages shown in this run"),
)
_SETTING = (
    Block("bank", "Whose memory this is.", closed("name", name=text())),
    MISSION,
    Block(
        "disposition",
        "Traits from 1 to 5 that differ from the middle.",
        closed("", skepticism=integer(), literalism=integer(), empathy=integer()),
        optional=True,
    ),
    Block("now", "The present of this run.", closed("utc", utc=text("Weekday, date and minute."))),
    Block("length", "How long the answer may be.", closed("tokens", tokens=integer())),
    Block("context", "What the caller adds to the question.", closed("text", text=text()), optional=True),
)
_TURN_BLOCKS = (*_SETTING, DIRECTIVES, QUESTION)

TASKS = (
    Task(
        "reflect_turn",
        "Searches, or ends the search.",
        (*SEARCH_TOOLS, DONE, ANSWER_READY),
        "any",
        _TURN_BLOCKS,
        _ALIASES,
    ),
    Task("reflect_closing", "Answers from what the searches found.", (DONE,), "forced", _TURN_BLOCKS, _ALIASES),
    Task(
        "reflect_claims",
        "Draws dated, cited claims from one part of the evidence.",
        (
            Tool(
                "reflect_claims",
                "Lists the claims that bear on the question.",
                closed(
                    "claims", claims=array(closed("text ids", text=text(), ids=array(text("An alias.")), date=text()))
                ),
            ),
        ),
        "forced",
        (QUESTION, EVIDENCE),
        (("claims[].ids[]", "aliases shown in the block `evidence`"),),
    ),
    Task(
        "reflect_synthesis",
        "Answers from evidence or claims, without tools to search.",
        (ending("reflect_synthesis", directives=True),),
        "forced",
        (*_TURN_BLOCKS, Block("evidence", EVIDENCE.says, EVIDENCE.document, optional=True), CLAIMS),
        _ALIASES,
    ),
    Task(
        "reflect_rewrite",
        "Says the same in fewer words.",
        (Tool("reflect_rewrite", "Gives the shorter answer.", closed("answer", answer=text())),),
        "forced",
        (QUESTION, DIRECTIVES, ANSWER),
    ),
    Task(
        "structured_answer",
        "Puts the answer into the caller's own schema.",
        (Tool("structured_answer", "Fills the caller's schema; shown here empty.", closed("")),),
        "forced",
        (QUESTION, ANSWER),
    ),
    Task(
        "verify_directives",
        "Finds directives that an answer breaks.",
        (
            Tool(
                "verify_directives",
                "Lists the directives that are broken; an empty list when none is.",
                closed(
                    "violations", violations=array(closed("directive_id reason", directive_id=text(), reason=text()))
                ),
            ),
        ),
        "forced",
        (Block("directives", DIRECTIVES.says, DIRECTIVES.document), ANSWER),
        (("violations[].directive_id", "id of a directive shown in the block `directives`"),),
    ),
)
