"""Rows of mental models as values, and scopes and sights as parameters.  Used by store/mental_models.py."""

from __future__ import annotations

import json

from psycopg.types.json import Jsonb

from hindsight_aws.access import PageSight, Sight
from hindsight_aws.model.mental_model import MentalModel
from hindsight_aws.model.tags import AllOf
from hindsight_aws.model.trigger import Creator, Trigger, creator_from_json, patched
from hindsight_aws.ports.mental_models import FoundPage, ModelView
from hindsight_aws.store.connection import Row
from hindsight_aws.store.tag_predicate import predicate_of, predicate_path

_WITHHELD = "source_deleted"
_SAME = (
    "page_id",
    "name",
    "source_query",
    "content",
    "structure",
    "max_tokens",
    "response",
    "version",
    "written_query",
)
_TIMES = ("last_refreshed_at", "last_full_refreshed_at", "last_memory_seen_at", "last_refresh_failed_at", "created_at")


def model_of(row: Row) -> MentalModel:
    """The model of a row of `view`, `find` or `lock`."""
    return MentalModel(
        id=row["model_id"],
        tags=tuple(row["tags"]),
        trigger=patched(Trigger(), row["trigger"]),
        creator=creator_from_json(row["creator"]),
        is_paused=row["is_paused"],
        **{name: row[name] for name in (*_SAME, *_TIMES)},
    )


def found_page(row: Row, relevance: float | None) -> FoundPage:
    """The page; the text of one that rests on what is gone is told to nobody."""
    return FoundPage(
        id=row["model_id"],
        name=row["name"],
        content="" if row["staleness"] == _WITHHELD else row["content"],
        tags=tuple(row["tags"]),
        updated_at=row["last_refreshed_at"],
        is_stale=row["staleness"] is not None,
        staleness_reason=row["staleness"],
        relevance=relevance,
    )


def model_view(row: Row) -> ModelView:
    """The model as it is shown, of a row of `view` or `page`."""
    return ModelView(model_of(row), row["staleness"], row["staleness"] == _WITHHELD, row["is_page"])


def scope_params(scope: Sight, staling: Sight) -> dict[str, object]:
    """The columns that say which memories a model is written from, and which make it stale."""
    return {
        "scope_types": sorted(scope.fact_types),
        **_predicate("scope", scope),
        **_predicate("stale", staling),
    }


def sight_columns(creator: Creator) -> dict[str, object]:
    """The columns that say under which limits a model is written."""
    return {
        "sight_types": None if creator.fact_types is None else sorted(creator.fact_types),
        "sight_scopes": _scopes(creator.exact_scopes),
    }


def seen_params(sight: PageSight) -> dict[str, object]:
    """The parameters of a statement that filters models by sight."""
    return {
        **predicate_of(sight.tags).params(),
        "seen_types": None if sight.fact_types is None else sorted(sight.fact_types),
        "seen_scopes": _scopes(sight.exact_scopes),
        "asked_types": None if sight.asked_types is None else sorted(sight.asked_types),
    }


def _scopes(scopes: frozenset[frozenset[str]] | None) -> list[str] | None:
    return None if scopes is None else sorted(json.dumps(sorted(scope), ensure_ascii=False) for scope in scopes)


def _predicate(name: str, scope: Sight) -> dict[str, object]:
    path, variables = predicate_path(AllOf(scope.tags.groups)) if scope.tags else (None, None)
    read = None if variables is None else Jsonb(json.loads(variables))
    return {f"{name}_predicate": path, f"{name}_variables": read}
