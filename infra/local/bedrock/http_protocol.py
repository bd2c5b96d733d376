"""uvicorn's HTTP protocol with one thing more: an application may cut the connection instead of answering.

Used by `__main__`; a call that Bedrock never answers looks so to its client.
"""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

CUT = "hindsight.cut"


class CuttableProtocol(HttpToolsProtocol):
    """Puts a function that drops the connection into the request's scope, under `extensions`."""

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.scope.setdefault("extensions", {})[CUT] = {"abort": self.transport.abort}
