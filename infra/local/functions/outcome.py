"""What an invocation ends in, in Lambda's terms; made by pool and environments, read by gateway and pollers."""

import json
from dataclasses import dataclass
from enum import StrEnum


class ErrorKind(StrEnum):
    """Who failed; decides what the caller is told."""

    HANDLER = "handler"
    """The function raised; the payload is its own error document."""
    RUNTIME = "runtime"
    """The process died, could not start, or ran out of time."""
    TOO_LARGE_REQUEST = "too_large_request"
    TOO_LARGE_RESPONSE = "too_large_response"
    THROTTLED = "throttled"
    """No environment came free in time."""


@dataclass(frozen=True, slots=True)
class Success:
    """The handler returned; `payload` is its JSON."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """The invocation failed; `payload` is the error document Lambda would answer with."""

    kind: ErrorKind
    payload: bytes

    @classmethod
    def of(cls, kind: ErrorKind, error_type: str, message: str) -> "Failure":
        """A failure the service itself reports."""
        return cls(kind, json.dumps({"errorType": error_type, "errorMessage": message}).encode())

    @property
    def summary(self) -> str:
        """`ErrorType: message`, for logs."""
        try:
            document = json.loads(self.payload)
        except ValueError:
            return self.payload[:200].decode(errors="replace")
        return f"{document.get('errorType')}: {document.get('errorMessage')}" if isinstance(document, dict) else "?"


Outcome = Success | Failure
