"""Dead-letter queues: how many messages lie in them, and back to where they came from.  Called by `redrive`.

Of a queue only its URL is known here; its dead-letter queue is what SQS says it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from hindsight_aws.errors import HindsightError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_COUNT: Final = "ApproximateNumberOfMessages"


class QueueRefused(HindsightError):
    """A queue cannot be reached, or SQS refused a call about it; the message says which and why."""


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """How many messages a queue and its dead-letter queue hold, approximately, as SQS counts."""

    waiting: int
    dead: int
    arn: str
    dead_arn: str


class SqsDeadLetters:
    """The dead letters of queues that are named by their URLs."""

    def __init__(self, region: str) -> None:
        self._region = region

    def look(self, queue_url: str) -> DeadLetters:
        """What lies in the queue and in its dead-letter queue.  Raises QueueRefused."""
        with _told(queue_url):
            live = self._attributes(queue_url)
            if "RedrivePolicy" not in live:
                raise QueueRefused(f"queue {queue_url} has no dead-letter queue")
            dead_arn = str(json.loads(live["RedrivePolicy"])["deadLetterTargetArn"])
            dead = self._attributes(self._client.get_queue_url(QueueName=dead_arn.rsplit(":", 1)[-1])["QueueUrl"])
        return DeadLetters(int(live[_COUNT]), int(dead[_COUNT]), live["QueueArn"], dead_arn)

    def redrive(self, queue_url: str, found: DeadLetters) -> None:
        """Has SQS move what `look` found dead back to the queue, in the background.  Raises QueueRefused."""
        with _told(queue_url):
            self._client.start_message_move_task(SourceArn=found.dead_arn, DestinationArn=found.arn)

    def _attributes(self, url: str) -> Mapping[str, str]:
        held = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn", "RedrivePolicy", _COUNT])
        return {str(name): value for name, value in held["Attributes"].items()}

    @cached_property
    def _client(self) -> SQSClient:
        import boto3

        return boto3.session.Session().client("sqs", region_name=self._region)


@contextmanager
def _told(queue_url: str) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as refused:
        raise QueueRefused(f"queue {queue_url}: {refused}") from refused
