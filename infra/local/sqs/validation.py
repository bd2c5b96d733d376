"""SQS's limits on messages and batches. Called by the service."""

import re
from typing import Final

from infra.local.sqs.errors import SqsError
from infra.local.sqs.parameters import Parameters

MAX_BYTES: Final = 1024 * 1024
MAX_BATCH: Final = 10

_ENTRY_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,80}")
_ALLOWED: Final = "#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"
_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def message_size(body: str, attributes: dict[str, dict[str, str]]) -> int:
    """Bytes a message counts for: its body and its attributes' names, types and values."""
    size = len(body.encode(errors="surrogatepass"))
    for name, value in attributes.items():
        size += len(name.encode()) + sum(len(part.encode(errors="surrogatepass")) for part in value.values())
    return size


def check_body(body: str, attributes: dict[str, dict[str, str]], limit: int) -> None:
    """Refuses what SQS refuses. Raises: SqsError."""
    if _FORBIDDEN.search(body):
        raise SqsError(
            "InvalidMessageContents",
            f"Invalid characters found. Valid unicode characters are {_ALLOWED}",
        )
    if message_size(body, attributes) > limit:
        raise SqsError(
            "InvalidParameterValue",
            f"One or more parameters are invalid. Reason: Message must be shorter than {limit} bytes.",
        )
    if len(attributes) > MAX_BATCH:
        raise SqsError(
            "InvalidParameterValue",
            f"Number of message attributes [{len(attributes)}] exceeds the allowed maximum [10].",
        )


def check_batch(entries: list[Parameters]) -> None:
    """Refuses a batch that is empty, too long, or names an entry badly or twice. Raises: SqsError."""
    if not entries:
        raise SqsError("EmptyBatchRequest", "There should be at least one entry in the request.")
    if len(entries) > MAX_BATCH:
        raise SqsError(
            "TooManyEntriesInBatchRequest",
            f"Maximum number of entries per request are {MAX_BATCH}. You have sent {len(entries)}.",
        )
    names = [entry.text("Id") for entry in entries]
    for name in names:
        if not _ENTRY_ID.fullmatch(name):
            raise SqsError(
                "InvalidBatchEntryId",
                "A batch entry id holds at most 80 alphanumeric characters, hyphens and underscores.",
            )
        if names.count(name) > 1:
            raise SqsError("BatchEntryIdsNotDistinct", f"Id {name} repeated.")
