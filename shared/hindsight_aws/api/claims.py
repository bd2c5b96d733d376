"""The claims of a token that the gateway's authorizer verified, out of the event that it sent.  Called by api/auth.py.

They stand where only the gateway writes: no header and no body of a caller gets there, and an API without an authorizer
sends none.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Scope

EVENT = "aws.event"
"""Under which name the scope of a request holds the event that it came as."""
_PATH = ("requestContext", "authorizer", "jwt", "claims")


def claims_in(scope: Scope) -> Mapping[str, object] | None:
    """The verified claims of the request; None where no token was verified."""
    found: object = scope.get(EVENT)
    for step in _PATH:
        if not isinstance(found, Mapping):
            return None
        found = found.get(step)
    return found if isinstance(found, Mapping) else None


def authorizer_part(scope: Scope) -> dict[str, object]:
    """What a request of the app to itself takes along of the event, so that it is the same caller's."""
    event = scope.get(EVENT)
    context = event.get("requestContext") if isinstance(event, Mapping) else None
    authorizer = context.get("authorizer") if isinstance(context, Mapping) else None
    return {} if authorizer is None else {"requestContext": {"authorizer": authorizer}}
