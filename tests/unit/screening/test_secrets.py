"""Secrets are found wherever they stand, and words that only look like them are left alone."""

from __future__ import annotations

import base64
import json
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.screening import DETECTORS, GROUPS, SECRETS, WITHOUT_RULES, ScreeningPolicy
from hindsight_aws.screening import redacted
from hindsight_aws.screening.detectors import BUILT_IN

EXAMPLE_ID = "AKIA" + "IOSFODNN7EXAMPLE"
SECRET_HALF = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----"
LETTERS = "Zq7Xw2Lr9Tb4Nc8Vd1Mf6Kg3Hj5Pk0SaQe"


def token(prefix: str, length: int) -> str:
    """A token nobody was ever given."""
    return prefix + (LETTERS * 9)[:length]


def part_of_jwt(claims: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


JWT = f"{part_of_jwt({'alg': 'HS256', 'typ': 'JWT'})}.{part_of_jwt({'sub': '1234567890'})}.{LETTERS}"
FOUND = {
    "access key after CJK": (
        "aws_access_key",
        f"凭证为{EXAMPLE_ID}，请保存。",
        "凭证为[redacted:aws_access_key]，请保存。",
    ),
    "access key after a word": ("aws_access_key", f"accessKey{EXAMPLE_ID}", "accessKey[redacted:aws_access_key]"),
    "temporary key": ("aws_access_key", f"use {'ASIA' + 'Q' * 16}.", "use [redacted:aws_access_key]."),
    "secret half": (
        "aws_secret_key",
        f"{EXAMPLE_ID} / {SECRET_HALF}",
        "[redacted:aws_access_key] / [redacted:aws_secret_key]",
    ),
    "github": ("service_token", f"push with {token('ghp_', 36)} today", "push with [redacted:service_token] today"),
    "slack": ("service_token", f"bot={token('xoxb-', 24)}", "bot=[redacted:service_token]"),
    "payment": ("service_token", f"密钥{token('sk_live_', 24)}。", "密钥[redacted:service_token]。"),
    "model provider": ("service_token", f"is {token('sk-ant-api03-', 40)}", "is [redacted:service_token]"),
    "maps": ("service_token", f"key {token('AIza', 35)}", "key [redacted:service_token]"),
    "our own": ("service_token", token("hsk_", 43), "[redacted:service_token]"),
    "jwt": ("jwt", f"cookie {JWT};", "cookie [redacted:jwt];"),
    "bearer": ("bearer_token", f"Authorization: Bearer {LETTERS}", "Authorization: Bearer [redacted:bearer_token]"),
    "basic": (
        "bearer_token",
        "authorization: basic " + base64.b64encode(b"someone:pass1word").decode(),
        "authorization: basic [redacted:bearer_token]",
    ),
    "database address": (
        "url_password",
        "postgresql://app:s3cr3t@db.internal:5432/app",
        "postgresql://app:[redacted:url_password]@db.internal:5432/app",
    ),
    "password with an at": ("url_password", "redis://:p@ss@cache/0", "redis://:[redacted:url_password]@cache/0"),
    "key in code": (
        "assigned_secret",
        f'API_KEY = "{LETTERS[:24]}"',
        'API_KEY = "[redacted:assigned_secret]"',
    ),
    "key in JSON": (
        "assigned_secret",
        json.dumps({"client_secret": LETTERS[:30], "n": 1}),
        '{"client_secret": "[redacted:assigned_secret]", "n": 1}',
    ),
    "password in prose": ("assigned_secret", "Password is hunter22.", "Password is [redacted:assigned_secret]."),
    "password in Chinese": ("assigned_secret", "密码：abc12345，别忘了", "密码：[redacted:assigned_secret]，别忘了"),
    "password of a driver": ("assigned_secret", "Server=db;Pwd=S3cret!x;", "Server=db;Pwd=[redacted:assigned_secret];"),
    "private key": (
        "private_key",
        f"{PEM}\nMIIE\n-----END RSA PRIVATE" + " KEY-----\nbye",
        "[redacted:private_key]\nbye",
    ),
    "private key cut off": ("private_key", f"see {PEM}\nMIIEabc", "see [redacted:private_key]"),
}


@pytest.mark.parametrize(("detector", "text", "stored"), FOUND.values(), ids=FOUND)
def test_a_secret_is_redacted_where_it_stands(detector: str, text: str, stored: str) -> None:
    assert list(BUILT_IN[detector](text)) != []
    assert redacted(WITHOUT_RULES, text, "text") == stored


@pytest.mark.parametrize(
    "text",
    [
        "The token economy grew. Passwords are dull; a secret is what two know.",
        "password: ******** and token: <your-token-here>",
        "The api key is stored in the vault, see ${API_KEY}.",
        "commit 3f2c1e9a7b6d5c4e3f2a1b0c9d8e7f6a5b4c3d2e touches 12 files",
        "id 40c18d20-c9e4-40c1-bf5c-3ee4e37a78fd",
        "Basic responsibilities of the bearer of good tidings",
        "scikit sk-learn-is-a-nice-name-for-a-library",
        "http://localhost:8080/a@b and mailto:someone@example.org",
        "The secret is that authentication-middleware-handles-it",
        "eyJust a word. Another word.",
        "AKIA is a prefix; AKIAIOS is too short.",
    ],
)
def test_what_is_no_secret_is_stored_as_it_is(text: str) -> None:
    assert redacted(WITHOUT_RULES, text, "text") == text


@pytest.mark.parametrize("text", [text for _, text, _ in FOUND.values()], ids=FOUND)
def test_what_was_redacted_holds_nothing_more_to_redact(text: str) -> None:
    everything = ScreeningPolicy(dict.fromkeys(DETECTORS, "redact"))
    once = redacted(everything, text, "text")

    assert redacted(everything, once, "text") == once


@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_an_access_key_is_found_between_any_texts_that_do_not_prolong_it(before: str, after: str) -> None:
    prolonging = string.ascii_uppercase + string.digits
    text = f"{before.rstrip(prolonging)}{EXAMPLE_ID}{after.lstrip(prolonging)}"

    assert EXAMPLE_ID not in redacted(WITHOUT_RULES, text, "text")


HOSTILE = {
    "begins of keys": PEM * 8_000,
    "letters": "a" * 200_000,
    "digits": "4" * 200_000,
    "digit groups": "4444 " * 40_000,
    "plus signs": "+12345 " * 30_000,
    "at signs": "a@" * 100_000,
    "addresses": "a@b." * 50_000,
    "dots": "eyJ." * 50_000,
    "heads of tokens": "eyJaaaaaaaa" * 20_000,
    "schemes": "a://b:" * 35_000,
    "long scheme": "a://" + "b:" * 100_000,
    "names of secrets": "password " * 22_000,
    "assignments": "password=" * 22_000,
    "bearers": "bearer " * 28_000,
    "orders": "ignore all " * 18_000,
    "colons": ":" * 200_000,
    "hex": "a:" * 100_000,
    "countries": "DE89 3704 " * 20_000,
    "blanks": " " * 200_000,
    "quotes": "'" * 200_000,
    "keys in a row": (EXAMPLE_ID + " ") * 9_000,
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("detector", BUILT_IN)
def test_a_detector_takes_time_in_proportion_to_the_text(detector: str, hostile: str) -> None:
    """Twice the text takes at most some four times as long: what is quadratic takes minutes at this size."""
    started = time.process_time()

    for _ in BUILT_IN[detector](hostile):
        pass

    assert time.process_time() - started < 3.0


def test_every_detector_has_a_name_a_policy_can_use() -> None:
    assert set(BUILT_IN) == set(DETECTORS)
    assert set(SECRETS) < set(GROUPS["sensitive_data"]) < set(DETECTORS)
