"""What a principal may see and do: the algebra that every route and tool relies on."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.access import (
    document_sight,
    is_limited,
    operations_subject,
    require,
    require_bank,
    require_tags,
    require_whole_bank,
    sees_bank,
    sees_documents,
    sight,
)
from hindsight_aws.errors import AccessDenied, NotFound
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import FACT_TYPES, Permission, Principal
from hindsight_aws.model.tags import AllOf, AnyOf, Not, TagFilter, TagGroup, TagLeaf, TagsMatch

TENANT = TenantId(uuid4())
TAGS = st.sampled_from(["user:a", "user:b", "company:acme", "session:1"])
TAG_SETS = st.frozensets(TAGS, max_size=4)
TYPES = st.sampled_from(sorted(FACT_TYPES))
LEAVES = st.builds(TagLeaf, TAG_SETS, st.sampled_from(list(TagsMatch)))
GROUPS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda groups: AllOf(tuple(groups)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda groups: AnyOf(tuple(groups)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)
PRINCIPALS = st.builds(
    Principal,
    st.just(TENANT),
    st.just("somebody"),
    st.frozensets(st.sampled_from(list(Permission))),
    st.just(("*",)),
    st.none() | GROUPS,
    st.none() | st.frozensets(TYPES, min_size=1),
    st.none() | st.frozensets(TAG_SETS, min_size=1, max_size=3),
)


@given(PRINCIPALS, st.frozensets(TYPES), GROUPS, TYPES, TAG_SETS)
def test_a_request_never_widens_what_a_key_sees(
    principal: Principal, asked: frozenset[str], group: TagGroup, fact_type: str, tags: frozenset[str]
) -> None:
    narrow = sight(principal, asked, TagFilter((group,)))
    widest = sight(principal)

    if narrow.sees(fact_type, tags):
        assert widest.sees(fact_type, tags)
        assert fact_type in asked
        assert group.matches(tags)


@given(PRINCIPALS, TYPES, TAG_SETS)
def test_what_is_seen_passes_each_limit_of_the_key(principal: Principal, fact_type: str, tags: frozenset[str]) -> None:
    seen = sight(principal).sees(fact_type, tags)

    passes = (
        (principal.forced_tags is None or principal.forced_tags.matches(tags))
        and (principal.fact_types is None or fact_type in principal.fact_types)
        and (principal.exact_scopes is None or (fact_type == "observation" and tags in principal.exact_scopes))
    )
    assert seen == passes


@given(PRINCIPALS)
def test_a_key_for_exact_scopes_sees_nothing_beneath(principal: Principal) -> None:
    if principal.exact_scopes is not None:
        assert not sight(principal).sees_beneath
        assert not sees_documents(principal)
        assert is_limited(principal)


@given(PRINCIPALS)
def test_a_limited_key_acts_on_no_whole_bank_and_sees_its_own_operations_alone(principal: Principal) -> None:
    if is_limited(principal):
        assert operations_subject(principal) == principal.subject
        with pytest.raises(AccessDenied):
            require_whole_bank(principal)
    else:
        assert operations_subject(principal) is None
        require_whole_bank(principal)


@given(PRINCIPALS, TAG_SETS)
def test_what_a_key_may_write_it_could_read_back_by_its_tags(principal: Principal, tags: frozenset[str]) -> None:
    try:
        require_tags(principal, tags)
    except AccessDenied:
        assert principal.forced_tags is not None
        assert not principal.forced_tags.matches(tags)
    else:
        assert document_sight(principal).tags.matches(tags)


@pytest.mark.parametrize("permission", Permission)
def test_no_permission_implies_another(permission: Permission) -> None:
    principal = Principal(TENANT, "somebody", frozenset({permission}))

    require(principal, permission)

    for other in set(Permission) - {permission}:
        with pytest.raises(AccessDenied, match=f"{other.value} permission"):
            require(principal, other)


@pytest.mark.parametrize(
    ("patterns", "bank", "is_seen"),
    [
        (("*",), "anything", True),
        (("user-*",), "user-1", True),
        (("user-*",), "User-1", False),
        (("user-?",), "user-12", False),
        (("a", "b"), "b", True),
        (("a",), "ab", False),
        (("[ab]*",), "b1", True),
        ((), "a", False),
    ],
)
def test_bank_patterns_are_case_sensitive_globs(patterns: tuple[str, ...], bank: str, is_seen: bool) -> None:
    principal = Principal(TENANT, "somebody", bank_patterns=patterns)

    assert sees_bank(principal, bank) is is_seen
    if not is_seen:
        with pytest.raises(NotFound, match=f"Bank '{bank}' not found"):
            require_bank(principal, bank)


@pytest.mark.parametrize(
    ("types", "may"),
    [(None, True), (frozenset({"world", "experience"}), True), (frozenset({"world"}), False), (FACT_TYPES, True)],
)
def test_documents_are_for_keys_that_see_every_raw_fact(types: frozenset[str] | None, may: bool) -> None:
    assert sees_documents(Principal(TENANT, "somebody", fact_types=types)) is may
