"""The table's Step Functions workflows, from infra/workflows. Made by the service stack; payloads carry ids only."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.errors import WorkflowDefinitionError
from infra.cloud.functions import Deployed
from infra.cloud.naming import logical
from infra.cloud.permissions import service_of_this_account
from infra.cloud.retention import retention
from infra.topology import Topology, WorkflowTrigger, workflow_setting

_DEFINITIONS: Final = Path(__file__).parents[1] / "workflows"
_PLACEHOLDER: Final = re.compile(r"\$\{(\w+)\}")
_TYPES: Final = {"STANDARD": sfn.StateMachineType.STANDARD, "EXPRESS": sfn.StateMachineType.EXPRESS}


class Workflows(Construct):
    """One state machine per workflow, in `machines`, which may invoke its own tasks' functions and nothing else.

    Raises: WorkflowDefinitionError, when a definition is missing, is no JSON, or names a function that is no task.
    """

    def __init__(
        self, scope: Construct, name: str, *, topology: Topology, config: CloudConfig, deployed: Mapping[str, Deployed]
    ) -> None:
        super().__init__(scope, name)
        self._config = config
        self.machines: dict[str, sfn.StateMachine] = {}
        for workflow in topology.workflows:
            tasks = [
                deployed[entry.name]
                for entry, trigger in topology.each(WorkflowTrigger)
                if trigger.workflow == workflow
            ]
            machine = self.machines[workflow] = self._machine(workflow, tasks)
            for starter in deployed.values():
                if workflow in starter.entry.starts:
                    _let_start(starter, workflow, machine)

    def _machine(self, workflow: str, tasks: list[Deployed]) -> sfn.StateMachine:
        place = Construct(self, logical(workflow))
        role = iam.Role(place, "Role", assumed_by=service_of_this_account("states.amazonaws.com"))
        aliases = [task.alias.function_arn for task in tasks]
        role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=aliases))
        # Step Functions may write to log groups of this name without a resource policy of their own.
        log = logs.LogGroup(
            place,
            "Log",
            log_group_name=f"/aws/vendedlogs/states/{Aws.STACK_NAME}-{workflow}",
            retention=retention(self._config.log_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        return sfn.StateMachine(
            place,
            "Machine",
            state_machine_type=_TYPES[self._config.workflow_type],
            role=role,
            definition_body=sfn.DefinitionBody.from_string(_definition(workflow, tasks)),
            definition_substitutions={_placeholder(task): task.alias.function_arn for task in tasks},
            logs=sfn.LogOptions(destination=log, level=sfn.LogLevel.ALL, include_execution_data=False),
            tracing_enabled=True,
        )


def _definition(workflow: str, tasks: list[Deployed]) -> str:
    """The definition without its spaces, once each placeholder in it is a function of the workflow."""
    source = _DEFINITIONS / f"{workflow}.asl.json"
    try:
        text = source.read_text(encoding="utf-8")
        definition = json.dumps(json.loads(text), separators=(",", ":"))
    except (OSError, ValueError) as wrong:
        raise WorkflowDefinitionError(f"{source.name} cannot be read: {wrong}") from None
    named = set(_PLACEHOLDER.findall(text))
    offered = {_placeholder(task) for task in tasks}
    if named != offered:
        raise WorkflowDefinitionError(f"{source.name} invokes {sorted(named)}, the topology offers {sorted(offered)}")
    return definition


def _placeholder(task: Deployed) -> str:
    return f"{logical(task.entry.name)}Arn"


def _let_start(starter: Deployed, workflow: str, machine: sfn.StateMachine) -> None:
    start = iam.PolicyStatement(actions=["states:StartExecution"], resources=[machine.state_machine_arn])
    starter.role.add_to_policy(start)
    starter.function.add_environment(workflow_setting(workflow), machine.state_machine_arn)
