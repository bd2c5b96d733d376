"""SQS standard queues on this machine: an endpoint real clients can use, and the queues themselves for the pollers.

Messages live in memory and are gone when the stack ends: they are wake-ups, the rows are the work, and the sweep wakes
again what lost its message.
"""

from infra.local.sqs.endpoint import SqsEndpoint
from infra.local.sqs.mischief import Mischief
from infra.local.sqs.queue import Delivery, MessageQueue, QueueSettings
from infra.local.sqs.service import QueueService

__all__ = ["Delivery", "MessageQueue", "Mischief", "QueueService", "QueueSettings", "SqsEndpoint"]
