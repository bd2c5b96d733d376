"""What a hook may be made of.  Called by manage.py; pure but for the settings it is given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_aws.errors import InvalidField
from hindsight_aws.model.destination import Rules, Unfit, destination
from hindsight_aws.model.webhook import HttpConfig
from hindsight_aws.settings import Settings
from hindsight_aws.text.sanitise import clean
from hindsight_aws.webhooks.compose import OWN_HEADERS

_METHODS: Final = ("POST", "GET")
_MOST_SECONDS: Final = 60
_LONGEST_URL: Final = 2_048
_MOST_ENTRIES: Final = 20
_MOST_TEXT: Final = 8_192
_LONGEST_VALUE: Final = 1_024
_LONGEST_EVENT: Final = 100
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


def rules_of(settings: Settings) -> Rules:
    """What the server allows besides public https."""
    return Rules(settings.hindsight_webhook_allow_http, settings.hindsight_api_webhook_allowed_hosts)


def check_url(url: str, rules: Rules) -> str:
    """The address, when its text does not speak against calling it.  Raises: InvalidField."""
    if len(url) > _LONGEST_URL:
        raise InvalidField("url", f"must be at most {_LONGEST_URL} characters")
    try:
        destination(url, rules)
    except Unfit as unfit:
        raise InvalidField("url", str(unfit)) from None
    return url


def check_secret(secret: str | None) -> str | None:
    """The secret; an empty one is none.  Raises: InvalidField, for one that could not be kept as it is among others."""
    if secret is not None and len(secret) > _LONGEST_VALUE:
        raise InvalidField("secret", f"must be at most {_LONGEST_VALUE} characters")
    if secret is not None and clean(secret) != secret:
        raise InvalidField("secret", "must hold no control characters")
    return secret or None


def check_events(event_types: Sequence[str]) -> tuple[str, ...]:
    """The kinds of event, each once; one that never comes is no mistake.  Raises: InvalidField."""
    if len(event_types) > _MOST_ENTRIES or any(not 0 < len(each) <= _LONGEST_EVENT for each in event_types):
        raise InvalidField("event_types", f"must be at most {_MOST_ENTRIES} names of 1 to {_LONGEST_EVENT} characters")
    return tuple(dict.fromkeys(event_types))


def check_http(http: HttpConfig) -> HttpConfig:
    """The way of calling, with its method in capitals.  Raises: InvalidField."""
    method = http.method.upper()
    if method not in _METHODS:
        raise InvalidField("http_config.method", "must be POST or GET")
    if not 1 <= http.timeout_seconds <= _MOST_SECONDS:
        raise InvalidField("http_config.timeout_seconds", f"must be from 1 to {_MOST_SECONDS}")
    _check_map("http_config.headers", http.headers)
    _check_map("http_config.params", http.params)
    for name, value in http.headers.items():
        if not _HEADER.fullmatch(name) or not _VALUE.fullmatch(value):
            raise InvalidField("http_config.headers", "must be names and values of HTTP headers, in ASCII")
        if name.lower() in OWN_HEADERS or name.lower().startswith("x-hindsight-"):
            raise InvalidField("http_config.headers", f"must not hold {name}, which is set for each delivery")
    return HttpConfig(method, http.timeout_seconds, dict(http.headers), dict(http.params))


def _check_map(field: str, given: Mapping[str, str]) -> None:
    if len(given) > _MOST_ENTRIES or sum(len(name) + len(value) for name, value in given.items()) > _MOST_TEXT:
        raise InvalidField(field, f"must be at most {_MOST_ENTRIES} entries of together {_MOST_TEXT} characters")
