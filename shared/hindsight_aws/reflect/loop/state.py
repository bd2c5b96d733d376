"""What a reflect run remembers between steps, what may happen to it, and what it may do next; all plain values.

Made and read by planner.py; codec.py writes it to the run's row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from hindsight_aws.ports.model_gateway import JsonObject

TURN_TASK = "reflect_turn"
CLOSING_TASK = "reflect_closing"
SYNTHESIS_TASK = "reflect_synthesis"
CLAIMS_TASK = "reflect_claims"
REWRITE_TASK = "reflect_rewrite"
VERIFY_TASK = "verify_directives"
STRUCTURE_TASK = "structured_answer"
DOCUMENT_TASK = "refresh_document"
EDITS_TASK = "refresh_ops"
RETRACT_TASK = "retract"

Said: TypeAlias = Mapping[str, JsonObject]
"""What the model said with each task that ended well.

Under `reflect_closing` stands the answer, whichever call gave it: `{answer, answer_found, cited}`, as it is after a
rewrite.  Under any other task: the input of its tool, as given.
"""


class Phase(StrEnum):
    """Where a run is: which event it waits for."""

    NEW = "new"
    SEARCHING = "searching"
    ASKING = "asking"
    CLOSING = "closing"
    CLAIMING = "claiming"
    SYNTHESISING = "synthesising"
    FINISHING = "finishing"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What was settled when the run was prepared.

    `first` are the tools of the first round, `tools` those the model may use; `turns` bounds its calls;
    `context_tokens` bounds what one call may be shown; `has_memories` is whether the bank has anything to find.
    `sequential` asks the model for each tool of `first` in turn, in place of one round without it; pages that are all
    fresh and to the point end that, unless `thorough`.
    `endings` are the tasks asked in turn once the evidence is in, `after` those that may follow an answer, each where
    its condition holds; `max_tokens` is the wished length of an answer.
    """

    question: str
    first: tuple[str, ...]
    tools: tuple[str, ...]
    turns: int
    context_tokens: int
    has_memories: bool
    sequential: bool = False
    thorough: bool = False
    endings: tuple[str, ...] = (CLOSING_TASK,)
    after: tuple[str, ...] = ()
    max_tokens: int = 4_096

    @property
    def looks_one_by_one(self) -> bool:
        """Whether the model is asked for each tool of the first look in turn."""
        return self.sequential and self.turns > len(self.first)

    @property
    def answers(self) -> bool:
        """Whether the run ends with an answer in words; else it ends with what is done to a page."""
        return CLOSING_TASK in self.endings


@dataclass(frozen=True, slots=True)
class RunState:
    """A run between two decisions.

    Of the search: `asked` counts model calls, `found` the distinct pieces of evidence shown; `sizes` are the tokens of
    each entry of the evidence; `pending` are the tools of the first look still to be forced, `forced` is the one the
    call that goes on must use; `searched` and `recalled` tell whether any search, and `recall`, was run; `used_tools`
    whether the model ever used a tool; `is_compacted` that the conversation is shown with its oldest results blanked.

    Of the ending: `task` is the one that is asked (CLOSING, FINISHING), `ahead` are those still to come; `said` and
    `failed` hold what became of those before.  `problem` says what was wrong with the last reply to the same task.
    `evidence_tokens` bounds the evidence of a synthesis, `chunks` are the parts whose claims it is made from, as
    ranges of entries.

    `failures` counts the passing failures in a row, `missed` the forced tools in a row that were not used.
    """

    limits: RunLimits
    phase: Phase = Phase.NEW
    asked: int = 0
    found: int = 0
    failures: int = 0
    missed: int = 0
    evidence_tokens: int = 0
    pending: tuple[str, ...] = ()
    forced: str | None = None
    absence_forced: bool = False
    searched: bool = False
    recalled: bool = False
    used_tools: bool = False
    is_compacted: bool = False
    is_rechecked: bool = False
    task: str = TURN_TASK
    ahead: tuple[str, ...] = ()
    said: Said = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None
    sizes: tuple[int, ...] = ()
    chunks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """A tool the model used, as it said it."""

    id: str
    name: str
    input: JsonObject


@dataclass(frozen=True, slots=True)
class Began:
    """The run was prepared."""


@dataclass(frozen=True, slots=True)
class Searched:
    """Every tool of the round answered.

    `found` counts the evidence known by now, `sizes` the tokens of each of its entries, `tokens` those of the
    conversation so far.  `pages_suffice`: the round found pages, all fresh and filled, the first to the point.
    `is_late`: the run's time is over but for what an answer takes.
    """

    found: int
    tokens: int
    sizes: tuple[int, ...] = ()
    pages_suffice: bool = False
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Replied:
    """The model answered: with tool uses, or with prose alone.

    `refusal` says what is wrong with the reply to an ending, by that ending's own check; `stop` is why it stopped.
    """

    uses: tuple[Use, ...]
    refusal: str | None = None
    stop: str = ""


@dataclass(frozen=True, slots=True)
class Claimed:
    """Every part of the evidence was read; each has its claims."""


@dataclass(frozen=True, slots=True)
class Broke:
    """The model call failed for good; `error` is the error's name, after the workflow's own retries."""

    error: str


@dataclass(frozen=True, slots=True)
class RanOut:
    """The run's time is over but for what an answer takes."""


Event: TypeAlias = Began | Searched | Replied | Claimed | Broke | RanOut


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool to run: `use_id` is unique in the run, `said` its input as given, `refusal` answers a wrong one."""

    use_id: str
    name: str
    said: JsonObject
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run these, in parallel; their answers keep this order."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class AskModel:
    """Make one call of this task, which the state names in full; `tool` is the one a search turn must use."""

    task: str
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractClaims:
    """Draw the claims from each of these parts of the evidence, in parallel; a part is a range of its entries.

    An entry longer than `most` tokens is cut to that.
    """

    chunks: tuple[tuple[int, int], ...]
    most: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The run has ended well: `said` and, for what is optional, why it `failed`, both by task.

    An answer run without an answer in `said` has found that nothing is known.
    """

    said: Said = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def answer(self) -> JsonObject | None:
        """The answer that stands: `{answer, answer_found, cited}`, or None when nothing is known."""
        return self.said.get(CLOSING_TASK)


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The run has no answer; `error` names why, as errors are named."""

    error: str
    message: str


Action: TypeAlias = RunTools | AskModel | ExtractClaims | Finish | GiveUp
