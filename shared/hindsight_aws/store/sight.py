"""A Sight and a time window as the parameters of a statement.  Used by every read of store/ that shows things."""

from __future__ import annotations

from hindsight_aws.access import DocumentSight, Sight
from hindsight_aws.model.tags import TagGroup
from hindsight_aws.ports.listing import Window
from hindsight_aws.store.tag_predicate import predicate_of, predicate_path


def sight_params(sight: Sight) -> dict[str, object]:
    """The parameters `fact_types`, `any_of`, `predicate` and `variables` of a statement that filters by sight."""
    return {"fact_types": sorted(sight.fact_types), **predicate_of(sight.tags).params()}


def beneath_params(sight: Sight) -> dict[str, object]:
    """Those of a statement that shows what observations rest on."""
    return {**sight_params(sight), "fact_types": sorted(sight.source_types)}


def document_params(sight: DocumentSight) -> dict[str, object]:
    """The parameters `any_of`, `predicate`, `variables`, `own`, `own_variables` of a statement on documents."""
    return {**predicate_of(sight.tags).params(), **own_params(sight.own)}


def own_params(own: TagGroup | None) -> dict[str, object]:
    """The parameters `own` and `own_variables` of a statement that leaves out documents with items of others."""
    path, variables = (None, None) if own is None else predicate_path(own)
    return {"own": path, "own_variables": variables}


def window_params(window: Window) -> dict[str, object]:
    """The parameters `axis`, `start` and `end` of a statement that filters by time."""
    return {"axis": window.axis, "start": window.start, "end": window.end}
