"""Whose tokens the local stack's second HTTP API lets in; read from the environment by the command line. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ISSUER: Final = "HINDSIGHT_API_JWT_ISSUER"
AUDIENCE: Final = "HINDSIGHT_LOCAL_JWT_AUDIENCE"
JWKS: Final = "HINDSIGHT_LOCAL_JWT_JWKS"


class JwtError(RuntimeError):
    """The stack cannot verify tokens as it was told to; the message says why."""


class TokenRefused(Exception):
    """The request has no token that the API accepts; the message says why, for the `www-authenticate` header."""


@dataclass(frozen=True, slots=True)
class JwtIssuer:
    """An issuer as an API's authorizer knows it.

    `audience`: what a token's `aud`, or else its `client_id`, must name one of. `jwks`: path or address of its keys.
    """

    issuer: str
    audience: tuple[str, ...]
    jwks: str


def issuer_in(environment: Mapping[str, str]) -> JwtIssuer | None:
    """The issuer that the environment names, or None. Raises: JwtError, when it is named in part."""
    named = {name: environment.get(name, "") for name in (ISSUER, AUDIENCE, JWKS)}
    if not any(named.values()):
        return None
    missing = [name for name, value in named.items() if not value]
    if missing:
        raise JwtError(f"Tokens need an issuer, an audience and keys: {', '.join(missing)} is not set.")
    return JwtIssuer(named[ISSUER], _audience(named[AUDIENCE]), named[JWKS])


def _audience(text: str) -> tuple[str, ...]:
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if not isinstance(listed, list) or not listed or not all(isinstance(word, str) for word in listed):
        raise JwtError(f'{AUDIENCE} is a JSON list of texts, such as ["hindsight"].')
    return tuple(listed)
