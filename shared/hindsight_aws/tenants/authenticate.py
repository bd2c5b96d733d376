"""Who is calling: an Authorization header becomes a principal.  Called by api/auth.py; asks Store.resolve_key."""

from __future__ import annotations

from hindsight_aws.errors import InvalidRequest, Unauthenticated
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import parse_group
from hindsight_aws.ports.store import KeyRecord, Store
from hindsight_aws.settings import Settings
from hindsight_aws.tenants.tokens import token_hash, token_in

DEV_SUBJECT = "dev"


def authenticate(store: Store, settings: Settings, authorization: str | None) -> Principal:
    """The principal behind the header; without one, the dev tenant where the settings name one.

    Raises: Unauthenticated for a missing, unknown, expired or revoked key; DatabaseUnavailable.
    """
    if not (authorization or "").strip():
        if settings.hindsight_dev_tenant is None:
            raise Unauthenticated("no API key was sent")
        return Principal(TenantId(settings.hindsight_dev_tenant), DEV_SUBJECT)
    token = token_in(authorization)
    record = None if token is None else store.resolve_key(token_hash(token))
    if record is None:
        raise Unauthenticated("the API key is not valid")
    return _principal(record)


def _principal(record: KeyRecord) -> Principal:
    if record.is_revoked:
        raise Unauthenticated("the API key was revoked")
    if record.is_expired:
        raise Unauthenticated("the API key has expired")
    try:
        forced = None if record.forced_tags is None else parse_group(record.forced_tags, "forced_tags")
        permissions = frozenset(Permission(word) for word in record.permissions)
    except (InvalidRequest, ValueError):
        raise Unauthenticated("the API key's limits cannot be read") from None
    return Principal(
        tenant_id=record.tenant_id,
        subject=f"{record.subject}#{record.key_id}",
        permissions=permissions,
        bank_patterns=record.bank_patterns,
        forced_tags=forced,
        fact_types=record.fact_types,
        exact_scopes=None
        if record.exact_scopes is None
        else frozenset(frozenset(tags) for tags in record.exact_scopes),
    )
