"""`key`: who may call, and what they may do.  Calls tenants/keys.py with the owner's store; prints tokens once."""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from hindsight_aws.cli.command import Answer, add, confirmed, group, moment, span, words
from hindsight_aws.cli.database import owner_store
from hindsight_aws.errors import InvalidRequest

if TYPE_CHECKING:
    from hindsight_aws.cli.command import Commands
    from hindsight_aws.model.principal import NewKey
    from hindsight_aws.ports.tenants import KeySummary

_OVERLAP: Final = timedelta(hours=24)


def register(commands: Commands) -> None:
    """Adds the noun and its actions."""
    actions = group(commands, "key", "make, list, rotate and revoke API keys")
    made = add(actions, "create", create_key, "make a key and print its token, once")
    made.add_argument("tenant", type=UUID)
    made.add_argument("--name", default="key", help="who will hold it; stands in operations and in the ledger")
    made.add_argument("--permissions", type=words, default=("read", "write"), help="of read,write,admin")
    made.add_argument("--banks", type=words, default=("*",), help="patterns of bank ids, such as 'user-*,shared'")
    made.add_argument("--forced-tags", help="a tag group as JSON that every read and write must pass")
    made.add_argument("--fact-types", type=words, help="of world,experience,observation")
    made.add_argument(
        "--exact-scope",
        "--scopes",
        action="append",
        metavar="TAGS",
        help="comma-separated tags of one scope; may be given often",
    )
    made.add_argument("--expires", type=moment, metavar="WHEN", help="an ISO date, or 12h, 30d, 8w from now")
    listed = add(actions, "list", list_keys, "list a tenant's keys, how they stand and when they were last used")
    listed.add_argument("tenant", type=UUID)
    rotated = add(actions, "rotate", rotate_key, "make a key in another's place, which works on for a while")
    rotated.add_argument("tenant", type=UUID)
    rotated.add_argument("key", type=UUID)
    rotated.add_argument("--overlap", type=span, default=_OVERLAP, metavar="SPAN", help="24h by default; 0h: none")
    rotated.add_argument("--expires", type=moment, metavar="WHEN", help="default: lives as long as the old one was to")
    ended = add(actions, "revoke", revoke_key, "end a key at once", needs_yes=True)
    ended.add_argument("tenant", type=UUID)
    ended.add_argument("key", type=UUID)


def create_key(chosen: Namespace) -> Answer:
    """Makes a key and prints its token, which nobody can show again."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.keys import create_key as create

    with owner_store(chosen) as store:
        made = create(store, TenantId(chosen.tenant), _new_key(chosen), chosen.expires, datetime.now(UTC))
    return Answer(
        [
            f"key    {made.key_id}",
            f"token  {made.token}",
            "The token is shown this once; the database has only its hash.",
        ],
        {"key_id": made.key_id, "token": made.token, "expires_at": chosen.expires},
    )


def list_keys(chosen: Namespace) -> Answer:
    """Lists a tenant's keys."""
    from hindsight_aws.model.ids import TenantId

    now = datetime.now(UTC)
    with owner_store(chosen) as store, store.transaction(TenantId(chosen.tenant)) as tx:
        keys = tx.tenants.list_keys()
    return Answer([_line(key, now) for key in keys], [_row(key, now) for key in keys])


def rotate_key(chosen: Namespace) -> Answer:
    """Makes a key in another's place and prints its token, once."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.keys import rotate_key as rotate

    with owner_store(chosen) as store:
        rotated = rotate(
            store, TenantId(chosen.tenant), chosen.key, chosen.overlap, datetime.now(UTC), expires_at=chosen.expires
        )
    made, until = rotated.made, rotated.predecessor_until
    return Answer(
        [
            f"key    {made.key_id}",
            f"token  {made.token}",
            f"The token is shown this once.  Key {chosen.key} works until {until:%Y-%m-%d %H:%M} UTC.",
        ],
        {
            "key_id": made.key_id,
            "token": made.token,
            "expires_at": made.expires_at,
            "predecessor_id": chosen.key,
            "predecessor_until": until,
        },
    )


def revoke_key(chosen: Namespace) -> Answer:
    """Ends a key."""
    from hindsight_aws.model.ids import TenantId
    from hindsight_aws.tenants.keys import revoke_key as revoke

    confirmed(chosen, f"end key {chosen.key} at once, for good")
    with owner_store(chosen) as store:
        revoke(store, TenantId(chosen.tenant), chosen.key)
    return Answer([f"revoked {chosen.key}"], {"key_id": chosen.key, "state": "revoked"})


def _new_key(chosen: Namespace) -> NewKey:
    from hindsight_aws.model.principal import NewKey, Permission

    try:
        permissions = frozenset(Permission(word) for word in chosen.permissions)
        forced = None if chosen.forced_tags is None else json.loads(chosen.forced_tags)
    except ValueError as wrong:
        raise InvalidRequest(f"permissions are read, write, admin; forced tags are JSON: {wrong}") from None
    if chosen.forced_tags is not None and forced is None:
        # `null` is what a script writes that did not find its tags: it must not make a key without limits.
        raise InvalidRequest("forced tags must be an object; leave the option out for none")
    scopes = chosen.exact_scope
    return NewKey(
        subject=chosen.name,
        permissions=permissions,
        bank_patterns=chosen.banks,
        forced_tags=forced,
        fact_types=None if chosen.fact_types is None else frozenset(chosen.fact_types),
        exact_scopes=None if scopes is None else tuple(_tags_of(scope) for scope in scopes),
    )


def _tags_of(scope: str) -> tuple[str, ...]:
    return tuple(sorted({tag.strip() for tag in scope.split(",") if tag.strip()}))


def _line(key: KeySummary, now: datetime) -> str:
    from hindsight_aws.tenants.keys import state_of

    until = f" until {key.expires_at:%Y-%m-%d}" if key.expires_at and not key.revoked_at else ""
    used = f"used {key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "not used"
    limits = [f"banks {','.join(key.bank_patterns)}"]
    if key.forced_tags is not None:
        limits.append(f"tags {json.dumps(key.forced_tags)}")
    if key.fact_types is not None:
        limits.append(f"types {','.join(key.fact_types)}")
    if key.exact_scopes is not None:
        limits.append(f"scopes {json.dumps(key.exact_scopes)}")
    if key.successor_id is not None:
        limits.append(f"successor {key.successor_id}")
    if key.predecessor_id is not None:
        limits.append(f"predecessor {key.predecessor_id}")
    state = f"{state_of(key, now)}{until}"
    return f"{key.key_id}  {state:25}  {used:21}  {','.join(key.permissions):16}  {key.subject}  ({'; '.join(limits)})"


def _row(key: KeySummary, now: datetime) -> dict[str, object]:
    from hindsight_aws.tenants.keys import state_of

    return {
        "key_id": key.key_id,
        "name": key.subject,
        "state": state_of(key, now).value,
        "permissions": key.permissions,
        "banks": key.bank_patterns,
        "forced_tags": key.forced_tags,
        "fact_types": key.fact_types,
        "exact_scopes": key.exact_scopes,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
        "predecessor_id": key.predecessor_id,
        "successor_id": key.successor_id,
    }
