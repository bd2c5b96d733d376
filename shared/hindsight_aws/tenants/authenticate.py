"""Who is calling: an Authorization header, or claims that the gateway verified, become a principal.

Called by api/auth.py; asks Store.resolve_key, and the tenant's standing for claims.  Nothing is kept between calls: a
key that is revoked, expires or whose tenant is suspended is refused by the very next one.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Mapping

from hindsight_aws.errors import AccessDenied, HindsightError, InvalidRequest, Unauthenticated
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import parse_group
from hindsight_aws.ports.store import Store
from hindsight_aws.ports.tenants import KeyRecord, Standing
from hindsight_aws.settings import Settings
from hindsight_aws.tenants.claims import principal_of
from hindsight_aws.tenants.tokens import token_hash, token_in

_log = logging.getLogger(__name__)

DEV_SUBJECT = "dev"


def authenticate(
    store: Store, settings: Settings, authorization: str | None, claims: Mapping[str, object] | None = None
) -> Principal:
    """The principal behind the header; without one, the dev tenant where the settings name one.

    `claims` are those that the gateway's authorizer verified, and nobody else: they count, where the settings name an
    issuer, in the header's stead.

    Raises: Unauthenticated for a missing, unknown, expired or revoked key, and for claims that name nobody;
    AccessDenied for a suspended tenant; DatabaseUnavailable.
    """
    if claims is not None and settings.hindsight_api_jwt_issuer is not None:
        return _bearer(store, settings, claims)
    if not (authorization or "").strip():
        if settings.hindsight_dev_tenant is None:
            raise Unauthenticated("no API key was sent")
        return Principal(TenantId(settings.hindsight_dev_tenant), DEV_SUBJECT)
    token = token_in(authorization)
    if token is None:
        raise Unauthenticated("the API key is not valid")
    return _holder(store, token_hash(token))


def _holder(store: Store, wanted: bytes) -> Principal:
    """The principal of the key with this hash.

    The look-up is by index and takes as long as it takes: what it could tell by its time is about SHA-256 digests,
    which nobody can steer towards a stored one without knowing the 256 random bits behind it.  The digest that was
    found is compared once more, in constant time, so that a look-up that ever matched loosely would open nothing.
    """
    record = store.resolve_key(wanted)
    if record is None or not hmac.compare_digest(record.key_hash, wanted):
        raise Unauthenticated("the API key is not valid")
    principal = _principal(record)
    if record.is_suspended:
        raise _suspended()
    if record.is_use_to_note:
        _note_use(store, record)
    return principal


def _note_use(store: Store, record: KeyRecord) -> None:
    """Writes down that the key is in use; a call does not fail for it."""
    try:
        with store.transaction(record.tenant_id) as tx:
            tx.tenants.note_use(record.key_id)
    except HindsightError as error:
        _log.warning("the use of key %s was not noted: %s", record.key_id, error)


def _bearer(store: Store, settings: Settings, claims: Mapping[str, object]) -> Principal:
    principal = principal_of(settings, claims)
    with store.snapshot(principal.tenant_id) as tx:
        standing = tx.tenants.standing()
    if standing is None:
        raise Unauthenticated("the token's tenant is none of this deployment's")
    if standing is Standing.SUSPENDED:
        raise _suspended()
    return principal


def _suspended() -> AccessDenied:
    return AccessDenied("This tenant is suspended: its calls are refused until its operator resumes it")


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
        subject=f"{record.subject}#{record.first_key_id}",
        permissions=permissions,
        bank_patterns=record.bank_patterns,
        forced_tags=forced,
        fact_types=record.fact_types,
        exact_scopes=None
        if record.exact_scopes is None
        else frozenset(frozenset(tags) for tags in record.exact_scopes),
    )
