"""Reads what a model said with a tool: its name and its arguments.  Pure; called by the loop and the tools.

Models write names with decorations, numbers as words and ids as bare strings; what can be understood is.
"""

from __future__ import annotations

import re
from math import isfinite

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.text.sanitise import clean, is_blank

SEARCH_MENTAL_MODELS = "search_mental_models"
READ_MENTAL_MODELS = "read_mental_models"
SEARCH_OBSERVATIONS = "search_observations"
RECALL = "recall"
EXPAND = "expand"
DONE = "done"
ANSWER_READY = "answer_ready"

MOST_TOKENS = 16_000
LEAST_TOKENS = 1_000
_MOST_RESULTS = 20
_MOST_IDS = 50
_BUDGETS = {
    RECALL: ("max_tokens", "max_chunk_tokens"),
    SEARCH_OBSERVATIONS: ("max_tokens",),
    READ_MENTAL_MODELS: ("max_tokens",),
    SEARCH_MENTAL_MODELS: ("max_results",),
}
_IDS = {EXPAND: "memory_ids", READ_MENTAL_MODELS: "mental_model_ids"}
_CITED = ("observation_ids", "memory_ids", "mental_model_ids")
_MOST_SUPPORTED = 200
_UNSET = (None, "", "none", "null", "0", 0)
_WORD = re.compile(r"\w")
_ALIAS = re.compile(r"[fopc]\d+")
_ALIASES = re.compile(r"[\[(]?[fopc]\d+(?:[\s,;]+[fopc]\d+)*[\])]?")
_DECORATION = re.compile(r"^(?:functions?[.:/]|call[=:]|tool[=:])+|<\|.*$")


class WrongArgument(ValueError):
    """An argument that cannot be understood; the message is for the model."""


def sound(value: JsonValue) -> JsonValue:
    """What a model said as it can be kept: without characters that no database holds, endless numbers as words."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, list):
        return [sound(one) for one in value]
    return {clean(name): sound(one) for name, one in value.items()} if isinstance(value, dict) else value


def normalised(name: str) -> str:
    """The tool's plain name, without what some models wrap around it."""
    return _DECORATION.sub("", name.strip()).strip()


def check_call(name: str, arguments: JsonObject, enabled: tuple[str, ...]) -> str | None:
    """None when the tool may be run so, else a sentence that tells the model what is wrong."""
    if name not in enabled:
        return f"There is no tool {name!r} here; there are {', '.join((*enabled, DONE))}."
    try:
        if name in _IDS:
            texts(arguments, _IDS[name])
        else:
            query(arguments)
        if name == EXPAND:
            depth(arguments)
        for budget in _BUDGETS.get(name, ()):
            whole(arguments, budget)
    except WrongArgument as wrong:
        return str(wrong)
    return None


def ceiling(remaining: int, at_once: int) -> int:
    """How many tokens one of so many calls at once may answer at most, when so many are left in the conversation."""
    return max(LEAST_TOKENS, min(MOST_TOKENS, remaining // max(1, at_once)))


def query(arguments: JsonObject) -> str:
    """What to look for.  Raises WrongArgument."""
    value = arguments.get("query")
    if not isinstance(value, str) or not _WORD.search(value.replace("_", " ")):
        raise WrongArgument("`query` must say what to look for, in words.")
    return value.strip()


def tokens(arguments: JsonObject, name: str, default: int, most: int = MOST_TOKENS) -> int:
    """A token budget: what is said, within what a tool may answer, else the default as it is.  Raises WrongArgument."""
    number = whole(arguments, name)
    return default if number is None else max(LEAST_TOKENS, min(most, number))


def results(arguments: JsonObject, default: int) -> int:
    """How many results are wanted.  Raises WrongArgument."""
    number = whole(arguments, "max_results")
    return default if number is None else max(1, min(_MOST_RESULTS, number))


def whole(arguments: JsonObject, name: str) -> int | None:
    """The whole number said, as a number or in digits; None when unset, in any of the ways models leave things unset.

    Raises: WrongArgument.
    """
    value = arguments.get(name)
    if isinstance(value, str):
        value = value.strip().lower()
    if value in _UNSET:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise WrongArgument(f"`{name}` must be a whole number.")
    try:
        number = int(value)
    except (ValueError, OverflowError):
        raise WrongArgument(f"`{name}` must be a whole number.") from None
    if isinstance(value, float) and number != value:
        raise WrongArgument(f"`{name}` must be a whole number.")
    return number


def texts(arguments: JsonObject, name: str) -> tuple[str, ...]:
    """At least one id; a bare one counts as a list of one.  Raises WrongArgument."""
    found = ids(arguments.get(name))
    if not found:
        raise WrongArgument(f"`{name}` must name at least one id.")
    if len(found) > _MOST_IDS:
        raise WrongArgument(f"`{name}` may name at most {_MOST_IDS} ids.")
    return found


def depth(arguments: JsonObject) -> str:
    """How far to open a fact.  Raises WrongArgument."""
    value = arguments.get("depth") or "chunk"
    if value not in ("chunk", "document"):
        raise WrongArgument("`depth` must be chunk or document.")
    return str(value)


def conclusion(said: JsonObject) -> JsonObject | None:
    """The answer of `done` in one form, or None when there is none.

    `{answer, answer_found, cited: [ids in the order given], support: [{sentence, ids}]}`; a missing `answer_found` is
    true, "false" is false; what supports a sentence is cited, and support without a sentence or ids is left out.
    """
    answer = said.get("answer")
    if not isinstance(answer, str) or is_blank(answer):
        return None
    found = said.get("answer_found", True)
    not_found = found is False or (isinstance(found, str) and found.strip().lower() in ("false", "no"))
    supported = _support(said.get("support"))
    named = [one for name in _CITED for one in ids(said.get(name))]
    cited: list[JsonValue] = [*dict.fromkeys([*named, *(one for _, by in supported for one in by)])]
    support: list[JsonValue] = [{"sentence": sentence, "ids": [*by]} for sentence, by in supported]
    return {"answer": answer.strip(), "answer_found": not not_found, "cited": cited, "support": support}


def ids(value: JsonValue) -> tuple[str, ...]:
    """The ids in a list, each once; a bare one is a list of one, several aliases may share a text; else it is no id."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return ()
    given = [one.strip() for one in value if isinstance(one, str) and one.strip()]
    apart = [_ALIAS.findall(one) if _ALIASES.fullmatch(one) else [one] for one in given]
    return tuple(dict.fromkeys(one for several in apart for one in several))


def _support(value: JsonValue) -> list[tuple[str, tuple[str, ...]]]:
    entries = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    read = [(one.get("sentence"), ids(one.get("ids"))) for one in entries[:_MOST_SUPPORTED]]
    return [(sentence.strip(), by) for sentence, by in read if isinstance(sentence, str) and sentence.strip() and by]
