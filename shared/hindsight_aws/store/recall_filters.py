"""What every statement of recall is bound to: the filter by tags and the bounds of time.  Called by store/'s recall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hindsight_aws.model.ids import UnitId
from hindsight_aws.ports.recall import Period, TimeFilter
from hindsight_aws.store.tag_predicate import TagPredicate


def gates(tags: TagPredicate, times: TimeFilter) -> dict[str, object]:
    """The parameters by which a statement lets a memory pass."""
    first, last = times.only_between or (None, None)
    return {
        "updated_after": times.updated_after,
        "updated_before": times.updated_before,
        "only_from": first,
        "only_until": last,
        "as_of": times.as_of,
        **tags.params(),
    }


def windows(periods: Iterable[Period]) -> dict[str, object]:
    """The parameters of windows of time."""
    given = list(periods)
    return {"starts": [first for first, _ in given], "ends": [last for _, last in given]}


def uuids(ids: Sequence[UnitId]) -> str:
    """The ids as an array in Postgres's own notation: the driver writes lists element by element, 5 µs each.

    Postgres reads ids without dashes as well, and those are written three times as fast.
    """
    return f"{{{','.join([f'{unit_id.int:032x}' for unit_id in ids])}}}"
