"""What callers say of a file, made plain."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.files.requests import key_of, plain_name, plain_type
from hindsight_aws.model.ids import BankId, TenantId


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("text/plain", "text/plain"),
        ("Text/HTML; Charset=UTF-8", "text/html; charset=utf-8"),
        ('text/markdown; variant=GFM; charset="utf-8"', "text/markdown; charset=utf-8"),
        ("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"),
        ("text", None),
        ("", None),
        (None, None),
        ("text/plain\r\nx: y", None),
        ("text/plain; charset=a b", "text/plain"),
    ],
)
def test_a_content_type_keeps_its_charset_alone(said: str | None, plain: str | None) -> None:
    assert plain_type(said) == plain


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("a.txt", "a.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\notes\\a.txt", "a.txt"),
        ("a\x00b.txt", "ab.txt"),
        ("", "file"),
        (" / ", "file"),
        ("\u200b", "file"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
    ],
)
def test_a_name_is_the_last_part_of_its_path(said: str, plain: str) -> None:
    assert plain_name(said) == plain


@given(st.text())
def test_any_name_is_made_plain(said: str) -> None:
    plain = plain_name(said)

    assert plain == plain_name(plain)
    assert 1 <= len(plain) <= 255
    assert not set("/\\\x00\n\r") & set(plain)


def test_a_key_holds_ids_alone() -> None:
    """[R020] It stays inside the prefix of its bank, as nothing else goes into it."""
    tenant, bank, upload = TenantId(uuid4()), BankId(uuid4()), uuid4()

    assert key_of(tenant, bank, upload) == f"tenants/{tenant}/banks/{bank}/{upload}"
