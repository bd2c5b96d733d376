"""Reads a request's JSON parameters with the errors SQS gives for wrong ones. Called by the service."""

import json

from infra.local.sqs.errors import SqsError, invalid_value

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


class Parameters:
    """A JSON object whose fields are asked for by name and kind; every reader raises SqsError for a wrong one."""

    def __init__(self, fields: dict[str, Json]) -> None:
        self._fields = fields

    @classmethod
    def parse(cls, text: str | bytes) -> "Parameters":
        """Reads the object from its JSON text."""
        try:
            fields: Json = json.loads(text or "{}")
        except ValueError as error:
            raise SqsError("SerializationException", "The request is not JSON.") from error
        if not isinstance(fields, dict):
            raise SqsError("SerializationException", "The request is not a JSON object.")
        return cls(fields)

    def text(self, name: str) -> str:
        """A string that must be there and not be empty."""
        value = self.optional_text(name)
        if not value:
            raise SqsError("MissingParameter", f"The request must contain the parameter {name}.")
        return value

    def optional_text(self, name: str) -> str | None:
        """A string, or None when it is not given."""
        value = self._fields.get(name)
        if value is not None and not isinstance(value, str):
            raise invalid_value(name, "Must be a string.")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of strings, empty when it is not given."""
        value = self._fields.get(name) or []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise invalid_value(name, "Must be a list of strings.")
        return [item for item in value if isinstance(item, str)]

    def number(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """An integer in its range (attributes carry it as a string); without a default it must be there."""
        value = self.optional_number(name, least, most)
        if value is not None:
            return value
        if default is None:
            raise SqsError("MissingParameter", f"The request must contain the parameter {name}.")
        return default

    def optional_number(self, name: str, least: int, most: int) -> int | None:
        """An integer in its range, or None when it is not given."""
        value = self._fields.get(name)
        if value is None:
            return None
        try:
            number = int(value) if isinstance(value, str | int) else None
        except ValueError:
            number = None
        if number is None or not least <= number <= most:
            raise invalid_value(name, f"Must be between {least} and {most}, if provided.")
        return number

    def nested(self, name: str) -> "Parameters":
        """An object, empty when it is not given."""
        value = self._fields.get(name)
        return Parameters(value if isinstance(value, dict) else {})

    def entries(self, name: str) -> list["Parameters"]:
        """A list of objects."""
        value = self._fields.get(name)
        if not isinstance(value, list):
            raise SqsError("MissingParameter", f"The request must contain the parameter {name}.")
        return [Parameters(item) for item in value if isinstance(item, dict)]

    def message_attributes(self) -> dict[str, dict[str, str]]:
        """A message's own attributes: name to `{DataType, StringValue | BinaryValue}`."""
        attributes: dict[str, dict[str, str]] = {}
        for name, value in self.nested("MessageAttributes")._fields.items():
            if not isinstance(value, dict) or not isinstance(value.get("DataType"), str):
                raise invalid_value("MessageAttributes", f"The message attribute '{name}' must contain a DataType.")
            attributes[name] = {key: item for key, item in value.items() if isinstance(item, str)}
        return attributes
