"""Synthesises the workflows alone, once of each type, and prints both templates.  Run by test_workflow_types.py."""

import json
import sys
from typing import Final

from infra.cloud.config import read_config
from infra.cloud.node import use_bundled_node
from infra.topology import TOPOLOGY, WorkflowTrigger

TYPES: Final = ("STANDARD", "EXPRESS")


def main() -> None:
    """Writes a list of two templates."""
    use_bundled_node()  # before the CDK is imported, which starts it
    json.dump([_template(kind) for kind in TYPES], sys.stdout)


def _template(kind: str) -> object:
    from aws_cdk import App, Stack
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_lambda as lambda_
    from aws_cdk.assertions import Template

    from infra.cloud.functions import Deployed
    from infra.cloud.workflow import Workflows

    stack = Stack(App(), "Stack")
    deployed = {}
    for entry, _ in TOPOLOGY.each(WorkflowTrigger):
        role = iam.Role(stack, f"{entry.name}Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        function = lambda_.Function(
            stack,
            entry.name,
            code=lambda_.Code.from_inline("pass"),
            handler="index.handler",
            runtime=lambda_.Runtime.PYTHON_3_13,
            role=role,
        )
        alias = lambda_.Alias(stack, f"{entry.name}Alias", alias_name="live", version=function.current_version)
        deployed[entry.name] = Deployed(entry, function, alias, role)
    config = read_config({"profile": "dev", "workflowType": kind})
    Workflows(stack, "Workflows", topology=TOPOLOGY, config=config, deployed=deployed)
    return Template.from_stack(stack).to_json()


if __name__ == "__main__":
    main()
