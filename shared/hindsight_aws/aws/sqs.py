"""Wake-ups over SQS standard queues: ids only, grouped by tenant so that one tenant's burst does not starve another.

Made by runtime.py.  A send that fails is logged with its ids and forgotten: the rows are the work, and the sweep finds
them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypedDict
from uuid import UUID

from hindsight_aws.model.erasure import ErasureId
from hindsight_aws.model.ids import BankId, OperationId, ScopeId, TenantId
from hindsight_aws.ports.wakeups import LONGEST_DELAY_S
from hindsight_aws.settings import Settings
from hindsight_aws.telemetry import outgoing_trace

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageSystemAttributeValueTypeDef, SendMessageBatchRequestEntryTypeDef

_log = logging.getLogger(__name__)

MOST_PER_CALL: Final = 10
_CONNECT_S: Final = 2
_READ_S: Final = 5


class SqsWakeups:
    """Wakeups over the queues of the settings; a queue without a URL is not sent to."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def wake_operations(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        bodies = [{"tenant_id": str(tenant_id), "operation_id": str(operation_id)} for operation_id in operation_ids]
        self._send(self._settings.hindsight_queue_ingest_url, tenant_id, bodies, delay_s)

    def wake_conversions(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        bodies = [{"tenant_id": str(tenant_id), "operation_id": str(operation_id)} for operation_id in operation_ids]
        self._send(self._settings.hindsight_queue_convert_url, tenant_id, bodies, delay_s)

    def wake_transfers(self, tenant_id: TenantId, operation_ids: Sequence[OperationId], delay_s: int = 0) -> None:
        bodies = [{"tenant_id": str(tenant_id), "operation_id": str(operation_id)} for operation_id in operation_ids]
        self._send(self._settings.hindsight_queue_transfer_url, tenant_id, bodies, delay_s)

    def wake_scopes(self, tenant_id: TenantId, bank_id: BankId, scope_ids: Sequence[ScopeId], delay_s: int = 0) -> None:
        place = {"tenant_id": str(tenant_id), "bank_id": str(bank_id)}
        bodies = [place | {"scope_id": str(scope_id)} for scope_id in scope_ids]
        self._send(self._settings.hindsight_queue_consolidate_url, tenant_id, bodies, delay_s)

    def wake_refreshes(self, tenant_id: TenantId, bank_id: BankId) -> None:
        body = {"kind": "refreshes", "tenant_id": str(tenant_id), "bank_id": str(bank_id)}
        self._send(self._settings.hindsight_queue_consolidate_url, tenant_id, [body], 0)

    def wake_links(self, tenant_id: TenantId, bank_id: BankId, delay_s: int = 0) -> None:
        body = {"kind": "links", "tenant_id": str(tenant_id), "bank_id": str(bank_id)}
        self._send(self._settings.hindsight_queue_ingest_url, tenant_id, [body], delay_s)

    def wake_erasure(self, tenant_id: TenantId, erasure_id: ErasureId, delay_s: int = 0) -> None:
        body = {"kind": "erasure", "tenant_id": str(tenant_id), "erasure_id": str(erasure_id)}
        self._send(self._settings.hindsight_queue_ingest_url, tenant_id, [body], delay_s)

    def wake_webhooks(self, tenant_id: TenantId, bank_id: BankId) -> None:
        body = {"kind": "events", "tenant_id": str(tenant_id), "bank_id": str(bank_id)}
        self._send(self._settings.hindsight_queue_deliver_url, tenant_id, [body], 0)

    def wake_deliveries(
        self, tenant_id: TenantId, bank_id: BankId, delivery_ids: Sequence[UUID], delay_s: int = 0
    ) -> None:
        place = {"kind": "delivery", "tenant_id": str(tenant_id), "bank_id": str(bank_id)}
        bodies = [place | {"delivery_id": str(delivery_id)} for delivery_id in delivery_ids]
        self._send(self._settings.hindsight_queue_deliver_url, tenant_id, bodies, delay_s)

    def _send(self, url: str, tenant_id: TenantId, bodies: Sequence[dict[str, str]], delay_s: int) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        if not url:
            return
        delay = min(max(delay_s, 0), LONGEST_DELAY_S)
        for group in _groups(bodies):
            entries: list[SendMessageBatchRequestEntryTypeDef] = [
                {
                    "Id": str(place),
                    "MessageBody": json.dumps(body),
                    "MessageGroupId": str(tenant_id),
                    "DelaySeconds": delay,
                }
                for place, body in enumerate(group)
            ]
            if trace := trace_attribute():
                for entry in entries:
                    entry["MessageSystemAttributes"] = trace["MessageSystemAttributes"]
            try:
                refused = self._client.send_message_batch(QueueUrl=url, Entries=entries).get("Failed", [])
            except (BotoCoreError, ClientError) as error:
                _log.warning("wake-ups not sent, the sweep will find the rows: %s (%s)", group, error)
                continue
            if refused:
                lost = [group[int(entry["Id"])] for entry in refused]
                _log.warning("wake-ups refused, the sweep will find the rows: %s", lost)

    @cached_property
    def _client(self) -> SQSClient:
        import boto3
        from botocore.config import Config

        config = Config(retries={"total_max_attempts": 1}, connect_timeout=_CONNECT_S, read_timeout=_READ_S)
        return boto3.session.Session().client("sqs", region_name=self._settings.aws_region, config=config)


class _TraceAttribute(TypedDict, total=False):
    MessageSystemAttributes: Mapping[Literal["AWSTraceHeader"], MessageSystemAttributeValueTypeDef]


def trace_attribute() -> _TraceAttribute:
    """What of a message's entry carries the trace on; nothing where none is recorded."""
    header = outgoing_trace()
    if header is None:
        return {}
    return {"MessageSystemAttributes": {"AWSTraceHeader": {"StringValue": header, "DataType": "String"}}}


def _groups(bodies: Sequence[dict[str, str]]) -> Iterator[Sequence[dict[str, str]]]:
    for start in range(0, len(bodies), MOST_PER_CALL):
        yield bodies[start : start + MOST_PER_CALL]
