"""The workflows of this repository, read from infra/workflows and bound to this machine's functions.

Called by the local stack when it starts, and by the tests.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from infra.local.workflow.definition import Machine, load
from infra.local.workflow.errors import DefinitionError
from infra.local.workflow.functions import function_arn
from infra.local.workflow.lint import lint

WORKFLOWS: Final = Path(__file__).parents[2] / "workflows"

_FUNCTIONS: Final[Mapping[str, str]] = {"ReflectStepArn": "reflect_step"}


def machines() -> dict[str, Machine]:
    """Every workflow by name. Raises: DefinitionError, with every fault, when one is not sound."""
    arns = {placeholder: function_arn(name) for placeholder, name in _FUNCTIONS.items()}
    found: dict[str, Machine] = {}
    for path in sorted(WORKFLOWS.glob("*.asl.json")):
        name = path.name.removesuffix(".asl.json")
        machine = load(path.read_text("utf-8"), arns)
        faults = lint(machine)
        if faults:
            raise DefinitionError(f"{path.name}: {'; '.join(faults)}")
        found[name] = machine
    return found
