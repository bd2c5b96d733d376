"""The two ways a workflow goes wrong: a definition we do not run, and an error of an execution."""

from typing import Final

DATA_LIMIT_EXCEEDED: Final = "States.DataLimitExceeded"
NO_CHOICE_MATCHED: Final = "States.NoChoiceMatched"
RUNTIME: Final = "States.Runtime"
TASK_FAILED: Final = "States.TaskFailed"
TIMEOUT: Final = "States.Timeout"
ALL: Final = "States.ALL"

_BEYOND_ALL: Final = frozenset({DATA_LIMIT_EXCEEDED, RUNTIME})


class DefinitionError(ValueError):
    """The definition is wrong, or uses something this interpreter does not implement; the message names the place."""


class StatesError(Exception):
    """An error as Retry and Catch see it: `name` is matched, `cause` is for people."""

    def __init__(self, name: str, cause: str = "") -> None:
        super().__init__(f"{name}: {cause}")
        self.name: Final = name
        self.cause: Final = cause

    def is_named_in(self, patterns: tuple[str, ...]) -> bool:
        """Whether an ErrorEquals list names this error; States.ALL stops short of two errors, as the service does."""
        if self.name in patterns:
            return True
        if TASK_FAILED in patterns and self.name not in {TIMEOUT, *_BEYOND_ALL}:
            return True
        return ALL in patterns and self.name not in _BEYOND_ALL
