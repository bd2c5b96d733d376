"""Verified claims of a token become a principal that may do what they say and no more.  Pure; called by authenticate.

Who verified them is the gateway's authorizer; what a claim looks like after it is docs/howto/jwt.md's matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final
from uuid import UUID

from hindsight_aws.errors import InvalidRequest, Unauthenticated
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import FACT_TYPES, Permission, Principal
from hindsight_aws.model.tags import TagGroup, parse_group
from hindsight_aws.settings.tenancy import TenancySettings

JWT_SUBJECT: Final = "#jwt"
"""Ends the subject of every token; that of an API key ends in the key's id, so that neither can pass for the other."""

_CLIENT: Final = "client_id"
_LONGEST_CLAIM: Final = 8_192
_LONGEST_SUBJECT: Final = 255
_MOST_WORDS: Final = 200

Claims = Mapping[str, object]


def principal_of(settings: TenancySettings, claims: Claims) -> Principal:
    """The bearer of a token with these claims.

    A missing claim of permissions or banks grants nothing; a missing one of tags, types or scopes sets no limit, unless
    the settings require it.  A claim that is there and cannot be read never counts as missing.

    Raises: Unauthenticated naming the claim.
    """
    for name in settings.hindsight_api_jwt_required_claims:
        if name not in claims:
            raise Unauthenticated(f"the token has no claim '{name}'")
    if claims.get("iss") != settings.hindsight_api_jwt_issuer:
        raise Unauthenticated("the token is of another issuer")
    return Principal(
        tenant_id=_tenant(settings.hindsight_api_jwt_tenant_claim, claims),
        subject=_subject(settings.hindsight_api_jwt_subject_claim, claims) + JWT_SUBJECT,
        permissions=_permissions(settings.hindsight_api_jwt_permissions_claim, claims),
        bank_patterns=_banks(settings.hindsight_api_jwt_banks_claim, claims),
        forced_tags=_tags(settings.hindsight_api_jwt_tags_claim, claims),
        fact_types=_fact_types(settings.hindsight_api_jwt_fact_types_claim, claims),
        exact_scopes=_scopes(settings.hindsight_api_jwt_scopes_claim, claims),
    )


def _tenant(name: str, claims: Claims) -> TenantId:
    text = _text(name, claims)
    if text is None:
        raise Unauthenticated(f"the token has no claim '{name}'")
    try:
        tenant_id = UUID(text)
    except ValueError:
        raise _unreadable(name, "a tenant's id") from None
    if str(tenant_id) != text.lower():
        raise _unreadable(name, "a tenant's id")
    return TenantId(tenant_id)


def _subject(name: str, claims: Claims) -> str:
    name = name if name in claims else _CLIENT
    text = _text(name, claims)
    if not text or not text.isprintable() or len(text) > _LONGEST_SUBJECT:
        raise _unreadable(name, f"a name of at most {_LONGEST_SUBJECT} printable characters")
    return text


def _permissions(name: str, claims: Claims) -> frozenset[Permission]:
    """The permissions among the claim's words; a claim of OAuth scopes holds others, which grant nothing."""
    known = {permission.value: permission for permission in Permission}
    return frozenset(known[word] for word in _words(name, claims) or () if word in known)


def _banks(name: str, claims: Claims) -> tuple[str, ...]:
    patterns = _words(name, claims) or ()
    if any("[" in pattern or "]" in pattern for pattern in patterns):
        raise _unreadable(name, "patterns with * and ? alone, for brackets mark a list")
    return patterns


def _tags(name: str, claims: Claims) -> TagGroup | None:
    value = claims.get(name)
    if name not in claims:
        return None
    text = value if isinstance(value, str) else ""
    group = _parsed(text) if text.lstrip().startswith("{") else {"tags": list(_words(name, claims) or ())}
    try:
        return parse_group(group, name, stored=True)
    except InvalidRequest:
        raise _unreadable(name, "tags, or a tag group as JSON") from None


def _fact_types(name: str, claims: Claims) -> frozenset[str] | None:
    words = _words(name, claims)
    if words is None:
        return None
    if not words or not FACT_TYPES.issuperset(words):
        raise _unreadable(name, f"of {', '.join(sorted(FACT_TYPES))}")
    return frozenset(words)


def _scopes(name: str, claims: Claims) -> frozenset[frozenset[str]] | None:
    if name not in claims:
        return None
    value = claims[name]
    parsed = _parsed(value) if isinstance(value, str) else value
    if isinstance(parsed, list) and parsed and all(isinstance(scope, list) for scope in parsed):
        scopes = [[tag for tag in scope if isinstance(tag, str) and _is_word(tag)] for scope in parsed]
        if any(len(kept) != len(scope) for kept, scope in zip(scopes, parsed, strict=True)):
            raise _unreadable(name, "lists of tags")
        return frozenset(frozenset(scope) for scope in scopes)
    words = _words(name, claims)
    scopes = [[tag for tag in word.split(",") if tag] for word in words or ()]
    if not scopes or not all(scopes):
        raise _unreadable(name, "scopes, each as tags joined by commas")
    return frozenset(frozenset(scope) for scope in scopes)


def _words(name: str, claims: Claims) -> tuple[str, ...] | None:
    """The words of a claim that lists some; None where there is none.

    The authorizer writes the list `["a", "b"]` as the text `[a b]`; a list that a token holds as JSON in a text, and
    one word, come as they were.
    """
    if name not in claims:
        return None
    value = claims[name]
    if isinstance(value, str) and len(value) <= _LONGEST_CLAIM:
        value = _listed(name, value)
    if not isinstance(value, list | tuple) or len(value) > _MOST_WORDS:
        raise _unreadable(name, "a list of words")
    words = tuple(word for word in value if isinstance(word, str) and _is_word(word))
    if len(words) != len(value):
        raise _unreadable(name, "a list of words")
    return words


def _listed(name: str, text: str) -> list[object]:
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return list(text.split())
    parsed = _parsed(text)
    if isinstance(parsed, list) and all(isinstance(word, str) for word in parsed):
        return parsed
    if "[" in text[1:] or "]" in text[:-1]:
        raise _unreadable(name, "a list of words; lists in lists as JSON in a text")
    return list(text[1:-1].split())


def _text(name: str, claims: Claims) -> str | None:
    if name not in claims:
        return None
    value = claims[name]
    if not isinstance(value, str) or len(value) > _LONGEST_CLAIM:
        raise _unreadable(name, "text")
    return value


def _parsed(text: str) -> object:
    if len(text) > _LONGEST_CLAIM:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_word(text: str) -> bool:
    return bool(text) and text.isprintable()


def _unreadable(name: str, wanted: str) -> Unauthenticated:
    return Unauthenticated(f"the token's claim '{name}' must hold {wanted}")
