"""Directives."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class DirectiveResponse(TypedDict):
    """A directive."""

    id: str
    bank_id: str
    name: str
    content: str
    priority: NotRequired[int]
    is_active: NotRequired[bool]
    tags: NotRequired[list[str]]
    created_at: NotRequired[str | None]
    updated_at: NotRequired[str | None]


class DirectiveListResponse(TypedDict):
    """One page of directives."""

    items: list[DirectiveResponse]
    total: int
    limit: int
    offset: int
