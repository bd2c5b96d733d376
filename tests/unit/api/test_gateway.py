"""The path of an event is decoded once, whoever sends the event."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_aws.api.gateway import with_encoded_path


def _event(path: str, domain: str) -> dict[str, Any]:
    return {"rawPath": path, "requestContext": {"domainName": domain, "http": {"method": "GET", "path": path}}}


@pytest.mark.parametrize(
    ("decoded", "encoded"),
    [
        ("/banks/a b", "/banks/a%20b"),
        ("/banks/a%41", "/banks/a%2541"),
        ("/banks/é", "/banks/%C3%A9"),
        ("/a/b:c", "/a/b:c"),
    ],
)
def test_a_path_that_an_http_api_decoded_is_encoded_again(decoded: str, encoded: str) -> None:
    event = with_encoded_path(_event(decoded, "abc.execute-api.eu-central-1.amazonaws.com"))

    assert event["requestContext"]["http"]["path"] == encoded


def test_a_path_of_a_function_url_stays_as_it_came() -> None:
    event = _event("/banks/a%2541", "abc.lambda-url.eu-central-1.on.aws")

    assert with_encoded_path(event) is event


def test_an_event_that_is_no_request_passes() -> None:
    assert with_encoded_path({"detail": "x"}) == {"detail": "x"}
