"""A token grants what its claims say and no more, whatever they hold."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindsight_aws.errors import Unauthenticated
from hindsight_aws.model.principal import FACT_TYPES, Permission, Principal
from hindsight_aws.model.tags import AllOf, TagLeaf
from hindsight_aws.settings import Settings
from hindsight_aws.tenants.claims import principal_of

ISSUER = "https://issuer.example/"
SETTINGS = Settings(hindsight_api_jwt_issuer=ISSUER)
TENANT = UUID("6f0d8b52-6f1c-4d5a-9d53-0a4f4f1a7c11")
LEAST: dict[str, object] = {"iss": ISSUER, "sub": "ann", "hindsight_tenant": str(TENANT)}


def _bearer(settings: Settings = SETTINGS, **claims: object) -> Principal:
    return principal_of(settings, {**LEAST, **claims})


def test_a_token_that_names_only_its_tenant_may_do_nothing_anywhere() -> None:
    bearer = _bearer()

    assert bearer == Principal(bearer.tenant_id, "ann#jwt", frozenset(), ())
    assert bearer.tenant_id == TENANT


def test_claims_as_the_gateway_writes_them_become_limits() -> None:
    bearer = _bearer(
        hindsight_permissions="[read write]",
        hindsight_banks="[user-* shared]",
        hindsight_tags="[user:ann]",
        hindsight_fact_types="[observation]",
        hindsight_scopes="[company:acme,team:x company:acme]",
    )

    assert bearer.permissions == {Permission.READ, Permission.WRITE}
    assert bearer.bank_patterns == ("user-*", "shared")
    assert bearer.forced_tags == TagLeaf(frozenset({"user:ann"}))
    assert bearer.fact_types == frozenset({"observation"})
    assert bearer.exact_scopes == frozenset({frozenset({"company:acme", "team:x"}), frozenset({"company:acme"})})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("read", {"read"}), ("read write", {"read", "write"}), ("[read]", {"read"}), ("[]", set()), ("", set()),
        ('["read", "admin"]', {"read", "admin"}), (["write"], {"write"}),
        ("openid hindsight/read READ all *", set()), ("[read read]", {"read"}),
    ],
    ids=["one", "several", "list", "empty list", "empty", "json", "native", "others", "twice"],
)  # fmt: skip
def test_permissions_are_the_known_words_of_their_claim(value: object, words: set[str]) -> None:
    assert _bearer(hindsight_permissions=value).permissions == {Permission(word) for word in words}


def test_tags_and_scopes_may_be_json_in_a_text() -> None:
    bearer = _bearer(
        hindsight_tags='{"and": [{"tags": ["a b"], "match": "all_strict"}]}', hindsight_scopes='[["a", "b"], []]'
    )

    assert isinstance(bearer.forced_tags, AllOf)
    assert bearer.exact_scopes == frozenset({frozenset({"a", "b"}), frozenset()})


def test_a_client_without_a_user_is_its_own_subject() -> None:
    claims = {"iss": ISSUER, "client_id": "robot", "hindsight_tenant": str(TENANT)}

    assert principal_of(SETTINGS, claims).subject == "robot#jwt"


def test_other_names_of_claims_are_a_setting() -> None:
    settings = SETTINGS.model_copy(update={"hindsight_api_jwt_permissions_claim": "scope"})

    assert _bearer(settings, scope="read openid").permissions == {Permission.READ}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"hindsight_tenant": "acme"}, "hindsight_tenant"),
        ({"hindsight_tenant": ""}, "hindsight_tenant"),
        ({"hindsight_tenant": f"[{TENANT}]"}, "hindsight_tenant"),
        ({"hindsight_tenant": f"{{{TENANT}}}"}, "hindsight_tenant"),
        ({"hindsight_tenant": 7}, "hindsight_tenant"),
        ({"iss": "https://issuer.example"}, "another issuer"),
        ({"iss": None}, "another issuer"),
        ({"sub": ""}, "sub"),
        ({"sub": "a\x00b"}, "sub"),
        ({"sub": "\ud800"}, "sub"),
        ({"sub": "x" * 300}, "sub"),
        ({"hindsight_banks": "[a [b] c]"}, "hindsight_banks"),
        ({"hindsight_banks": "user-[ab]*"}, "hindsight_banks"),
        ({"hindsight_banks": {"*": True}}, "hindsight_banks"),
        ({"hindsight_banks": "x " * 300}, "hindsight_banks"),
        ({"hindsight_banks": "x" * 10_000}, "hindsight_banks"),
        ({"hindsight_tags": "[]"}, "hindsight_tags"),
        ({"hindsight_tags": ""}, "hindsight_tags"),
        ({"hindsight_tags": "{"}, "hindsight_tags"),
        ({"hindsight_tags": '{"tags": ["a"], "match": "never"}'}, "hindsight_tags"),
        ({"hindsight_tags": None}, "hindsight_tags"),
        ({"hindsight_fact_types": "[]"}, "hindsight_fact_types"),
        ({"hindsight_fact_types": "[observation opinion]"}, "hindsight_fact_types"),
        ({"hindsight_scopes": "[]"}, "hindsight_scopes"),
        ({"hindsight_scopes": "[,]"}, "hindsight_scopes"),
        ({"hindsight_scopes": "[[a] [b]]"}, "hindsight_scopes"),
        ({"hindsight_scopes": '[["a", 1]]'}, "hindsight_scopes"),
        ({"hindsight_scopes": "[" * 9_000}, "hindsight_scopes"),
    ],
    ids=lambda part: str(part)[:60] if isinstance(part, dict) else part,
)
def test_a_claim_that_is_there_and_cannot_be_read_is_not_taken_for_missing(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(Unauthenticated, match=named):
        _bearer(**changed)


@pytest.mark.parametrize("missing", ["iss", "sub", "hindsight_tenant"])
def test_a_token_without_what_tells_its_bearer_is_refused(missing: str) -> None:
    with pytest.raises(Unauthenticated):
        principal_of(SETTINGS, {name: value for name, value in LEAST.items() if name != missing})


def test_a_deployment_can_insist_on_limits() -> None:
    settings = SETTINGS.model_copy(update={"hindsight_api_jwt_required_claims": ("hindsight_tags",)})

    with pytest.raises(Unauthenticated, match="hindsight_tags"):
        _bearer(settings)

    assert _bearer(settings, hindsight_tags="user:a").forced_tags is not None


_TEXTS = some.text(max_size=40) | some.sampled_from(["*", "[*]", "[a b]", "read", "[read write admin]", "{}", '["*"]'])
_VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | _TEXTS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_NAMES = [f"hindsight_{name}" for name in ("tenant", "permissions", "banks", "tags", "fact_types", "scopes")]


@given(some.dictionaries(some.sampled_from([*_NAMES, "sub", "iss", "admin", "permissions"]), _VALUES))
def test_hostile_claims_are_refused_or_grant_only_what_they_spell_out(claims: dict[str, object]) -> None:
    given_ = {**LEAST, **claims}
    try:
        bearer = principal_of(SETTINGS, given_)
    except Unauthenticated:
        return

    assert UUID(str(given_["hindsight_tenant"])) == bearer.tenant_id
    assert given_["iss"] == ISSUER
    assert all(permission.value in str(given_.get("hindsight_permissions")) for permission in bearer.permissions)
    assert all(pattern in str(given_.get("hindsight_banks")) for pattern in bearer.bank_patterns)
    assert (bearer.forced_tags is None) == ("hindsight_tags" not in given_)
    assert (bearer.fact_types is None) == ("hindsight_fact_types" not in given_)
    assert (bearer.exact_scopes is None) == ("hindsight_scopes" not in given_)
    assert bearer.fact_types is None or (bearer.fact_types and bearer.fact_types <= FACT_TYPES)
    assert bearer.subject.endswith("#jwt")
    bearer.subject.encode()
