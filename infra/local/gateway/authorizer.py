"""API Gateway's JWT authorizer on this machine: the same checks, the same claims as texts. Called by the gateway.

As the real one it takes RSA signatures only, and `client_id` for `aud` where there is no `aud`.
"""

import asyncio
import json
import urllib.request
from pathlib import Path
from typing import Final

import jwt

from infra.local.gateway.events import Json
from infra.local.jwt_issuer import JwtError, JwtIssuer, TokenRefused

ALGORITHMS: Final = frozenset({"RS256", "RS384", "RS512"})
_REACH_FOR_S: Final = 5.0
_BEARER: Final = "bearer "


class JwtAuthorizer:
    """Verifies the tokens of one issuer. `start` before the first; keys are read again when an unknown one is named."""

    def __init__(self, issuer: JwtIssuer) -> None:
        self._issuer = issuer
        self._keys: dict[str, jwt.PyJWK] = {}

    async def start(self) -> None:
        """Reads the issuer's keys. Raises: JwtError, when there are none to be read."""
        self._keys = await asyncio.to_thread(_read_keys, self._issuer.jwks)

    async def claims(self, authorization: str | None) -> dict[str, str]:
        """The claims of the header's token, as a function's event holds them. Raises: TokenRefused."""
        token = (authorization or "").strip()
        token = token[len(_BEARER) :].strip() if token[: len(_BEARER)].lower() == _BEARER else token
        try:
            claims = self._verified(token, await self._key_of(token))
        except (jwt.PyJWTError, ValueError) as error:
            raise TokenRefused(f"the token is not valid: {type(error).__name__}") from error
        if not self._is_meant(claims):
            raise TokenRefused("the token does not have a valid audience")
        return {name: as_text(value) for name, value in claims.items() if value is not None}

    async def _key_of(self, token: str) -> jwt.PyJWK:
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in ALGORITHMS:
            raise TokenRefused("the token is signed by an algorithm that is not accepted")
        name = header.get("kid")
        if not isinstance(name, str):
            raise TokenRefused("the token names no key")
        if name not in self._keys:
            try:
                await self.start()
            except JwtError as error:
                raise TokenRefused("the issuer's keys cannot be read") from error
        if name not in self._keys:
            raise TokenRefused("the token is signed by an unknown key")
        return self._keys[name]

    def _verified(self, token: str, key: jwt.PyJWK) -> dict[str, Json]:
        claims: dict[str, Json] = jwt.decode(
            token,
            key.key,
            algorithms=sorted(ALGORITHMS),
            issuer=self._issuer.issuer,
            options={"require": ["exp", "iss"], "verify_aud": False},
        )
        return claims

    def _is_meant(self, claims: dict[str, Json]) -> bool:
        named = claims.get("aud") if claims.get("aud") is not None else claims.get("client_id")
        listed = named if isinstance(named, list) else [named]
        return any(isinstance(name, str) and name in self._issuer.audience for name in listed)


def as_text(value: Json) -> str:
    """A claim as API Gateway hands it on: lists as `[a b]`, objects as JSON, all else as it is written in JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{' '.join(as_text(entry) for entry in value)}]"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _read_keys(source: str) -> dict[str, jwt.PyJWK]:
    try:
        listed = json.loads(_read(source))["keys"]
        usable = [entry for entry in listed if _signs(entry)]
        return {entry["kid"]: jwt.PyJWK(entry) for entry in usable if isinstance(entry.get("kid"), str)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, jwt.PyJWTError) as error:
        raise JwtError(f"The keys at {source} cannot be read: {error}") from error


def _signs(entry: dict[str, Json]) -> bool:
    return entry.get("kty") == "RSA" and entry.get("use", "sig") == "sig" and entry.get("alg", "RS256") in ALGORITHMS


def _read(source: str) -> bytes:
    if not source.startswith(("http://", "https://")):
        return Path(source).read_bytes()
    with urllib.request.urlopen(source, timeout=_REACH_FOR_S) as answer:  # noqa: S310 - http or https, as checked above
        body: bytes = answer.read()
    return body
