"""The errors of SQS: `shape` is the JSON protocol's name, `code` the one boto3 shows (the query protocol's)."""

from typing import Final

_PREFIX: Final = "AWS.SimpleQueueService."
_QUERY_CODES: Final = {
    "QueueDoesNotExist": f"{_PREFIX}NonExistentQueue",
    "QueueNameExists": "QueueAlreadyExists",
    "EmptyBatchRequest": f"{_PREFIX}EmptyBatchRequest",
    "TooManyEntriesInBatchRequest": f"{_PREFIX}TooManyEntriesInBatchRequest",
    "BatchEntryIdsNotDistinct": f"{_PREFIX}BatchEntryIdsNotDistinct",
    "InvalidBatchEntryId": f"{_PREFIX}InvalidBatchEntryId",
    "BatchRequestTooLong": f"{_PREFIX}BatchRequestTooLong",
    "MessageNotInflight": f"{_PREFIX}MessageNotInflight",
    "UnsupportedOperation": f"{_PREFIX}UnsupportedOperation",
}


class SqsError(Exception):
    """A request SQS refuses; `message` is shown to the caller."""

    def __init__(self, shape: str, message: str) -> None:
        super().__init__(message)
        self.shape: Final = shape
        self.message: Final = message

    @property
    def code(self) -> str:
        """The error code as clients know it."""
        return _QUERY_CODES.get(self.shape, self.shape)


def queue_does_not_exist() -> SqsError:
    """The queue was never made."""
    return SqsError("QueueDoesNotExist", "The specified queue does not exist.")


def invalid_value(name: str, reason: str) -> SqsError:
    """A parameter outside its range."""
    return SqsError("InvalidParameterValue", f"Value for parameter {name} is invalid. Reason: {reason}")
