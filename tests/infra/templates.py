"""A synthesised template to ask questions of: resources by type, references as text, statements of a role."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Properties = dict[str, Any]

DATA: Final = "HindsightData"
SERVICE: Final = "HindsightService"


@dataclass(frozen=True, slots=True)
class Template:
    """One stack's template."""

    resources: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, folder: Path, stack: str) -> "Template":
        """The template of that stack in a cloud assembly."""
        document = json.loads((folder / f"{stack}.template.json").read_text(encoding="utf-8"))
        return cls(document["Resources"])

    def of_type(self, kind: str) -> dict[str, Properties]:
        """Properties of every resource of that type, by logical id."""
        return {
            name: resource.get("Properties", {})
            for name, resource in self.resources.items()
            if resource["Type"] == kind
        }

    def function(self, name: str) -> tuple[str, Properties]:
        """Logical id and properties of the table's function of that name."""
        wanted = f"hindsight-aws {name}"
        found = [
            (logical, properties)
            for logical, properties in self.of_type("AWS::Lambda::Function").items()
            if properties["Description"] == wanted
        ]
        assert len(found) == 1, f"{len(found)} functions are described as {wanted!r}"
        return found[0]

    def alias(self, name: str) -> str:
        """Logical id of the alias of the table's function of that name."""
        function = self.function(name)[0]
        [alias] = [
            logical
            for logical, properties in self.of_type("AWS::Lambda::Alias").items()
            if properties["FunctionName"] == {"Ref": function}
        ]
        return alias

    def role(self, name: str) -> str:
        """Logical id of the role of the table's function of that name."""
        return str(self.function(name)[1]["Role"]["Fn::GetAtt"][0])

    def statements(self, role: str) -> list[Properties]:
        """Every statement of the policies that hang on a role, actions and resources as lists of text."""
        return [
            {
                **statement,
                "Action": listed(statement["Action"]),
                "Resource": [text(resource) for resource in listed(statement["Resource"])],
            }
            for policy in self.of_type("AWS::IAM::Policy").values()
            if {"Ref": role} in policy["Roles"]
            for statement in policy["PolicyDocument"]["Statement"]
        ]

    def allowed(self, role: str, prefix: str) -> set[str]:
        """The resources on which a role may do something whose name begins so, references as text."""
        return {
            resource
            for statement in self.statements(role)
            if statement["Effect"] == "Allow" and any(action.startswith(prefix) for action in statement["Action"])
            for resource in statement["Resource"]
        }

    def policy_documents(self) -> Iterator[tuple[str, Properties]]:
        """Every policy document that stands in a property named so, with the id of its resource."""
        for logical, resource in self.resources.items():
            for value in resource.get("Properties", {}).values():
                if isinstance(value, dict) and "Statement" in value:
                    yield logical, value


def listed(value: Any) -> list[Any]:
    """A list, of one element where CloudFormation allows the element alone."""
    return list(value) if isinstance(value, list) else [value]


def text(value: Any) -> str:
    """A value with its references spelled `<Id>`, `<Id.Attribute>`, or `<export>`; joins are joined."""
    match value:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::ImportValue": export}:
            return f"<{export}>"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(text(part) for part in parts)
        case {"Fn::Select": [index, source]}:
            return f"<{index} of {text(source)}>"
        case {"Fn::Split": [_, source]}:
            return text(source)
        case _:
            return str(value)
