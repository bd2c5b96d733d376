"""Starts workflow executions in Step Functions.  Called through ports/reflect.py; made by runtime.py."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from hindsight_aws.errors import WorkDeferred
from hindsight_aws.model.ids import TenantId
from hindsight_aws.telemetry import outgoing_trace

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions.client import SFNClient

_TIMEOUT_S = 5


class StepFunctionsWorkflows:
    """Executions are named after their run, so that starting one twice starts it once.

    Honours AWS_ENDPOINT_URL_SFN.  The client is made when it is first needed.
    """

    def __init__(self, region: str, reflect_arn: str) -> None:
        self._region = region
        self._reflect_arn = reflect_arn

    def start_reflect(self, tenant_id: TenantId, bank_id: UUID, run_id: UUID) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        ids = {"tenant_id": str(tenant_id), "bank_id": str(bank_id), "run_id": str(run_id), "turn": 0}
        try:
            trace = outgoing_trace()
            self._client.start_execution(
                stateMachineArn=self._reflect_arn,
                name=str(run_id),
                input=json.dumps(ids),
                **({} if trace is None else {"traceHeader": trace}),
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise WorkDeferred("the workflow service did not start the run") from error
        except BotoCoreError as error:
            raise WorkDeferred("the workflow service could not be reached") from error

    @cached_property
    def _client(self) -> SFNClient:
        import boto3
        from botocore.config import Config

        config = Config(
            region_name=self._region,
            connect_timeout=_TIMEOUT_S,
            read_timeout=_TIMEOUT_S,
            retries={"total_max_attempts": 2, "mode": "standard"},
        )
        return boto3.session.Session().client("stepfunctions", config=config)
