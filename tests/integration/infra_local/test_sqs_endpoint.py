"""The SQS endpoint under a real client: shapes, limits and error codes as AWS documents them."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from infra.local.stack import LocalStack

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

CODE = "AWS.SimpleQueueService."


@pytest.fixture(scope="module")
def sqs(shared_stack: LocalStack) -> "Iterator[SQSClient]":
    client = boto3.client(
        "sqs",
        endpoint_url=shared_stack.sqs_url,
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(retries={"total_max_attempts": 1}),
    )
    yield client
    client.close()


@pytest.fixture
def queue(sqs: "SQSClient") -> str:
    return sqs.create_queue(QueueName=f"q-{uuid4()}", Attributes={"VisibilityTimeout": "1"})["QueueUrl"]


def refused(call: Callable[..., Any], **arguments: Any) -> str:
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return str(error.value.response["Error"]["Code"])


def test_a_message_goes_round(sqs: "SQSClient", queue: str) -> None:
    attributes: Any = {"kind": {"DataType": "String", "StringValue": "wake"}}
    sent = sqs.send_message(QueueUrl=queue, MessageBody="look at X", MessageGroupId="t1", MessageAttributes=attributes)

    (message,) = sqs.receive_message(
        QueueUrl=queue, MessageSystemAttributeNames=["All"], MessageAttributeNames=["All"], WaitTimeSeconds=1
    )["Messages"]

    assert message["MessageId"] == sent["MessageId"]
    assert message["Body"] == "look at X"
    assert message["MD5OfBody"] == sent["MD5OfMessageBody"]
    assert message["MD5OfMessageAttributes"] == sent["MD5OfMessageAttributes"]
    assert message["Attributes"]["MessageGroupId"] == "t1"
    assert message["Attributes"]["ApproximateReceiveCount"] == "1"
    assert message["MessageAttributes"] == attributes
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    counts = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
    assert counts["ApproximateNumberOfMessages"] == counts["ApproximateNumberOfMessagesNotVisible"] == "0"


def test_a_batch_is_sent_received_and_deleted_entry_by_entry(sqs: "SQSClient", queue: str) -> None:
    entries: Any = [{"Id": str(n), "MessageBody": f"m{n}"} for n in range(9)]
    entries.append({"Id": "bad", "MessageBody": "\x00"})

    sent = sqs.send_message_batch(QueueUrl=queue, Entries=entries)
    got = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    gone: Any = [{"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]} for n, message in enumerate(got)]
    deleted = sqs.delete_message_batch(QueueUrl=queue, Entries=[*gone, {"Id": "x", "ReceiptHandle": "bogus"}][1:])

    assert len(sent["Successful"]) == 9
    assert [(each["Id"], each["Code"]) for each in sent["Failed"]] == [("bad", "InvalidMessageContents")]
    assert [(each["Id"], each["Code"]) for each in deleted["Failed"]] == [("x", "ReceiptHandleIsInvalid")]
    assert len(deleted["Successful"]) == 8


def test_visibility_is_changed_one_by_one_and_in_batches(sqs: "SQSClient", queue: str) -> None:
    sqs.send_message(QueueUrl=queue, MessageBody="a")
    (message,) = sqs.receive_message(QueueUrl=queue, VisibilityTimeout=30)["Messages"]

    sqs.change_message_visibility(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
    (again,) = sqs.receive_message(QueueUrl=queue, VisibilityTimeout=30)["Messages"]
    entry: Any = {"Id": "a", "ReceiptHandle": again["ReceiptHandle"], "VisibilityTimeout": 0}
    changed = sqs.change_message_visibility_batch(QueueUrl=queue, Entries=[entry])

    assert len(changed["Successful"]) == 1
    assert len(sqs.receive_message(QueueUrl=queue)["Messages"]) == 1


def test_dead_letters_are_moved_back(sqs: "SQSClient") -> None:
    dead = sqs.create_queue(QueueName=f"dead-{uuid4()}")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = f'{{"deadLetterTargetArn": "{arn}", "maxReceiveCount": 1}}'
    queue = sqs.create_queue(QueueName=f"q-{uuid4()}", Attributes={"RedrivePolicy": policy})["QueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody="poison")
    sqs.receive_message(QueueUrl=queue, VisibilityTimeout=0)
    assert "Messages" not in sqs.receive_message(QueueUrl=queue)

    sqs.start_message_move_task(SourceArn=arn)

    assert sqs.receive_message(QueueUrl=queue)["Messages"][0]["Body"] == "poison"


def test_a_purged_queue_is_empty(sqs: "SQSClient", queue: str) -> None:
    sqs.send_message(QueueUrl=queue, MessageBody="a")

    sqs.purge_queue(QueueUrl=queue)

    assert "Messages" not in sqs.receive_message(QueueUrl=queue)


def test_making_a_queue_twice_gives_the_same_one_unless_it_differs(sqs: "SQSClient", queue: str) -> None:
    name = queue.rsplit("/", 1)[1]

    assert sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "1"})["QueueUrl"] == queue
    assert sqs.get_queue_url(QueueName=name)["QueueUrl"] == queue
    assert refused(sqs.create_queue, QueueName=name, Attributes={"VisibilityTimeout": "2"}) == "QueueAlreadyExists"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"MessageBody": ""}, "MissingParameter"),
        ({"MessageBody": "x" * (1024 * 1024 + 1)}, "InvalidParameterValue"),
        ({"MessageBody": "é" * (512 * 1024 + 1)}, "InvalidParameterValue"),
        ({"MessageBody": "a\x0bb"}, "InvalidMessageContents"),
        ({"MessageBody": "a", "DelaySeconds": 901}, "InvalidParameterValue"),
        ({"MessageBody": "a", "MessageDeduplicationId": "d"}, "InvalidParameterValue"),
    ],
)
def test_a_message_outside_the_limits_is_refused(
    sqs: "SQSClient", queue: str, arguments: dict[str, Any], code: str
) -> None:
    assert refused(sqs.send_message, QueueUrl=queue, **arguments) == code


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ([], "EmptyBatchRequest"),
        ([{"Id": str(n), "MessageBody": "a"} for n in range(11)], "TooManyEntriesInBatchRequest"),
        ([{"Id": "a", "MessageBody": "a"}, {"Id": "a", "MessageBody": "b"}], "BatchEntryIdsNotDistinct"),
        ([{"Id": "a b", "MessageBody": "a"}], "InvalidBatchEntryId"),
        ([{"Id": str(n), "MessageBody": "x" * 600_000} for n in range(2)], "BatchRequestTooLong"),
    ],
)
def test_a_batch_outside_the_limits_is_refused(sqs: "SQSClient", queue: str, entries: Any, code: str) -> None:
    assert refused(sqs.send_message_batch, QueueUrl=queue, Entries=entries) == CODE + code


def test_unknown_queues_and_receipts_are_refused(sqs: "SQSClient", queue: str) -> None:
    assert refused(sqs.get_queue_url, QueueName="never-made") == CODE + "NonExistentQueue"
    assert refused(sqs.send_message, QueueUrl=queue + "x", MessageBody="a") == CODE + "NonExistentQueue"
    assert refused(sqs.delete_message, QueueUrl=queue, ReceiptHandle="bogus") == "ReceiptHandleIsInvalid"
    assert refused(sqs.receive_message, QueueUrl=queue, MaxNumberOfMessages=11) == "InvalidParameterValue"
    assert refused(sqs.start_message_move_task, SourceArn="arn:aws:sqs:us-east-1:0:q") == "ResourceNotFoundException"


def test_fifo_queues_are_not_offered(sqs: "SQSClient") -> None:
    code = refused(sqs.create_queue, QueueName="q.fifo", Attributes={"FifoQueue": "true"})

    assert code == CODE + "UnsupportedOperation"
