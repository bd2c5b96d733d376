"""Who is calling: tokens, headers, and keys that no longer work."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from uuid import uuid4

import pytest

from hindsight_aws.errors import AccessDenied, DatabaseUnavailable, Unauthenticated
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission
from hindsight_aws.model.tags import TagLeaf
from hindsight_aws.ports.store import DueBy, DueWork
from hindsight_aws.ports.tenants import KeyRecord
from hindsight_aws.settings import Settings
from hindsight_aws.tenants.authenticate import authenticate
from hindsight_aws.tenants.tokens import new_token, token_hash, token_in

TENANT = TenantId(uuid4())
KEY = uuid4()
SECRET = token_hash("hsk_x")
RECORD = KeyRecord(TENANT, KEY, SECRET, KEY, "bot", frozenset({"read"}), ("a:*",), None, None, None)


class OneKey:
    """A store in which one token resolves."""

    def __init__(self, record: KeyRecord | None) -> None:
        self.record = record
        self.asked: list[bytes] = []

    def resolve_key(self, key_hash: bytes) -> KeyRecord | None:
        self.asked.append(key_hash)
        return self.record

    def transaction(self, tenant_id: TenantId) -> object:
        raise AssertionError("authentication opens no transaction")

    def due_work(self, at_most: int, due_by: DueBy) -> list[DueWork]:
        raise AssertionError("authentication asks for no work")


def _authenticate(record: KeyRecord | None, header: str | None, settings: Settings | None = None) -> object:
    return authenticate(OneKey(record), settings or Settings(), header)  # type: ignore[arg-type]  # one method is asked


def test_a_token_has_a_marker_and_256_random_bits() -> None:
    tokens = {new_token() for _ in range(100)}

    assert len(tokens) == 100
    assert all(token.startswith("hsk_") and len(token) == 47 for token in tokens)


def test_only_the_sha_256_of_a_token_is_looked_up() -> None:
    store = OneKey(RECORD)

    authenticate(store, Settings(), "Bearer hsk_x")  # type: ignore[arg-type]  # one method is asked

    assert store.asked == [hashlib.sha256(b"hsk_x").digest()]
    assert token_hash("hsk_x") == store.asked[0]


def test_a_record_of_another_hash_opens_nothing() -> None:
    with pytest.raises(Unauthenticated, match="not valid"):
        _authenticate(RECORD, "Bearer hsk_another")


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER  abc ", "abc"), ("abc", "abc"), (" abc ", "abc"),
        ("Bearer", None), ("Bearer ", None), ("", None), (None, None), ("x" * 600, None),
    ],
)  # fmt: skip
def test_a_header_holds_a_token_with_or_without_its_scheme(header: str | None, token: str | None) -> None:
    assert token_in(header) == token


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (None, "not valid"),
        (replace(RECORD, is_revoked=True), "revoked"),
        (replace(RECORD, is_expired=True), "expired"),
        (replace(RECORD, is_revoked=True, is_expired=True), "revoked"),
        (replace(RECORD, forced_tags={"nonsense": 1}), "cannot be read"),
        (replace(RECORD, permissions=frozenset({"everything"})), "cannot be read"),
    ],
)
def test_a_key_that_does_not_work_says_why(record: KeyRecord | None, reason: str) -> None:
    with pytest.raises(Unauthenticated, match=reason):
        _authenticate(record, "Bearer hsk_x")


def test_a_call_does_not_fail_because_its_keys_use_could_not_be_noted(caplog: pytest.LogCaptureFixture) -> None:
    class Away(OneKey):
        def transaction(self, tenant_id: TenantId) -> object:
            raise DatabaseUnavailable("gone")

    store = Away(replace(RECORD, is_use_to_note=True))
    principal = authenticate(store, Settings(), "hsk_x")  # type: ignore[arg-type]  # two methods are asked

    assert principal.tenant_id == TENANT
    assert f"the use of key {KEY} was not noted" in caplog.text


def test_a_suspended_tenants_key_is_known_and_refused() -> None:
    with pytest.raises(AccessDenied, match="suspended"):
        _authenticate(replace(RECORD, is_suspended=True), "hsk_x")


def test_a_call_without_a_key_is_refused_where_no_dev_tenant_is_set() -> None:
    with pytest.raises(Unauthenticated, match="no API key was sent"):
        _authenticate(RECORD, None)


def test_a_call_without_a_key_is_the_dev_tenants_on_a_local_stack() -> None:
    settings = Settings(
        hindsight_environment="local", hindsight_database_url="postgresql://localhost/x", hindsight_dev_tenant=TENANT
    )

    principal = authenticate(OneKey(None), settings, None)  # type: ignore[arg-type]  # nothing is asked

    assert (principal.tenant_id, principal.permissions) == (TENANT, frozenset(Permission))
    with pytest.raises(Unauthenticated):
        _authenticate(None, "Bearer wrong", settings)


def test_a_record_becomes_a_principal_with_all_its_limits() -> None:
    record = replace(
        RECORD,
        forced_tags={"tags": ["user:a"], "match": "any_strict"},
        fact_types=frozenset({"observation"}),
        exact_scopes=(("company:acme",), ()),
    )

    principal = authenticate(OneKey(record), Settings(), "hsk_x")  # type: ignore[arg-type]  # one method is asked

    assert principal.subject == f"bot#{RECORD.key_id}"
    assert principal.permissions == {Permission.READ}
    assert principal.bank_patterns == ("a:*",)
    assert principal.forced_tags == TagLeaf(frozenset({"user:a"}))
    assert principal.fact_types == frozenset({"observation"})
    assert principal.exact_scopes == frozenset({frozenset({"company:acme"}), frozenset()})
