"""Reads a definition's objects field by field and refuses what was not asked for. Called by definition.py."""

from infra.local.workflow.errors import DefinitionError
from infra.local.workflow.payload import Json, JsonObject


class Fields:
    """One JSON object of a definition; `finish` refuses what nobody read. All readers raise DefinitionError."""

    def __init__(self, place: str, document: Json) -> None:
        if not isinstance(document, dict):
            raise DefinitionError(f"{place} is not an object")
        self.place = place
        self._left = dict(document)

    def finish(self) -> None:
        """Refuses the fields that are left."""
        if self._left:
            raise DefinitionError(f"{self.place}: not implemented: {', '.join(sorted(self._left))}")

    def ignore(self, name: str) -> None:
        """Drops a field that has no effect."""
        self._left.pop(name, None)

    def optional(self, name: str, absent: Json) -> Json:
        """The field, null included, or `absent` when it is not there."""
        return self._left.pop(name, absent)

    def text(self, name: str) -> str:
        """A string that must be there."""
        value = self.optional_text(name)
        if value is None:
            raise DefinitionError(f"{self.place}: {name} is missing")
        return value

    def optional_text(self, name: str) -> str | None:
        """A string, or None when it is not there."""
        value = self._left.pop(name, None)
        if value is not None and not isinstance(value, str):
            raise DefinitionError(f"{self.place}: {name} is not a string")
        return value

    def number(self, name: str) -> float:
        """A number that must be there."""
        value = self.optional_number(name)
        if value is None:
            raise DefinitionError(f"{self.place}: {name} is missing")
        return value

    def optional_number(self, name: str, absent: float | None = None) -> float | None:
        """A number, or `absent`."""
        value = self._left.pop(name, absent)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DefinitionError(f"{self.place}: {name} is not a number")
        return value

    def object(self, name: str) -> JsonObject:
        """An object that must be there."""
        value = self.optional_object(name)
        if value is None:
            raise DefinitionError(f"{self.place}: {name} is missing")
        return value

    def optional_object(self, name: str) -> JsonObject | None:
        """An object, or None when it is not there."""
        value = self._left.pop(name, None)
        if value is not None and not isinstance(value, dict):
            raise DefinitionError(f"{self.place}: {name} is not an object")
        return value

    def entries(self, name: str) -> "list[Fields]":
        """A list of objects, empty when it is not there."""
        value = self._left.pop(name, [])
        if not isinstance(value, list):
            raise DefinitionError(f"{self.place}: {name} is not a list")
        return [Fields(f"{self.place}.{name}[{index}]", entry) for index, entry in enumerate(value)]

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings, empty when it is not there."""
        value = self._left.pop(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise DefinitionError(f"{self.place}: {name} is not a list of strings")
        return tuple(item for item in value if isinstance(item, str))
