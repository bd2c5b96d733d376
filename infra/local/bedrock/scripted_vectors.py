"""Vectors that a test lays down in advance: all the same, all at right angles, zero, not a number, too short.

Called by `app`; calls `scripts` for failures.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonValue
from infra.local.bedrock.scripts import Failure, failure


class ScriptedVectors:
    """Remembers which text got which axis, so that equal texts stay equal."""

    def __init__(self) -> None:
        self._axes: dict[str, int] = {}

    def values(self, script: JsonValue, text: str, dimension: int) -> list[str] | Failure:
        """The values as JSON numbers. Raises: ValueError for a script nobody knows."""
        if isinstance(script, list):
            given = [repr(float(value)) for value in script if isinstance(value, int | float)]
            return (given + ["0"] * dimension)[:dimension]
        word = script if isinstance(script, str) else ""
        if word.startswith("RAISE:"):
            return failure(word.removeprefix("RAISE:"))
        if word == "same":
            return _axis(0, dimension)
        if word == "orthogonal":
            return _axis(self._axes.setdefault(text, len(self._axes)) % dimension, dimension)
        fixed = {"ZERO": ["0"] * dimension, "NAN": ["NaN"] * dimension, "LEN3": ["1", "0", "0"]}
        if word not in fixed:
            raise ValueError(f"no vectors are called {script!r}; known: same, orthogonal, {', '.join(fixed)}, RAISE:…")
        return fixed[word]


def _axis(at: int, dimension: int) -> list[str]:
    values = ["0"] * dimension
    values[at] = "1"
    return values
