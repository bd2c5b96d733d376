"""What may stand in a log line: no secret, and nothing that an error quotes of what it was about.  Pure.

Called by logs.py for every line.  Errors of our own are written to say ids; those of libraries quote their input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hindsight_aws.errors import FileUnreadable, HindsightError, InvalidRequest, ModelReplyMalformed

_MASK: Final = "***"
_SECRETS: Final = (
    (re.compile(r"\bhsk_[A-Za-z0-9_-]{6,}"), _MASK),
    (re.compile(r"\bwhsec_[A-Za-z0-9_+/=-]{6,}"), _MASK),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?"), _MASK),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), _MASK),
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s,;\"']+"), rf"\1 {_MASK}"),
    (
        re.compile(
            r"(?i)\b((?:proxy-)?authorization|cookie|set-cookie|x-api-key|api[_-]?key|password|passwd|secret|token|"
            r"x-amz-(?:signature|security-token|credential))\b([\"']?\s*[:=]\s*[\"']?)(?!\s*(?:bearer|basic)\b)[^\s,;&\"'}]+"
        ),
        rf"\1\2{_MASK}",
    ),
    (re.compile(r"(://[^/\s:@]*:)[^/\s@]+@"), rf"\1{_MASK}@"),
)
_QUOTING: Final = (InvalidRequest, FileUnreadable, ModelReplyMalformed)
"""Errors of our own whose sentence may repeat what a caller sent or a model wrote."""
_MOST_KINDS: Final = 3


def masked(text: str) -> str:
    """The text with a mask in place of every key, token, password and signature."""
    for secret, mask in _SECRETS:
        text = secret.sub(mask, text)
    return text


def saying(error: BaseException) -> str:
    """What a log line says of an error: its own sentence where it is one of ours, else its kind and code."""
    if isinstance(error, HindsightError) and not isinstance(error, _QUOTING):
        return masked(str(error))
    name = type(error).__name__
    codes = _codes(error)
    return f"{name} ({codes})" if codes else name


def _codes(error: BaseException) -> str:
    """Where a library says it without words: SQLSTATE, an AWS error's code, the kinds of fault pydantic found."""
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        return state
    if isinstance(error, OSError) and error.errno is not None:
        return f"errno {error.errno}"
    response = getattr(error, "response", None)
    told = response.get("Error") if isinstance(response, Mapping) else None
    if isinstance(told, Mapping) and isinstance(code := told.get("Code"), str):
        return masked(code)
    return _kinds_of_fault(error)


def _kinds_of_fault(error: BaseException) -> str:
    """Kinds and not places: a place in a document may be a key that a caller made up."""
    faults = getattr(error, "errors", None)
    if not callable(faults):
        return ""
    try:
        found = [str(fault["type"]) for fault in faults() if isinstance(fault, Mapping)]
    except (TypeError, ValueError, KeyError, RuntimeError):  # another library's method of the same name
        return ""
    return ", ".join(dict.fromkeys(found[:_MOST_KINDS]))
