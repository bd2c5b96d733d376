"""Orders and receipts over SQS, between the function that has the database and the one that has the internet.

Made by runtime.py.  What a message holds is never logged: a receiver's password may be part of it.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Final

from hindsight_aws.aws.sqs import trace_attribute
from hindsight_aws.model.ids import TenantId
from hindsight_aws.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_log = logging.getLogger(__name__)
_CONNECT_S: Final = 2
_READ_S: Final = 5


class SqsWebhookMessages:
    """WebhookMessages over the queues of the settings; a queue without a URL is not sent to."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def to_send(self, tenant_id: TenantId, body: str) -> None:
        self._send(self._settings.hindsight_queue_send_url, tenant_id, body, 0)

    def to_deliver(self, tenant_id: TenantId, body: str, delay_s: int = 0) -> None:
        self._send(self._settings.hindsight_queue_deliver_url, tenant_id, body, delay_s)

    def _send(self, url: str, tenant_id: TenantId, body: str, delay_s: int) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        if not url:
            return
        try:
            self._client.send_message(
                QueueUrl=url,
                MessageBody=body,
                MessageGroupId=str(tenant_id),
                DelaySeconds=delay_s,
                **trace_attribute(),
            )
        except (BotoCoreError, ClientError) as error:
            _log.warning("a message was not sent, the sweep will find its delivery: %s", type(error).__name__)

    @cached_property
    def _client(self) -> SQSClient:
        import boto3
        from botocore.config import Config

        config = Config(retries={"total_max_attempts": 1}, connect_timeout=_CONNECT_S, read_timeout=_READ_S)
        return boto3.session.Session().client("sqs", region_name=self._settings.aws_region, config=config)
