"""A job is read from its row as it was written."""

from __future__ import annotations

from uuid import uuid4

import pytest

from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import DEEPEST_GROUP, AllOf, AnyOf, Not, TagFilter, TagGroup, TagLeaf
from hindsight_aws.reflect.request import ReflectJob, ReflectRequest, job_from_json, job_to_json

MANY = frozenset(f"t{number}" for number in range(1_000))


def _below_denials(group: TagGroup, depth: int) -> TagGroup:
    return Not(_below_denials(group, depth - 1)) if depth else group


@pytest.mark.parametrize(
    "tags",
    [
        pytest.param(TagFilter.flat(MANY), id="flat"),
        pytest.param(TagFilter(tuple(TagLeaf(frozenset({tag})) for tag in MANY)), id="resolved groups"),
        pytest.param(
            TagFilter((_below_denials(AllOf((TagLeaf(MANY),)), DEEPEST_GROUP),)),
            id="deepest leaf resolved",
        ),
        pytest.param(TagFilter((AnyOf(()),)), id="exact leaf that means nothing"),
        pytest.param(TagFilter(), id="none"),
    ],
)
def test_a_filter_that_was_accepted_is_read_back_whatever_its_size(tags: TagFilter) -> None:
    principal = Principal(TenantId(uuid4()), "someone", frozenset({Permission.READ}))
    job = ReflectJob(principal, "bank", ReflectRequest("q", tags=tags))

    assert job_from_json(job_to_json(job)) == job
