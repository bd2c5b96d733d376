"""Where we answer a recorded request otherwise than the original server, and why: read by tests and by the page."""

from __future__ import annotations

DIFFERENCES: dict[int, tuple[int, str]] = {
    22: (400, "an id that is none is the caller's mistake, not a failure of ours"),
    38: (501, "no text of a model call is kept"),
    48: (404, "older clients ask for it: it is served, and this bank is gone"),
    50: (404, "the bank is named"),
    73: (422, "a request without items asks for nothing"),
    78: (400, "the sentence names the item"),
    93: (200, "nobody has worked on the operation: it can be cancelled"),
    94: (200, "for the same reason it can then be retried"),
    114: (422, "one error for a tag group that is none, not one for each form it is not"),
    155: (404, "the document was retained async, and nobody has worked on it; see documents/test_routes"),
    159: (404, "for the same reason it has no chunk"),
    162: (404, "for the same reason it cannot be labelled"),
    164: (404, "for the same reason it cannot be processed again"),
    192: (400, "an id that is none is the caller's mistake, not a failure of ours"),
    235: (404, "an entry has an id of ours; see tests/integration/api/test_audit.py"),
    236: (501, "no text of a model call is kept"),
    237: (501, "likewise"),
    196: (422, "the answer names the field"),
    244: (400, "the sentence names the field"),
    217: (200, "a scope without pending facts starts no operation of its own"),
}
"""Number of the recording: our status, and why the answer is another."""

UNKNOWN_DIFFERENCES: dict[str, tuple[int, bool]] = {"POST /directives": (404, False)}
"""Requests on a bank that is not there: our status and whether the bank was made, where ours are others."""
