"""What the text of an address alone rules out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.model.address import literal
from hindsight_aws.model.destination import Destination, Rules, Unfit, destination


@pytest.mark.parametrize(
    ("url", "parts", "named"),
    [
        ("https://example.com", ("https", "example.com", 443, "/"), "example.com"),
        ("https://Example.com./a/b?c=d#e", ("https", "example.com", 443, "/a/b?c=d"), "example.com"),
        ("https://example.com:8443/h", ("https", "example.com", 8443, "/h"), "example.com:8443"),
        ("https://[2606:4700::1]/h", ("https", "2606:4700::1", 443, "/h"), "[2606:4700::1]"),
    ],
)
def test_an_address_is_taken_apart(url: str, parts: tuple[str, str, int, str], named: str) -> None:
    found = destination(url, Rules())

    assert found == Destination(*parts)
    assert found.host_header == named


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "localhost", "localhost.",
        "a.localhost",
        "10.0.0.1", "169.254.169.254", "0", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[fd00:ec2::254]",
        "[64:ff9b::a9fe:a9fe]", "[fe80::1%25eth0]", "metadata.google.internal", "printer.local", "intranet",
        "a.home.arpa",
        "exa_mple..com", "-", "a b.com",
    ],
)  # fmt: skip
def test_what_leads_inside_by_its_text_is_refused(host: str) -> None:
    with pytest.raises(Unfit):
        destination(f"https://{host}/hook", Rules())


@pytest.mark.parametrize(
    "url",
    [
        "", "example.com", "ftp://example.com", "file:///etc/passwd", "https://", "http://example.com",
        "https://u:p@example.com",
        "https://u@example.com", "https://example.com:99999", "https://example.com:x", "https://exämple.com",
        "https://example.com/\r\nX: y", "https://example.com\\@127.0.0.1", "https://[::1",
        "gopher://example.com", "javascript:alert(1)",
    ],
)  # fmt: skip
def test_what_is_no_https_address_is_refused(url: str) -> None:
    with pytest.raises(Unfit):
        destination(url, Rules())


@given(
    st.text(max_size=60),
    st.sampled_from(["", "https://", "https://a.example/", "https://[", "http://x@", "https:////"]),
)
def test_any_text_is_taken_apart_or_refused(text: str, start: str) -> None:
    try:
        found = destination(start + text, Rules())
    except Unfit:
        return

    assert found.scheme == "https"
    assert literal(found.host) is not None or "." in found.host


def test_plain_http_and_hosts_inside_need_to_be_allowed_each_by_itself() -> None:
    assert destination("http://example.com", Rules(allow_http=True)).port == 80
    assert destination("http://127.0.0.1:81/", Rules(allowed_hosts=("127.0.0.1",))).port == 81
    assert destination("http://[::1]/", Rules(allowed_hosts=("[::1]",))).host == "::1"
    for url in ("http://127.0.0.1/", "http://10.0.0.1/"):
        with pytest.raises(Unfit):
            destination(url, Rules(allow_http=True, allowed_hosts=("127.0.0.2",)))
