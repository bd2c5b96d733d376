"""Personal data is found by its form and its check digits; numbers that only look alike stay."""

from __future__ import annotations

import pytest

from hindsight_aws.model.screening import ScreeningPolicy
from hindsight_aws.screening import redacted
from hindsight_aws.screening.detectors import BUILT_IN

FOUND = {
    "email": ("email", "Write to ann.lee+x@mail.example.org!", "Write to [redacted:email]!"),
    "email beside CJK": ("email", "邮箱ann@example.org，谢谢", "邮箱[redacted:email]，谢谢"),
    "email in brackets": ("email", "Ann <ann@example.org>", "Ann <[redacted:email]>"),
    "phone with country": ("phone", "call +49 170 1234567 on 2024-05-01", "call [redacted:phone] on 2024-05-01"),
    "phone in America": ("phone", "(415) 555-0134 or 415-555-0134", "[redacted:phone] or [redacted:phone]"),
    "phone beside CJK": ("phone", "电话13800138000。", "电话[redacted:phone]。"),
    "phone in Germany": ("phone", "Tel. 030 1234 5678", "Tel. [redacted:phone]"),
    "card in groups": ("credit_card", "card 4111 1111 1111 1111, exp", "card [redacted:credit_card], exp"),
    "card behind a number": ("credit_card", "1234 4111 1111 1111 1111", "1234 [redacted:credit_card]"),
    "card of fifteen": ("credit_card", "3782-822463-10005", "[redacted:credit_card]"),
    "card without groups": ("credit_card", "n=5555555555554444", "n=[redacted:credit_card]"),
    "iban": ("iban", "to DE89370400440532013000 now", "to [redacted:iban] now"),
    "iban in groups before capitals": ("iban", "GB82 WEST 1234 5698 7654 32 IBAN", "[redacted:iban] IBAN"),
    "social security": ("us_ssn", "SSN 123-45-6789.", "SSN [redacted:us_ssn]."),
    "address of version 4": ("ip_address", "from 203.0.113.9:443", "from [redacted:ip_address]:443"),
    "address of version 6": ("ip_address", "at 2001:db8::1 today", "at [redacted:ip_address] today"),
}


@pytest.mark.parametrize(("detector", "text", "stored"), FOUND.values(), ids=FOUND)
def test_personal_data_is_redacted_where_it_stands(detector: str, text: str, stored: str) -> None:
    assert redacted(ScreeningPolicy({detector: "redact"}), text, "text") == stored


@pytest.mark.parametrize(
    ("detector", "text"),
    [
        ("email", "@home, a@b, user@host and 5 @ 3.50"),
        ("phone", "2024-01-15, 12:30, 1705312800 and version 1.2.3-4"),
        ("phone", "order 123-4567-8901-2345"),
        ("phone", "kp-0070934828042e5b340920efba9a70b and 0070934828042_1"),
        ("credit_card", "4111 1111 1111 1112 and 1234567890123456"),
        ("iban", "DE89370400440532013001"),
        ("us_ssn", "000-12-3456, 666-12-3456, 912-12-3456, 123-00-4567, 123-45-67890"),
        ("ip_address", "1.2.3, 300.1.1.1, 12:30:45 and 1.2.3.4.5"),
    ],
)
def test_a_number_that_only_looks_alike_is_stored_as_it_is(detector: str, text: str) -> None:
    assert list(BUILT_IN[detector](text)) == []
