"""Packs an async request's documents into operations of a bearable size.  Called by submit; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from hindsight_aws.retain.intake.accepted import DocumentTask
from hindsight_aws.text.tokens import count_tokens

TOKENS_PER_OPERATION: Final = 10_000


def pack_documents(tasks: Iterable[DocumentTask], budget: int = TOKENS_PER_OPERATION) -> list[list[DocumentTask]]:
    """Groups of consecutive documents of at most `budget` tokens each; a larger document stands alone, whole.

    Items that share a generated document may be divided: each group then makes one of its own.
    """
    groups: list[list[DocumentTask]] = []
    room = 0
    for task, tokens in _pieces(tasks, budget):
        if not groups or tokens > room:
            groups.append([])
            room = budget
        groups[-1].append(task)
        room -= tokens
    return groups


def tokens_of(task: DocumentTask) -> int:
    """The tokens of a document's parts."""
    return sum(count_tokens(part.content) for part in task.parts)


def _pieces(tasks: Iterable[DocumentTask], budget: int) -> Iterable[tuple[DocumentTask, int]]:
    for task in tasks:
        tokens = tokens_of(task)
        if task.external_id is not None or tokens <= budget:
            yield task, tokens
            continue
        held: list[DocumentTask] = []
        room = 0
        for part in task.parts:
            size = count_tokens(part.content)
            if not held or size > room:
                held.append(replace(task, parts=(part,), place=part.position))
                room = budget
            else:
                held[-1] = replace(held[-1], parts=(*held[-1].parts, part))
            room -= size
        yield from ((piece, tokens_of(piece)) for piece in held)
