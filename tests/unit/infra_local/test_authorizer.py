"""The local authorizer lets in what API Gateway's would, and refuses what that refuses."""

import json
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from infra.local.functions import Outcome, Success
from infra.local.gateway import Gateway
from infra.local.gateway.authorizer import JwtAuthorizer, as_text
from infra.local.gateway.events import Json
from infra.local.jwt_issuer import JwtError, JwtIssuer, TokenRefused, issuer_in
from infra.local.options import REPOSITORY
from tests.support.fake_system import FAKE_TOPOLOGY

pytestmark = pytest.mark.anyio

ISSUER = "https://issuer.example/"
Mint = Callable[..., str]


@cache
def _key(name: str) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def _curve() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _listed(name: str) -> dict[str, Any]:
    return {**jwt.algorithms.RSAAlgorithm.to_jwk(_key(name).public_key(), as_dict=True), "kid": name, "use": "sig"}


def _publish(path: Path, *names: str) -> None:
    curve = {**jwt.algorithms.ECAlgorithm.to_jwk(_curve().public_key(), as_dict=True), "kid": "curve"}
    path.write_text(json.dumps({"keys": [*map(_listed, names), curve]}))


def _mint(name: str = "one", alg: str = "RS256", key: Any = None, kid: str | None = "", **claims: object) -> str:
    now = int(time.time())
    held = {"iss": ISSUER, "aud": "hindsight", "sub": "ann", "exp": now + 60, "iat": now, **claims}
    kept = {name: value for name, value in held.items() if value is not None}
    headers = {} if kid is None else {"kid": kid or name}
    return jwt.encode(kept, _key(name) if key is None else key, algorithm=alg, headers=headers)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    _publish(path, "one")
    return path


@pytest.fixture
async def authorizer(keys: Path) -> JwtAuthorizer:
    made = JwtAuthorizer(JwtIssuer(ISSUER, ("hindsight", "robot"), str(keys)))
    await made.start()
    return made


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "", "BEARER  "])
async def test_a_sound_token_is_let_in_and_its_claims_are_texts(authorizer: JwtAuthorizer, scheme: str) -> None:
    token = _mint(hindsight_banks=["a", "b"], n=7, yes=True, map={"a": 1})

    claims = await authorizer.claims(scheme + token)

    assert (claims["sub"], claims["hindsight_banks"], claims["n"], claims["yes"]) == ("ann", "[a b]", "7", "true")
    assert claims["map"] == '{"a":1}'
    assert claims["exp"].isdigit()


def test_values_become_the_texts_of_api_gateway() -> None:
    values: list[Json] = [["a b", 1, None], [], 1.5, False]

    assert [as_text(value) for value in values] == ["[a b 1 null]", "[]", "1.5", "false"]


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["other", "hindsight"]},
        {"aud": None, "client_id": "robot"},
    ],
    ids=["one of several", "client_id without aud"],
)
async def test_a_token_for_us_is_let_in(authorizer: JwtAuthorizer, claims: dict[str, Any]) -> None:
    assert (await authorizer.claims(_mint(**claims)))["sub"] == "ann"


def _with_public_key_as_secret() -> str:
    """HS256 with the public key for a secret, which PyJWT itself refuses to make."""
    public = _key("one").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    forged = jwt.api_jws.PyJWS()
    forged._algorithms["HS256"].prepare_key = lambda key: key  # type: ignore[method-assign]  # an attacker's own tool
    return forged.encode(json.dumps({"iss": ISSUER}).encode(), public, algorithm="HS256", headers={"kid": "one"})


@pytest.mark.parametrize(
    "make",
    [
        lambda: _mint(exp=int(time.time()) - 1),
        lambda: _mint(exp=None),
        lambda: _mint(nbf=int(time.time()) + 60),
        lambda: _mint(iat=int(time.time()) + 60),
        lambda: _mint(iss="https://issuer.example"),
        lambda: _mint(iss=None),
        lambda: _mint(aud="other"),
        lambda: _mint(aud=None),
        lambda: _mint(aud="other", client_id="robot"),
        lambda: _mint(aud=None, client_id="stranger"),
        lambda: _mint(kid=None),
        lambda: _mint(kid="unknown"),
        lambda: _mint("two", kid="one"),
        lambda: _mint(alg="none", key=""),
        lambda: _mint(alg="HS256", key="a secret of thirty-two characters"),
        _with_public_key_as_secret,
        lambda: _mint(alg="ES256", key=_curve(), kid="curve"),
        lambda: _mint()[:-8] + "AAAAAAAA",
        lambda: "hsk_an-api-key",
        lambda: "",
        lambda: "a.b.c",
        lambda: "x" * 1_000_000,
        lambda: "\x00\udc80é",
    ],
    ids=[
        "expired", "no expiry", "not yet", "from the future", "issuer without its slash", "no issuer", "audience",
        "no audience", "aud before client_id", "client_id", "no kid", "unknown kid", "another's key", "alg none",
        "HS256", "HS256 with the public key", "ES256", "signature", "API key", "nothing", "dots", "a megabyte", "bytes",
    ],
)  # fmt: skip
async def test_any_other_token_is_refused(authorizer: JwtAuthorizer, make: Callable[[], str]) -> None:
    with pytest.raises(TokenRefused):
        await authorizer.claims(make())


async def test_a_key_that_the_issuer_adds_is_found_and_one_that_it_takes_away_is_not(
    authorizer: JwtAuthorizer, keys: Path
) -> None:
    _publish(keys, "two")

    claims = await authorizer.claims(_mint("two"))

    assert claims["sub"] == "ann"
    with pytest.raises(TokenRefused):
        await authorizer.claims(_mint("one"))


async def test_a_stack_does_not_start_without_the_keys(tmp_path: Path) -> None:
    for content in ("", "{}", "[]", '{"keys": [1]}'):
        (tmp_path / "keys.json").write_text(content)
        with pytest.raises(JwtError, match="cannot be read"):
            await JwtAuthorizer(JwtIssuer(ISSUER, ("a",), str(tmp_path / "keys.json"))).start()


async def test_the_second_api_tells_functions_the_claims_and_refuses_as_api_gateway(authorizer: JwtAuthorizer) -> None:
    events: list[dict[str, Any]] = []

    async def invoke(_function: str, event: bytes) -> Outcome:
        events.append(json.loads(event))
        return Success(b'{"statusCode": 200}')

    gateway = Gateway(FAKE_TOPOLOGY, invoke, authorizer)
    port = await gateway.start(0)
    forged = {"x-amzn-authorizer": "{}", "authorizer": json.dumps({"jwt": {"claims": {"sub": "eve"}}})}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        refused = await client.post("/v1/x", headers=forged, json={"requestContext": {"authorizer": {}}})
        let_in = await client.post("/v1/x", headers={"authorization": f"Bearer {_mint()}"} | forged)
    gateway.stop()

    assert (refused.status_code, refused.json()) == (401, {"detail": "Unauthorized"})
    assert "invalid_token" in refused.headers["www-authenticate"]
    assert let_in.status_code == 200
    (event,) = events
    assert event["requestContext"]["authorizer"]["jwt"]["claims"]["sub"] == "ann"
    assert event["requestContext"]["authorizer"]["jwt"]["scopes"] is None


@pytest.mark.parametrize("group", ["worker", "api", "convert", "migrate"])
def test_what_verifies_tokens_here_is_in_no_layer(group: str) -> None:
    locked = (REPOSITORY / "requirements" / f"{group}.lock").read_text()

    assert "pydantic==" in locked or group == "convert"
    assert "pyjwt==" not in locked


def test_an_issuer_is_named_whole_or_not_at_all() -> None:
    whole = {
        "HINDSIGHT_API_JWT_ISSUER": ISSUER,
        "HINDSIGHT_LOCAL_JWT_AUDIENCE": '["a"]',
        "HINDSIGHT_LOCAL_JWT_JWKS": "keys.json",
    }

    assert issuer_in({}) is None
    assert issuer_in(whole) == JwtIssuer(ISSUER, ("a",), "keys.json")
    for name in whole:
        with pytest.raises(JwtError, match=name):
            issuer_in(whole | {name: ""})
    with pytest.raises(JwtError, match="JSON list"):
        issuer_in(whole | {"HINDSIGHT_LOCAL_JWT_AUDIENCE": "a"})
