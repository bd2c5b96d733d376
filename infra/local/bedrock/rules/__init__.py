"""The offline text model: one rule per task of the model contract, and plain filling for a task nobody knows.

Called by `app`; calls its own modules. It reads data blocks and tool results only, and proves plumbing, not quality.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from hindsight_aws.ports.model_gateway import JsonObject, Tool
from infra.local.bedrock.converse import Reply, Request
from infra.local.bedrock.rules import mental_models, reflect
from infra.local.bedrock.rules.consolidate import consolidate
from infra.local.bedrock.rules.directives import verify_directives
from infra.local.bedrock.rules.extract_facts import extract_facts
from infra.local.bedrock.rules.filling import filled, fitted
from infra.local.bedrock.rules.judge_duplicate import judge_duplicate
from infra.local.bedrock.rules.material import Material
from infra.local.bedrock.shapes import an_object

__all__ = ["TASK_OF_TOOL", "answer", "task_of"]

_Rule = Callable[[Material], JsonObject]

_RULES: dict[str, _Rule] = {
    "extract_facts": extract_facts,
    "consolidate": consolidate,
    "judge_duplicate": judge_duplicate,
    "reflect_turn": reflect.conclude,
    "reflect_closing": reflect.conclude,
    "reflect_claims": reflect.claims,
    "reflect_synthesis": reflect.conclude,
    "reflect_rewrite": reflect.rewrite,
    "verify_directives": verify_directives,
    "refresh_document": reflect.conclude,
    "refresh_ops": mental_models.refresh_ops,
    "retract": mental_models.retract,
}
_TASKS = frozenset({*_RULES, "structured_answer"})
TASK_OF_TOOL = {
    "record_facts": "extract_facts",
    "revise_observations": "consolidate",
    "done": "reflect_closing",
    **{task: task for task in _TASKS},
}


def task_of(request: Request) -> str | None:
    """The task named in the metadata, else that of the forced or only tool; None for a call outside the contract."""
    named = request.metadata.get("task")
    if isinstance(named, str) and named in _TASKS:
        return named
    names = [tool.name for tool in request.tools]
    wanted = request.choice if request.choice in names else names[0] if len(names) == 1 else ""
    if wanted in TASK_OF_TOOL:
        return TASK_OF_TOOL[wanted]
    return "reflect_turn" if set(names) & {*reflect.SEARCH_TOOLS, *reflect.ENDINGS} else None


def answer(task: str | None, request: Request, material: Material) -> Reply:
    """What the rules reply: the use of a tool where tools are offered, else a text."""
    names = [tool.name for tool in request.tools]
    name = reflect.next_tool(names, [use.name for use in request.used], request.choice)
    tool = next((tool for tool in request.tools if tool.name == name), None)
    said = _said(task, tool, material)
    if tool is None:
        return Reply(text=str(said.get("answer") or json.dumps(said, ensure_ascii=False)))
    return Reply(tool=tool.name, input=fitted(said, tool.schema), stop="tool_use")


def _said(task: str | None, tool: Tool | None, material: Material) -> JsonObject:
    if tool is not None and task == "reflect_turn" and tool.name not in reflect.ENDINGS:
        return reflect.search(material)
    if task in _RULES:
        return _RULES[task](material)
    evidence = material.evidence()
    text = material.text("answer") or (evidence[0].text if evidence else material.question)
    return an_object(filled(tool.schema, text)) if tool is not None else {"answer": text or "ok"}
