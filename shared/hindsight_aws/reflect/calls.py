"""Reads what a model said with a tool: its name, its arguments, and the answer of `done`.  Pure; called by the planner.

Models write names with decorations, numbers as words and ids as bare strings; what can be understood is.
"""

from __future__ import annotations

import re

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

SEARCH_OBSERVATIONS = "search_observations"
RECALL = "recall"
EXPAND = "expand"
DONE = "done"
ANSWER_READY = "answer_ready"

_LEAST_TOKENS = 1_000
_MOST_TOKENS = 16_000
_UNSET = (None, "", "none", "null", 0)
_WORD = re.compile(r"\w")
_DECORATION = re.compile(r"^(?:functions?[.:/]|call[=:]|tool[=:])+|<\|.*$")


class WrongArgument(ValueError):
    """An argument that cannot be understood; the message is for the model."""


def normalised(name: str) -> str:
    """The tool's plain name, without what some models wrap around it."""
    return _DECORATION.sub("", name.strip()).strip()


def check_call(name: str, arguments: JsonObject, enabled: tuple[str, ...]) -> str | None:
    """None when the tool may be run so, else a sentence that tells the model what is wrong."""
    if name not in enabled:
        return f"There is no tool {name!r} here; there are {', '.join((*enabled, DONE))}."
    try:
        if name == EXPAND:
            texts(arguments, "memory_ids")
            depth(arguments)
        else:
            query(arguments)
            tokens(arguments, "max_tokens", _LEAST_TOKENS)
    except WrongArgument as wrong:
        return str(wrong)
    return None


def query(arguments: JsonObject) -> str:
    """What to look for.  Raises WrongArgument."""
    value = arguments.get("query")
    if not isinstance(value, str) or not _WORD.search(value.replace("_", " ")):
        raise WrongArgument("`query` must say what to look for, in words.")
    return value.strip()


def tokens(arguments: JsonObject, name: str, default: int) -> int:
    """A token budget: the default when unset, else within what a tool may answer.  Raises WrongArgument."""
    value = arguments.get(name)
    if isinstance(value, str):
        value = value.strip().lower()
    if value in _UNSET:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise WrongArgument(f"`{name}` must be a whole number.")
    try:
        number = int(value)
    except (ValueError, OverflowError):
        raise WrongArgument(f"`{name}` must be a whole number.") from None
    return max(_LEAST_TOKENS, min(_MOST_TOKENS, number))


def texts(arguments: JsonObject, name: str) -> tuple[str, ...]:
    """At least one id; a bare one counts as a list of one.  Raises WrongArgument."""
    found = _ids(arguments.get(name))
    if not found:
        raise WrongArgument(f"`{name}` must name at least one id.")
    return found


def depth(arguments: JsonObject) -> str:
    """How far to open a fact.  Raises WrongArgument."""
    value = arguments.get("depth", "chunk")
    if value not in ("chunk", "document"):
        raise WrongArgument("`depth` must be chunk or document.")
    return str(value)


def conclusion(said: JsonObject) -> JsonObject | None:
    """The answer of `done` in one form, or None when there is none.

    `{answer, answer_found, cited: [ids in the order given]}`; a missing `answer_found` is true, "false" is false.
    """
    answer = said.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        return None
    found = said.get("answer_found", True)
    not_found = found is False or (isinstance(found, str) and found.strip().lower() in ("false", "no"))
    cited: list[JsonValue] = []
    for name in ("observation_ids", "memory_ids", "mental_model_ids"):
        cited += [one for one in _ids(said.get(name)) if one not in cited]
    return {"answer": answer.strip(), "answer_found": not not_found, "cited": cited}


def _ids(value: JsonValue) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(one.strip() for one in value if isinstance(one, str) and one.strip()))
