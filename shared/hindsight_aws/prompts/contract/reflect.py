"""The contract of reflect's tasks: the search tools, the ways to end, and the passes around the answer.

Called by reflect and by the registry; calls `shapes`. Ids are aliases of one run, never those of the store.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, Tool
from hindsight_aws.prompts.contract.retain import MISSION
from hindsight_aws.prompts.contract.shapes import Block, Task, array, boolean, closed, integer, one_of, text

_REASON = text("Why this is needed now, in a few words.")
_QUERY = text("What to look for.")
_USUAL = "How many tokens may be found; left out: as usual."

SEARCH_MENTAL_MODELS = Tool(
    "search_mental_models",
    "Finds prepared pages about a topic: where one is fresh and to the point, the best answer there is. A stale one "
    "tells why; then look further.",
    closed("reason query", reason=_REASON, query=_QUERY, max_results=integer("How many pages; left out: 5.")),
)
READ_MENTAL_MODELS = Tool(
    "read_mental_models",
    "Reads pages found before, whole, where only the beginning was shown.",
    closed(
        "reason mental_model_ids",
        reason=_REASON,
        mental_model_ids=array(text("An alias like p1.")),
        max_tokens=integer("How long the pages may be together; left out: as usual."),
    ),
)
SEARCH_OBSERVATIONS = Tool(
    "search_observations",
    "Finds beliefs that rest on several facts: the best start for what is generally so. `facts_not_in_it_yet` and "
    "`freshness` tell how many newer facts an observation does not know; then look for those facts too.",
    closed("reason query", reason=_REASON, query=_QUERY, max_tokens=integer(_USUAL)),
)
RECALL = Tool(
    "recall",
    "Finds single facts, as they were said: exact values, names, dates, and whatever nothing broader covers.",
    closed("reason query", reason=_REASON, query=_QUERY, max_tokens=integer(_USUAL), max_chunk_tokens=integer(_USUAL)),
)
EXPAND = Tool(
    "expand",
    "Shows the text a fact was taken from, when its wording or surroundings matter, or what an observation rests on.",
    closed(
        "reason memory_ids depth",
        reason=_REASON,
        memory_ids=array(text("An alias like f1 or o1.")),
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
    "support": array(
        closed(
            "sentence ids",
            sentence=text("A sentence of the answer, word for word."),
            ids=array(text("An alias like f1, o1 or p1.")),
        ),
        "What single sentences rest on, where that can be said.",
    ),
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
    "Rules the answer must follow; in a call that answers they stand first and once more last.",
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
    array(
        closed(
            "id text",
            id=text("An alias."),
            text=text(),
            mentioned_at=text(),
            also=array(text("Another alias it rests on.")),
        )
    ),
    optional=True,
)
PROBLEM = Block("problem", "What was wrong with the last reply.", closed("reason", reason=text()), optional=True)

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
        "Traits from 1 to 5; `means` has a sentence for each unless all are 3.",
        closed(
            "skepticism literalism empathy",
            skepticism=integer(),
            literalism=integer(),
            empathy=integer(),
            means=array(text()),
        ),
    ),
    Block("effort", "How far to search.", closed("budget", budget=one_of("low", "mid", "high"))),
    Block("length", "How long the answer may be.", closed("tokens", tokens=integer())),
    Block("now", "The present of this run.", closed("utc", utc=text("Weekday, date and minute."))),
    Block("context", "What the caller adds to the question.", closed("text", text=text()), optional=True),
)
LANGUAGE = Block(
    "language",
    "The language to answer in; without it, the question's own.",
    closed("language", language=text()),
    optional=True,
)
VIOLATIONS = Block(
    "violations",
    "Directives that the answer breaks, and how; only when it is rewritten for that.",
    array(closed("content reason", content=text(), reason=text())),
    optional=True,
)
_TURN_BLOCKS = (DIRECTIVES, *_SETTING, QUESTION, LANGUAGE, PROBLEM)

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
        (QUESTION, EVIDENCE, PROBLEM),
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
        (DIRECTIVES, QUESTION, ANSWER, VIOLATIONS),
    ),
    Task(
        "structured_answer",
        "Puts the answer into the caller's own schema.",
        (Tool("structured_answer", "Fills the caller's schema; shown here empty.", closed("")),),
        "forced",
        (QUESTION, ANSWER, PROBLEM),
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
        (Block("directives", "The rules to check.", DIRECTIVES.document), ANSWER, PROBLEM),
        (("violations[].directive_id", "d1, d2, … : directives shown in the block `directives`"),),
    ),
)
