"""The table's queues, each with a dead-letter queue of its own. Made by the service stack; messages carry ids only."""

from typing import Final

from aws_cdk import Aws, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.cloud.naming import logical
from infra.topology import Function, Queue, QueueTrigger, Topology

_KEY_REUSE: Final = Duration.minutes(5)


class Queues(Construct):
    """Encrypted standard queues that refuse plain HTTP, and the permissions to send and to consume."""

    def __init__(self, scope: Construct, name: str, *, topology: Topology, key: kms.IKey) -> None:
        super().__init__(scope, name)
        self._key = key
        self._topology = topology
        self.dead: dict[str, sqs.Queue] = {}
        self.live: dict[str, sqs.Queue] = {}
        for entry in topology.queues:
            self.dead[entry.name] = self._queue(entry.dead_letter_name, retention=entry.dead_letter_retention)
            self.live[entry.name] = self._with_dead_letters(entry)

    def url(self, name: str) -> str:
        """Where a sender finds the queue."""
        return str(self.live[name].queue_url)

    def setting(self, name: str) -> str:
        """The variable that tells a sender its URL."""
        return self._topology.queue(name).url_setting

    def statements(self, function: Function) -> list[iam.PolicyStatement]:
        """Permission to send where the table says so, and to consume the queue that the function serves."""
        sends = [self.live[name].queue_arn for name in function.sends_to]
        serves = [
            self.live[trigger.queue].queue_arn for trigger in function.triggers if isinstance(trigger, QueueTrigger)
        ]
        statements = []
        if sends:
            statements.append(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=sends))
        if serves:
            consume = [
                "sqs:ReceiveMessage",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ChangeMessageVisibility",
            ]
            statements.append(iam.PolicyStatement(actions=consume, resources=serves))
        if sends or serves:
            statements.append(self._use_of_key(sending=bool(sends)))
        return statements

    def _use_of_key(self, *, sending: bool) -> iam.PolicyStatement:
        """A sender needs a data key and a receiver its decryption, each only as SQS asks for it."""
        return iam.PolicyStatement(
            actions=["kms:Decrypt", "kms:GenerateDataKey"] if sending else ["kms:Decrypt"],
            resources=[self._key.key_arn],
            conditions={"StringEquals": {"kms:ViaService": f"sqs.{Aws.REGION}.amazonaws.com"}},
        )

    def _with_dead_letters(self, entry: Queue) -> sqs.Queue:
        return self._queue(
            entry.name,
            retention=entry.retention,
            visibility=entry.visibility,
            dead=sqs.DeadLetterQueue(queue=self.dead[entry.name], max_receive_count=entry.max_receive_count),
        )

    def _queue(
        self, name: str, *, retention: int, visibility: int | None = None, dead: sqs.DeadLetterQueue | None = None
    ) -> sqs.Queue:
        return sqs.Queue(
            self,
            logical(name),
            encryption=sqs.QueueEncryption.KMS,
            encryption_master_key=self._key,
            data_key_reuse=_KEY_REUSE,
            enforce_ssl=True,
            retention_period=Duration.seconds(retention),
            visibility_timeout=None if visibility is None else Duration.seconds(visibility),
            dead_letter_queue=dead,
        )
