"""Pages in folders."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from hindsight_aws.api.documentation.shapes.mental_models import MentalModelTrigger


class KnowledgeNode(TypedDict):
    """A folder or a page, with what stands beneath it."""

    id: str
    kind: Literal["folder", "page"]
    name: str
    parent_id: NotRequired[str | None]
    mental_model_id: NotRequired[str | None]
    managed: NotRequired[bool]
    description: NotRequired[str | None]
    tags: NotRequired[list[str]]
    timestamp: NotRequired[str | None]
    is_stale: NotRequired[bool | None]
    last_refresh_failed_at: NotRequired[str | None]
    trigger: NotRequired[MentalModelTrigger | None]
    children: NotRequired[list[KnowledgeNode]]


class KnowledgeTreeResponse(TypedDict):
    """The folders and pages of a bank."""

    roots: list[KnowledgeNode]


class CreateKnowledgePageResponse(TypedDict):
    """The new page, and the operation that writes it."""

    page_id: str
    mental_model_id: str
    operation_id: NotRequired[str | None]
    scope_matches: NotRequired[int]


class KnowledgePageResponse(TypedDict):
    """A page with its text."""

    id: str
    name: str
    type: str
    description: NotRequired[str | None]
    tags: NotRequired[list[str]]
    timestamp: NotRequired[str | None]
    body: NotRequired[str | None]
    markdown: str


class KnowledgePageBundleFile(TypedDict):
    """A page as a file."""

    path: str
    content: str


class KnowledgePageBundleResponse(TypedDict):
    """All pages as files."""

    files: list[KnowledgePageBundleFile]


class KnowledgePageSearchResult(TypedDict):
    """A page that was found."""

    id: str
    name: str
    mental_model_id: NotRequired[str | None]
    source_query: NotRequired[str | None]
    snippet: str
    score: float
    updated_at: NotRequired[str | None]


class KnowledgePageSearchResponse(TypedDict):
    """Pages that were found, best first."""

    results: list[KnowledgePageSearchResult]
    total: int
