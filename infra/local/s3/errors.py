"""The errors of S3, as the XML that clients read."""

from http import HTTPStatus
from typing import Final
from xml.sax.saxutils import escape


class S3Error(Exception):
    """A request S3 refuses; `code` is what clients tell errors by."""

    def __init__(self, status: HTTPStatus, code: str, message: str) -> None:
        super().__init__(message)
        self.status: Final = status
        self.code: Final = code
        self.message: Final = message

    def body(self, resource: str) -> bytes:
        """The answer's body."""
        fields = {"Code": self.code, "Message": self.message, "Resource": resource, "RequestId": "local"}
        inner = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields.items())
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{inner}</Error>'.encode()


def denied(message: str) -> S3Error:
    """Whoever asks may not have this."""
    return S3Error(HTTPStatus.FORBIDDEN, "AccessDenied", message)


def not_implemented(what: str) -> S3Error:
    """Something S3 can do and this endpoint cannot."""
    return S3Error(HTTPStatus.NOT_IMPLEMENTED, "NotImplemented", f"The local S3 endpoint does not implement {what}.")
