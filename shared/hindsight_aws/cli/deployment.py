"""A deployment's API as the command line calls it: with a URL and a key.  Used by the nouns that go through the API."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from argparse import ArgumentParser, Namespace
from http.client import HTTPException
from typing import TYPE_CHECKING, Final

from hindsight_aws.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hindsight_aws.importing import Posted

_LOCAL: Final = "http://127.0.0.1:8888"
_PATIENCE_S: Final = 60.0
_MOST_QUOTED: Final = 500


def reach(command: ArgumentParser, key: str) -> None:
    """Adds where the API is, and `key` to it, to a command."""
    command.add_argument("--url", default="", help=f"of the API; default: HINDSIGHT_API_URL, else {_LOCAL}")
    command.add_argument("--key", default="", help=f"{key}; default: HINDSIGHT_API_KEY")


def call(chosen: Namespace, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Posted:
    """What the API answers; status 0 where it cannot be reached.  Raises: InvalidRequest for no address of the web."""
    url = (chosen.url or os.environ.get("HINDSIGHT_API_URL") or _LOCAL).rstrip("/")
    if not url.startswith(("https://", "http://")):
        raise InvalidRequest("--url must be an http or https address")
    key = chosen.key or os.environ.get("HINDSIGHT_API_KEY", "")
    return ask(method, url + path, body, dict(headers) | ({"authorization": f"Bearer {key}"} if key else {}))


def ask(method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Posted:
    """What an address of the web answers, with no key but what is in the headers; status 0 where it is out of reach."""
    from hindsight_aws.importing import Posted

    request = urllib.request.Request(url, data=body, headers=dict(headers), method=method)  # noqa: S310 - of the web
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:  # noqa: S310 - of the web
            return Posted(answer.status, answer.read())
    except urllib.error.HTTPError as refused:
        with refused:
            wait = refused.headers.get("retry-after", "")
            return Posted(refused.code, refused.read(), float(wait) if wait.isdigit() else None)
    except (urllib.error.URLError, TimeoutError, ConnectionError, HTTPException):
        return Posted(0)


def said(answer: Posted) -> str:
    """The text of an answer that says yes.  Raises: InvalidRequest with what the API said else."""
    text = answer.body.decode("utf-8", "replace")
    if not 200 <= answer.status < 300:
        problem = f"the API answered {answer.status}: {text[:_MOST_QUOTED]}" if answer.status else "the API is away"
        raise InvalidRequest(problem)
    return text
