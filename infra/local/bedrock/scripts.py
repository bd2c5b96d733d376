"""Replies that a test lays down in advance, per task and in order; the last one repeats.

Called by `app`; calls `rules.material`. The words it knows are those of `POST /__stub__/script`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeAlias

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.converse import Reply, Request
from infra.local.bedrock.rules.material import Material, text_of
from infra.local.bedrock.rules.reflect import ENDINGS
from infra.local.bedrock.shapes import a_text

_ALIASES = {
    "extract": ("extract_facts",),
    "judge": ("judge_duplicate",),
    "reflect": ("reflect_turn", "reflect_closing", "reflect_synthesis"),
}
_ERRORS = {
    "throttle": (429, "ThrottlingException"),
    "quota": (400, "ServiceQuotaExceededException"),
    "unavailable": (503, "ServiceUnavailableException"),
    "internal": (500, "InternalServerException"),
    "model": (424, "ModelErrorException"),
    "timeout": (408, "ModelTimeoutException"),
    "validation": (400, "ValidationException"),
    "too_long": (400, "ValidationException"),
    "denied": (403, "AccessDeniedException"),
    "unknown_model": (404, "ResourceNotFoundException"),
}
_STOPS = {
    "refused": "content_filtered",
    "guardrail": "guardrail_intervened",
    "malformed": "malformed_tool_use",
    "malformed_output": "malformed_model_output",
    "context": "model_context_window_exceeded",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is an error: HTTP status and the exception's name; `cut` drops the connection instead."""

    status: int
    kind: str
    message: str = "scripted"
    cut: bool = False


Scripted: TypeAlias = "Reply | Failure"


class Scripts:
    """What was scripted; each task has its own place in its list."""

    def __init__(self) -> None:
        self._replies: dict[str, list[JsonValue]] = {}

    def replace(self, document: JsonObject) -> None:
        """Forgets all scripts and takes these; a task that names none is answered by rule again.

        Tasks may share a list (`reflect`): then they share the place in it.
        """
        self._replies = {}
        for name, given in document.items():
            replies: list[JsonValue] = list(given) if isinstance(given, list) else [given]
            for task in _ALIASES.get(name, (name,)):
                self._replies[task] = replies

    def take(self, task: str | None) -> JsonValue:
        """The next scripted reply of that task, or None when there is none."""
        replies = self._replies.get(task or "")
        if not replies:
            return None
        return replies.pop(0) if len(replies) > 1 else replies[0]


def scripted_reply(script: JsonValue, request: Request, material: Material) -> Scripted | None:
    """The reply that a script stands for; None for `FINAL`, `RULES` and `TOOL:` of a tool that is not offered."""
    tool = _tool_for(request)
    if isinstance(script, dict):
        return _use(tool, script)
    if not isinstance(script, str):
        return Reply(text=json.dumps(script, ensure_ascii=False))
    word, _, rest = script.partition(":")
    if word == "RAW":
        return Reply(text=rest)
    if word == "RAISE":
        return _raised(rest)
    if word == "TRUNCATED":
        return Reply(text="The reply breaks off", stop="max_tokens")
    if word == "TOOL":
        return _search(rest, request, material)
    return _worded(word, tool, material)


def failure(kind: str) -> Failure:
    """The failure of that name. Raises: ValueError for a name nobody knows."""
    if kind == "drop":
        return Failure(0, kind, cut=True)
    if kind not in _ERRORS:
        raise ValueError(f"RAISE knows {', '.join([*_ERRORS, *_STOPS, 'drop'])}, not {kind!r}")
    message = "Input is too long for requested model." if kind == "too_long" else "scripted"
    return Failure(*_ERRORS[kind], message)


def _raised(kind: str) -> Scripted:
    return Reply(text="This reply was stopped.", stop=_STOPS[kind]) if kind in _STOPS else failure(kind)


def _tool_for(request: Request) -> str | None:
    names = [tool.name for tool in request.tools]
    if request.choice in names:
        return request.choice
    return next((name for name in ENDINGS if name in names), names[0] if names else None)


def _use(tool: str | None, document: JsonObject) -> Reply:
    if tool is None:
        return Reply(text=json.dumps(document, ensure_ascii=False))
    return Reply(tool=tool, input=document, stop="tool_use")


def _search(name: str, request: Request, material: Material) -> Reply | None:
    if name not in {tool.name for tool in request.tools} or request.choice not in {"auto", "any", name}:
        return None
    return _use(name, {"reason": "scripted", "query": material.question or "what is known"})


def _worded(word: str, tool: str | None, material: Material) -> Scripted | None:
    text = material.text("chunk")
    if word == "ECHO":
        return _use(tool, {"facts": [_fact(text)]})
    if word == "ONE_FACT_PER_LINE":
        return _use(tool, {"facts": [_fact(line) for line in text.splitlines() if line.strip()]})
    if word == "ONE_PER_FACT":
        creates: list[JsonValue] = [
            {"text": text_of(fact), "source_fact_ids": [a_text(fact.get("id"))]} for fact in material.records("facts")
        ]
        return _use(tool, {"creates": creates, "updates": [], "deletes": []})
    if word in {"FINAL", "RULES"}:
        return None
    raise ValueError(f"no script is called {word!r}")


def _fact(text: str) -> JsonObject:
    return {"what": text, "fact_type": "world", "fact_kind": "conversation", "entities": []}
